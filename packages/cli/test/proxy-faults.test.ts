import { writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
  writeFileSync(join(scratch.path, "orangebox.config.json"), JSON.stringify({ profile: "audit" }))
})
afterEach(() => scratch.remove())

const TOOLS = [{ name: "read_file", description: "reads", input_schema: { type: "object" } }]

/** Asks as often as there are histories, one after the other, and leaves with the code it was given. */
const AGENT = `
const [code, ...bodies] = process.argv.slice(1)
for (const body of bodies) {
  await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST", headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" }, body,
  }).then((response) => response.text()).catch(() => {})
}
process.exit(Number(code))
`

const request = (messages: readonly object[], tools: readonly object[] = TOOLS): string =>
  JSON.stringify({ model: "claude-x", max_tokens: 9, ...(tools.length > 0 ? { tools } : {}), messages })

interface Snapshots {
  readonly snapshots: readonly { kind: string; trigger: string; n: number; hash: string; size_bytes: number }[]
}

/** What a command left that went through `orangebox run` under audit, before a model that behaves so. */
async function faultsOf(
  behave: (response: ServerResponse, body: string) => void,
  code: number,
  bodies: readonly string[],
) {
  const upstream = await startModelServer((body, response) => behave(response, body.toString()))
  onTestFinished(() => upstream.close())
  const data = join(scratch.path, ".orangebox")
  const command = [process.execPath, "--input-type=module", "-e", AGENT, String(code), ...bodies]
  const options = { cwd: scratch.path, env: { ANTHROPIC_BASE_URL: upstream.origin } }
  const ran = await orangebox(["run", "--data", data, "--", ...command], options)
  expect(ran.exitCode).toBe(code)
  const { snapshots } = jsonOf<Snapshots>(await orangebox(["snapshot", "last", "--json", "--data", data]))
  const shown = (await orangebox(["show", "last", "--all", "--data", data])).stdout
  const verified = await orangebox(["verify", "last", "--data", data])
  expect(verified.stdout).not.toContain("✗")
  return { snapshots, shown }
}

const QUESTION = { role: "user", content: "Why does the date test fail?" }

const refuse = (response: ServerResponse): void => {
  response.writeHead(500, { "content-type": "application/json" })
  response.end('{"type":"error","error":{"type":"api_error","message":"broken"}}')
}

describe("[F-08] orangebox run under audit stores what a failed call was asked", () => {
  test.each([0, 3])("an upstream that answers 500, the command exits %i", async (code) => {
    const body = request([QUESTION])
    const { snapshots, shown } = await faultsOf(refuse, code, [body])
    expect(snapshots.filter(({ kind }) => kind === "prompt").map(({ size_bytes }) => size_bytes)).toContain(body.length)
    expect(snapshots.every(({ trigger }) => trigger === "system_error")).toBe(true)
    expect(shown).toMatch(/#2 .*turn .*✗ .*HTTP 500/)
    expect(shown).toContain("fault system_error")
  })

  test("a call without tools has no turn: the fault is the run's", async () => {
    const body = request([QUESTION], [])
    const { snapshots } = await faultsOf(refuse, 0, [body])
    expect(snapshots.map(({ size_bytes }) => size_bytes)).toContain(body.length)
  })

  test("an answer that breaks off in the middle", async () => {
    const body = request([QUESTION])
    const { snapshots, shown } = await faultsOf(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write('event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n')
        setTimeout(() => response.destroy(), 50)
      },
      0,
      [body],
    )
    expect(snapshots.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["prompt", "answer"]))
    expect(shown).toMatch(/#2 .*turn .*✗/)
  })

  test("a retry that succeeds is no fault; a tool that the agent reports as failed is one, with what it said", async () => {
    let asked = 0
    const recovers = (response: ServerResponse): void => {
      if (++asked === 1) refuse(response)
      else answerMessage(response, { content: [{ type: "text", text: "fine" }] })
    }
    const body = request([QUESTION])
    expect((await faultsOf(recovers, 0, [body, body])).snapshots).toEqual([])

    const use = { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "date.ts" } }
    const answers = (response: ServerResponse, sent: string): void =>
      sent.includes("tool_result")
        ? answerMessage(response, { content: [{ type: "text", text: "It is not there." }] })
        : answerMessage(response, { content: [use], stop_reason: "tool_use" })
    const failed = { type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: "ENOENT: no such file" }
    const second = request([QUESTION, { role: "assistant", content: [use] }, { role: "user", content: [failed] }])
    const { snapshots } = await faultsOf(answers, 0, [body, second])
    expect(snapshots.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["prompt", "tool_output"]))
    expect(snapshots[0]!.trigger).toBe("tool_failure")
  })
})
