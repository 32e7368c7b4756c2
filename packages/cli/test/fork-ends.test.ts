import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, scratchFolder } from "./command.js"
import { startModelServer } from "./model-server.js"

/** Asks twice by a stream, and says what it heard; a refusal is an exit of 4. */
const AGENT = `
const ask = async (content) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 64, stream: true, messages: [{ role: "user", content }] }),
  })
  if (!response.ok) { console.log("refused with " + response.status); process.exit(process.env.AGENT_EXIT ?? 4) }
  const text = await response.text()
  return [...text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece).join("")
}
console.log(await ask("first"))
console.log(await ask("second"))
console.log(await ask("third"))
process.exitCode = Number(process.env.AGENT_EXIT ?? 0)
`
const agent = [process.execPath, "--input-type=module", "-e", AGENT]
const scratch = scratchFolder()
const data = join(scratch.path, "data")
const NOBODY = "http://127.0.0.1:9"
let source: string
afterAll(() => scratch.remove())

const startModel = (word: string) =>
  startModelServer((body, response) => {
    const { messages } = JSON.parse(String(body)) as { messages: { content: string }[] }
    const text = `${word} ${messages.at(-1)!.content}`
    response.writeHead(200, { "content-type": "text/event-stream" })
    const start = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [], usage: {} }
    for (const event of [
      { type: "message_start", message: { ...start, usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })

beforeAll(async () => {
  const model = await startModel("heard")
  const env = { ANTHROPIC_BASE_URL: model.origin }
  await orangebox(["run", "--quiet", "--data", data, "--", ...agent], { env, cwd: scratch.path })
  await model.close()
  source = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data])).runs[0]!
    .run_id
})

interface ForkOptions {
  readonly rule?: object
  readonly env?: Record<string, string>
  readonly command?: readonly string[]
}

async function fork({ rule, env = {}, command = [] }: ForkOptions): Promise<Finished> {
  const profile = join(scratch.path, "profile.json")
  const rules = rule === undefined ? [] : [{ id: "one", select: { kind: "model" }, op: rule }]
  writeFileSync(profile, JSON.stringify({ schema_version: 1, scope: "fork_step_only", rules }))
  const { rows } = jsonOf<{ rows: { type: string; n: number; kind: string }[] }>(
    await orangeboxHere(["show", source, "--json", "--data", data]),
  )
  const at = rows.filter(({ type, kind }) => type === "step" && kind === "model")[1]!.n
  const args = ["fork", source, "--at", `#${at}`, "--no-workspace", "--profile", profile, "--data", data]
  return orangebox([...args, ...(command.length > 0 ? ["--", ...command] : [])], {
    cwd: scratch.path,
    env: { ANTHROPIC_BASE_URL: NOBODY, ANTHROPIC_API_KEY: "k", ...env },
  })
}

test("[P-11] a fork whose upstream is down exits with 1 and says so, with a command and without", async () => {
  const alone = await fork({})
  expect(alone.stderr).toMatch(/NO ANSWER from the upstream: #\d+ claude-x: .*ECONNREFUSED/)
  expect(alone.exitCode).toBe(1)
  const driven = await fork({ command: agent, env: { AGENT_EXIT: "0" } })
  expect(driven.stderr).toMatch(/NO ANSWER from the upstream/)
  expect([driven.exitCode, driven.stdout]).toEqual([1, "heard first\nrefused with 502\n"])
})

test("[P-11] a fork whose agent exits with 1 exits with 1, and with 0 where all went well", async () => {
  const model = await startModel("now")
  const env = { ANTHROPIC_BASE_URL: model.origin }
  const failed = await fork({ command: agent, env: { ...env, AGENT_EXIT: "1" } })
  const fine = await fork({ command: agent, env })
  await model.close()
  expect([failed.exitCode, failed.stdout]).toEqual([1, "heard first\nnow second\nheard third\n"])
  expect([fine.exitCode, fine.stdout]).toEqual([0, "heard first\nnow second\nheard third\n"])
})

test("[P-11] policy: deny says that the call was denied, and not that it was never made; what did not run is not missed", async () => {
  const rule = { type: "policy", mode: "deny" }
  for (const command of [[], agent]) {
    const { stderr, exitCode } = await fork({ rule, command })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/EFFECT_DENIED #\d+ model claude-x/)
    expect(stderr).toContain("the policy denies it")
    expect(stderr).not.toContain("THE FORK WAS NOT REACHED")
    expect(stderr).not.toContain("the forked call was sent")
    expect(stderr).not.toContain("REQ_MISSING")
  }
})

test("[P-11] a fork of a fork says that what the first one changed is not changed again", async () => {
  const model = await startModel("now")
  const upstream = { cwd: scratch.path, env: { ANTHROPIC_BASE_URL: model.origin, ANTHROPIC_API_KEY: "k" } }
  const again = (run: string, ...change: string[]): Promise<Finished> =>
    orangebox(["fork", run, "--at", "#3", "--data", data, ...change], upstream)
  const first = await again(source, "--set", "max_tokens=7")
  const second = await again("last", "--set", "temperature=0")
  await model.close()
  const words = "is a fork itself: what it changed in its requests is not changed again"
  expect([first.exitCode, first.stderr]).toEqual([0, expect.not.stringContaining(words)])
  expect([second.exitCode, second.stderr]).toEqual([0, expect.stringContaining(words)])
})

test.each([
  { type: "fault", fault: "reset" },
  { type: "fault", fault: "reset", after_bytes: 100 },
  { type: "fault", fault: "truncate_stream", after_bytes: 200 },
])("[P-11] the fault $fault works without a command", async (rule) => {
  const { stderr, exitCode } = await fork({ rule })
  expect(stderr).toContain("the forked call was answered by a rule")
  expect(stderr).toContain("simulated 1")
  expect([exitCode, stderr.includes("fetch failed"), stderr.includes("terminated")]).toEqual([0, false, false])
})

test("[P-11] response.replace takes a whole answer, and a streamed call gets it as the provider streams", async () => {
  const response = {
    id: "msg_made",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [{ type: "text", text: "made up" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  }
  const model = await startModel("now")
  const env = { ANTHROPIC_BASE_URL: model.origin }
  const rule = { type: "response.replace", response: { inline: response } }
  const replaced = await fork({ rule, command: agent, env })
  expect(replaced.stdout).toBe("heard first\nmade up\nheard third\n")
  const patch = [{ op: "replace", path: "/content/0/text", value: "patched" }]
  const patched = await fork({
    rule: { type: "response.replace", response: { json_patch: patch } },
    command: agent,
    env,
  })
  expect(patched.stdout).toBe("heard first\npatched\nheard third\n")
  await model.close()
  const wrong = await fork({ rule: { type: "response.replace", response: { inline: { hello: 1 } } }, command: agent })
  expect(wrong.exitCode).toBe(2)
  expect(wrong.stderr).toContain("no answer of its provider")
})
