import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { startProxy } from "@orangebox/proxy"
import { expect, onTestFinished, test } from "vitest"
import {
  actionsOf,
  DecisionEvent,
  decisionsOf,
  observabilityOf,
  type RecordedRun,
  readRun,
  userRequests,
} from "../src/index.js"
import { answer, request } from "./agent-runs.js"
import { recordInMemory } from "./recorded.js"

/** An agent nobody instrumented: it talks through the proxy to a model that answers as told, the first time with an error if wished. */
async function recordAgent(
  answers: readonly unknown[],
  talk: (ask: (messages: readonly unknown[]) => Promise<void>) => Promise<void>,
  statuses: readonly number[] = [],
): Promise<RecordedRun> {
  let asked = 0
  let told = 0
  const upstream = createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      const status = statuses[asked++] ?? 200
      response.writeHead(status, { "content-type": "application/json" })
      const overloaded = { type: "error", error: { type: "overloaded_error", message: "busy" } }
      response.end(JSON.stringify(status === 200 ? answers[told++] : overloaded))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const { recorder, recorded, sink } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "claude", input: "claude -p fix" })
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const proxy = await startProxy({ recorder, upstreams: { anthropic: origin }, run })
  onTestFinished(() => void upstream.close())
  await talk(async (messages) => {
    const body = JSON.stringify(request(messages))
    const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "test" }
    const reply = await fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", headers, body })
    await reply.text()
    // What follows from an answer is recorded after the client has it.
    await new Promise((resolve) => setTimeout(resolve, 20))
  })
  await proxy.close()
  run.complete()
  expect(sink.events.length).toBeGreaterThan(2)
  return recorded()
}

const EDIT = { file_path: "/repo/src/date.ts", old_string: "28", new_string: "29" }
const TEST = { command: "cd /repo && pytest -q" }
const first = answer("msg_1", "I edit.", { id: "tu_1", name: "Edit", input: EDIT })
const second = answer("msg_2", "", { id: "tu_2", name: "Bash", input: TEST })
const third = answer("msg_3", "Fixed.")
const result = (id: string, content: string, isError = false) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }],
})
const talk = [
  { role: "user", content: "Fix the leap year." },
  { role: "assistant", content: first.content },
  result("tu_1", "The file /repo/src/date.ts has been updated."),
  { role: "assistant", content: second.content },
  result("tu_2", "Exit code 1\n1 failed, 2 passed in 0.1s", true),
]

test("[D-01] an agent seen only on the wire has the same decisions: its completions, and the tools deduced from its traffic", async () => {
  const run = await recordAgent([first, second, third], async (ask) => {
    for (const length of [1, 3, 5]) await ask(talk.slice(0, length))
  })
  const decisions = decisionsOf(run)
  expect(
    decisions.map(({ agent_action: { action_type, inferred_by } }) => [action_type, inferred_by !== null]),
  ).toEqual([
    ["plan", false],
    ["edit", true],
    ["plan", false],
    ["run_tests", true],
    ["message", false],
  ])
  for (const decision of decisions) expect(DecisionEvent.safeParse(decision).error).toBeUndefined()
  expect(decisions[3]).toMatchObject({
    parent_span_id: decisions[2]!.span_id,
    request: { user_request_raw: "Fix the leap year." },
    model_output: { completion_id: "msg_2", tool_calls: [{ id: "tu_2", name: "Bash" }] },
    agent_action: {
      artifacts: [
        { type: "command", content: TEST.command, metadata: { exit_code: 1 } },
        { type: "test_run", metadata: { exit_code: 1, tests: { runner: "pytest", passed: 2, failed: 1 } } },
      ],
    },
  })
  expect(decisions[4]!.prompt_provenance.prompt_bundle.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
  ])
  expect(observabilityOf(run)).toEqual({ failures: [], bypasses: [], unreadCalls: 0, pendingTools: 0 })
})

test("[D-01] the tries of one call are one decision, with what the last one sent and got", async () => {
  const run = await recordAgent(
    [third],
    async (ask) => {
      await ask(talk.slice(0, 1))
      await ask(talk.slice(0, 1))
    },
    [529],
  )
  const { actions, modelCalls } = actionsOf(run)
  expect(modelCalls).toHaveLength(1)
  expect(actions.map(({ type, summary, status }) => [type, summary, status])).toEqual([
    ["message", "Fixed.", "success"],
  ])
})

test("[D-02] a history replaced by a summary on the wire is a summarising transformation, inferred", async () => {
  const run = await recordAgent([first, second, third], async (ask) => {
    await ask(talk.slice(0, 1))
    await ask(talk.slice(0, 3))
    await ask([
      { role: "user", content: "This session is being continued. Summary: the constant was edited." },
      { role: "user", content: "go on" },
    ])
  })
  const kinds = decisionsOf(run).flatMap(({ prompt_provenance }) => prompt_provenance.prompt_bundle.transformations)
  for (const { is_inferred } of kinds) expect(is_inferred).toBe(true)
})

test("[D-07] a tool result on the wire that no answer asked for is a bypass", async () => {
  const run = await recordAgent([first, third], async (ask) => {
    await ask(talk.slice(0, 1))
    await ask([
      ...talk.slice(0, 3),
      { role: "assistant", content: [{ type: "tool_use", id: "tu_x", name: "Bash", input: { command: "id" } }] },
      result("tu_x", "uid=0"),
    ])
  })
  expect(observabilityOf(run).bypasses.map(({ bypass }) => bypass)).toEqual(["assistant_turn", "tool_result"])
})

test("[E-02] what users ask of an agent seen on the wire is read from its turns; [D-08] the command it was started with is no request", async () => {
  const turns = [
    { role: "user", content: "Fix the leap year. Only touch src/**." },
    { role: "assistant", content: third.content },
    { role: "user", content: "Now the docs, and do not push." },
  ]
  const run = await recordAgent([third, third], async (ask) => {
    for (const length of [1, 3]) await ask(turns.slice(0, length))
  })
  expect(userRequests(readRun(run))).toEqual([turns[0]!.content, turns[2]!.content])
})
