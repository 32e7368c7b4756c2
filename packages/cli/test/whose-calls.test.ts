import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

// Who recorded a call decides how its run is replayed, and a replay that is read wrongly must never be taken for one in which no agent ran.

let scratch: Scratch
const data = (): string => join(scratch.path, "data")
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

const PLAIN = `
const post = (content, path = "/v1/messages") =>
  fetch(process.env.ANTHROPIC_BASE_URL + path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 64, messages: [{ role: "user", content }] }),
  })
`

function plainAgent(work: string): string[] {
  const path = join(scratch.path, "plain.mjs")
  writeFileSync(path, `${PLAIN}${work}\n`)
  return [process.execPath, path]
}

interface ReplayDocument {
  readonly run: string
  readonly certified: boolean
  readonly blocking: readonly { readonly reason: string }[]
}

const documentOf = (stderr: string): ReplayDocument => JSON.parse(stderr.slice(stderr.indexOf("{\n"))) as ReplayDocument

test("[P-10] a command whose calls no dialect knows is replayed as one run, which is the one that a certificate names and diff finds the same", async () => {
  const model = await startModelServer((_, response, { url }) => {
    if (url === "/nope") return void response.writeHead(404).end("no")
    answerMessage(response, { content: [{ type: "text", text: "yes" }] })
  })
  const env = { ANTHROPIC_BASE_URL: model.origin }
  const agent = plainAgent(
    `for (const words of [["a", "/nope"], ["b"], ["c"]]) { const r = await post(...words); console.log(r.status, await r.text()) }`,
  )
  await orangebox(["run", "--quiet", "--data", data(), "--", ...agent], { env })
  await model.close()

  const replayed = await orangebox(["replay", "last", "--data", data(), "--json", "--", ...agent], { env })
  const document = documentOf(replayed.stderr)
  const { total } = jsonOf<{ total: number }>(await orangeboxHere(["runs", "--all", "--json", "--data", data()]))
  expect(total).toBe(2)
  expect(document.blocking).toEqual([])
  expect(document.certified).toBe(true)
  const diff = await orangeboxHere(["diff", "last~1", document.run, "--data", data()])
  expect(diff.exitCode).toBe(0)
})

test("[P-10] an agent without a recorder in the place of one that recorded itself gets no certificate, though its questions are the recorded ones", async () => {
  const model = await startModelServer((_, response) =>
    answerMessage(response, { content: [{ type: "text", text: "two" }] }),
  )
  const own = fileURLToPath(new URL("./children/sdk-agent.mjs", import.meta.url))
  await promisify(execFile)(process.execPath, [own], {
    env: {
      ...process.env,
      ANTHROPIC_BASE_URL: model.origin,
      ORANGEBOX_HOME: data(),
      AGENT_FILE: join(scratch.path, "a.txt"),
    },
  })
  await model.close()

  const other = plainAgent(
    `const first = (await (await post("what shall I write?")).json()).content[0].text; await post("wrote " + first); console.log("all went well")`,
  )
  const replayed = await orangebox(["replay", "last", "--data", data(), "--json", "--", ...other], {
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  })
  expect([replayed.exitCode, documentOf(replayed.stderr).certified]).toEqual([1, false])
})
