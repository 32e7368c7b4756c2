import { canonicalJson, SERIALISED_BODY, TOLD_MESSAGES, textHash } from "@orangebox/contract"
import type { ForeignEvent } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { ClaudeCodeSession } from "../src/formats/claude-code.js"

const T0 = Date.UTC(2026, 10, 1)
const at = (second: number): string => new Date(T0 + second * 1000).toISOString()
const hashOf = (message: object): string => textHash(canonicalJson(message)).slice("sha256:".length)

const SHAPE = {
  system: [{ type: "text", text: "You fix dates." }],
  tools: [{ name: "Bash", description: "runs a command", input_schema: { type: "object" } }],
}
const FIRST = { role: "user", content: [{ type: "text", text: "Fix the date test" }] }
const ANSWER = {
  role: "assistant",
  content: [
    { type: "text", text: "I look." },
    { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "npm test" } },
  ],
}
const RESULT = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok <reminder>" }] }

const line = (type: string, second: number, rest: object) => ({
  ...{ type, uuid: `${type}-${second}`, timestamp: at(second), sessionId: "s1", version: "2.1.326", cwd: "/w" },
  ...rest,
})
const blob = (message: object, hash = hashOf(message)) => ({ type: "api-request-blob", hash, message })
const request = (second: number, id: string, rest: object) => ({
  ...{ type: "api-request", id, timestamp: at(second), shapeHash: "shape-1", querySource: "sdk" },
  params: { model: "claude-sonnet-4-5", max_tokens: 32_000, betas: ["a-beta"] },
  ...rest,
})
const said = (id: string, second: number, block: object) =>
  line("assistant", second, {
    message: {
      id,
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      content: [block],
      usage: { output_tokens: 3 },
    },
  })

const session = (resultBlob: object) => [
  line("user", 0, { message: FIRST }),
  { type: "api-request-shape", shapeHash: "shape-1", shape: SHAPE },
  blob(FIRST),
  request(1, "r1", { keep: 0, tail: [hashOf(FIRST)], cacheControl: [mark("system", 0)] }),
  said("msg_1", 3, ANSWER.content[0]!),
  said("msg_1", 4, ANSWER.content[1]!),
  line("user", 5, {
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
  }),
  resultBlob,
  // A question the program asks in between, of another model: its answer is not in the record.
  request(6, "side", { params: { model: "claude-haiku-4-5" }, keep: 0, tail: [hashOf(FIRST)] }),
  request(6, "r2", {
    base: "r1",
    keep: 1,
    tail: [hashOf(ANSWER), hashOf(RESULT)],
    cacheControl: [mark("messages", 2, "content", 0)],
  }),
  request(6, "side 2", { params: { model: "claude-haiku-4-5" }, keep: 0, tail: [hashOf(FIRST)] }),
  said("msg_2", 8, { type: "text", text: "It passes." }),
  line("system", 9, { subtype: "stop_hook_summary" }),
]
const mark = (...path: (string | number)[]) => ({ path, value: { type: "ephemeral" } })

function told(lines: readonly object[]) {
  const events: ForeignEvent[] = []
  const problems: unknown[] = []
  const reader = new ClaudeCodeSession({
    session: "s1",
    emit: (event) => events.push(event),
    problem: (problem) => problems.push(problem),
  })
  for (const [no, one] of lines.entries()) reader.take(one, no + 1)
  reader.finish(T0 + 20_000)
  const calls = events.filter(({ type }) => type === "model_called")
  const requestOf = (no: number) => {
    const body = calls[no]!.bodies!.find(({ field }) => field === "request")!
    return { mimeType: body.mimeType, value: JSON.parse(Buffer.from(body.content).toString("utf8")) }
  }
  return { events, problems, calls, requestOf }
}

describe("[I-03] requests that a transcript holds in pieces", () => {
  test("are put together again: system prompt, tools, messages, settings, cache marks, and when they left", () => {
    const { calls, requestOf, problems, events } = told(session(blob(RESULT)))
    expect(problems).toEqual([])
    expect(requestOf(0)).toEqual({
      mimeType: SERIALISED_BODY,
      value: {
        ...{ model: "claude-sonnet-4-5", max_tokens: 32_000, tools: SHAPE.tools, messages: [FIRST] },
        system: [{ ...SHAPE.system[0], cache_control: { type: "ephemeral" } }],
      },
    })
    const marked = { ...RESULT.content[0], cache_control: { type: "ephemeral" } }
    expect(requestOf(1).value).toMatchObject({
      system: SHAPE.system,
      messages: [FIRST, ANSWER, { role: "user", content: [marked] }],
    })
    expect(calls.map(({ at: { wallMs } }) => wallMs - T0)).toEqual([1000, 6000])
    expect(calls[0]!.payload).toMatchObject({ max_tokens: 32_000 })
    expect(events.filter(({ type }) => type === "prompt_assembled")).toHaveLength(2)
  })

  test("are not made up: where a piece does not have its hash, the call is told by its new messages", () => {
    const forged = blob({ role: "user", content: "something else" }, hashOf(RESULT))
    const { requestOf } = told(session(forged))
    expect(requestOf(0).mimeType).toBe(SERIALISED_BODY)
    expect(requestOf(1)).toMatchObject({ mimeType: TOLD_MESSAGES, value: { new_messages: [{ role: "user" }] } })
  })

  test("the last answer of a turn is told when the turn is over, not only when another begins", () => {
    const { events } = told(session(blob(RESULT)))
    const answers = events.filter(({ type }) => type === "model_result")
    expect(answers.map(({ summaries }) => summaries?.["output_summary"])).toEqual(["I look.", "It passes."])
  })
})

test("[I-03] what hooks did, and what was queued while the agent worked, stands in the run; other attachments go to the model", () => {
  const attached = (second: number, attachment: object) => line("attachment", second, { attachment })
  const { events, requestOf } = told([
    line("user", 0, { message: FIRST }),
    attached(1, { type: "hook_success", hookName: "SessionStart:startup", content: "read the rules" }),
    attached(2, { type: "todo_reminder", content: "2 left" }),
    attached(3, { type: "queued_command", prompt: "and hurry" }),
    said("msg_1", 4, { type: "text", text: "ok" }),
    line("system", 5, { subtype: "turn_duration" }),
  ])
  const logs = events.filter(({ type }) => type === "log").map(({ summaries }) => summaries?.["message"])
  expect(logs).toEqual(["hook_success: read the rules", "queued_command: and hurry", "turn_duration"])
  expect(JSON.stringify(requestOf(0).value)).toContain("2 left")
})
