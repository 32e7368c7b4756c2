// An agent and its model, to try replay and fork on without a key.
//
//   node examples/what-if.mjs model [PORT]   the model: it answers on 127.0.0.1:8787, and never twice alike
//   node examples/what-if.mjs agent          the agent: it asks the model that ANTHROPIC_BASE_URL names two things
//   node examples/what-if.mjs                records the agent, replays it without the model, forks it, and checks what came of it
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const [role, port] = process.argv.slice(2)
if (role === "model") await serveModel(Number(port ?? 8787))
else if (role === "agent") await beAgent()
else await verify()

async function serveModel(port) {
  let answered = 0
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const piece of request) body += piece
    const { model, messages } = JSON.parse(body)
    const text = `${model} picks ${["teal", "amber", "plum"][answered++ % 3]} for "${messages.at(-1).content}"`
    response.writeHead(200, { "content-type": "application/json" })
    response.end(
      JSON.stringify({
        ...{ id: `msg_${answered}`, type: "message", role: "assistant", model, content: [{ type: "text", text }] },
        ...{ stop_reason: "end_turn", usage: { input_tokens: 9, output_tokens: 7 } },
      }),
    )
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return server
}

async function beAgent() {
  for (const content of ["the door", "the roof"]) {
    const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": process.env.ANTHROPIC_API_KEY ?? "" },
      body: JSON.stringify({ model: "claude-x", max_tokens: 64, messages: [{ role: "user", content }] }),
    })
    if (!response.ok) throw new Error(`${response.status}`)
    console.log((await response.json()).content[0].text)
  }
}

async function verify() {
  const self = fileURLToPath(import.meta.url)
  const bin = fileURLToPath(new URL("../packages/cli/bin/orangebox.js", import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), "orangebox-what-if-"))
  const server = await serveModel(0)
  const env = {
    ...process.env,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    ORANGEBOX_HOME: folder,
  }
  const orangebox = async (...args) => {
    const child = spawn(process.execPath, [bin, ...args, "--", process.execPath, self, "agent"], { cwd: folder, env })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => (stdout += data))
    child.stderr.on("data", (data) => (stderr += data))
    const [exitCode] = await once(child, "close")
    assert.equal(exitCode, 0, stderr)
    return { stdout, stderr }
  }
  try {
    const recorded = await orangebox("run")
    const replayed = await orangebox("replay", "last")
    assert.equal(replayed.stdout, recorded.stdout, "a replay hears what was heard then")
    assert.match(replayed.stderr, /certificate: issued/)
    const forked = await orangebox("fork", "last~1", "--at", "#3", "--set", "model=claude-y")
    const [door, roof] = forked.stdout.split("\n")
    assert.equal(door, recorded.stdout.split("\n")[0], "what came before the fork is as it was")
    assert.match(roof, /^claude-y picks plum/)
    console.log(`${recorded.stdout}and forked at the second call: ${roof}`)
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
