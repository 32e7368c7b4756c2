import type { ForeignEvent } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { CodexSession } from "../src/formats/codex.js"

const T0 = Date.UTC(2026, 10, 1)

function told(lines: readonly (readonly [type: string, payload: object])[]) {
  const events: ForeignEvent[] = []
  const problems: unknown[] = []
  const reader = new CodexSession({
    session: "s1",
    emit: (event) => events.push(event),
    problem: (problem) => problems.push(problem),
  })
  for (const [no, [type, payload]] of lines.entries())
    reader.take({ timestamp: new Date(T0 + no * 1000).toISOString(), type, payload }, no + 1)
  reader.finish(T0 + 2 * 3_600_000)
  const of = (type: string) => events.filter((event) => event.type === type)
  return { problems, of }
}

const usage = (input_tokens: number) => ({ input_tokens, output_tokens: 20, total_tokens: input_tokens + 20 })
const item = (type: string, rest: object) => ["response_item", { type, ...rest }] as const

/** As Codex 0.169 writes it; before, there was neither a count per response nor the end of a command. */
const ROLLOUT = [
  ["session_meta", { id: "s1", cli_version: "0.169.0", base_instructions: { text: "You are Codex." } }],
  item("message", { role: "developer", content: [{ type: "input_text", text: "Skills: none." }] }),
  ["turn_context", { model: "gpt-6.1" }],
  item("message", { role: "user", content: [{ type: "input_text", text: "What does the note say?" }] }),
  item("custom_tool_call", { call_id: "call_1", name: "exec", input: "cat note.txt" }),
  ["token_usage_record", { response_id: "resp_1", usage: usage(1000), thread_token_usage: usage(1000) }],
  [
    "event_msg",
    { type: "item_completed", item: { type: "CommandExecution", command: ["cat", "note.txt"], exit_code: 3 } },
  ],
  item("custom_tool_call_output", { call_id: "call_1", output: [{ type: "input_text", text: "Script completed" }] }),
  ["event_msg", { type: "token_count", info: { total_token_usage: usage(1000), last_token_usage: usage(1000) } }],
  item("message", { role: "assistant", content: [{ type: "output_text", text: "hello" }] }),
  ["token_usage_record", { response_id: "resp_2", usage: usage(1100), thread_token_usage: { total_tokens: 2140 } }],
  [
    "event_msg",
    { type: "token_count", info: { total_token_usage: { total_tokens: 2140 }, last_token_usage: usage(1100) } },
  ],
] as const

test("[I-03] a rollout that counts each response has its id and its usage once, its instructions, and the exit codes of commands", () => {
  const { of, problems } = told(ROLLOUT)
  expect(problems).toEqual([])
  expect(of("model_result").map(({ payload }) => payload)).toMatchObject([
    { provider_request_id: "resp_1", token_usage: { prompt: 1000, total: 1020 } },
    { provider_request_id: "resp_2", token_usage: { prompt: 1100, total: 1120 } },
  ])
  const given = of("model_called").map(({ bodies }) => String(bodies![0]!.content))
  expect(given[0]).toContain("You are Codex.")
  expect(given[1]).not.toContain("You are Codex.")
  expect(of("log").map(({ summaries }) => summaries?.["message"])).toEqual(["cat note.txt exited with 3"])
  expect(of("run_completed")).toHaveLength(1)
})

test("[I-03] instructions that a rollout repeats as its first message are told once", () => {
  const repeated = item("message", { role: "developer", content: [{ type: "input_text", text: "You are Codex." }] })
  const { of } = told([ROLLOUT[0], repeated, ...ROLLOUT.slice(1)])
  expect(String(of("model_called")[0]!.bodies![0]!.content).split("You are Codex.")).toHaveLength(2)
})
