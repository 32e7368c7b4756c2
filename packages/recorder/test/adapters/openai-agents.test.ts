import { EventEmitter } from "node:events"
import { describe, expect, test } from "vitest"
import { recordOpenAiAgents } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"

/** Emits what a `Runner` emits. The real one is in `packages/cli/test/agents`. */
function started() {
  const recording = recordInMemory({ strict: true })
  const run = recording.recorder.startRun({ entrypoint: "agent" })
  const recorded = recordOpenAiAgents(run)
  const runner = new EventEmitter()
  recorded.watch(runner)
  return { ...recording, run, recorded, runner }
}

const triage = { name: "triage" }
const researcher = { name: "researcher" }
const lookUp = { name: "look_up" }
const asked = (callId: string) => ({ toolCall: { callId, arguments: '{"word":"leap"}' } })

describe("[K-05] the hooks of the OpenAI Agents SDK", () => {
  test("tell agents by name, handing over as the tool it is, and tools that run side by side", async () => {
    const { run, recorded, runner, sink, eventsOf } = started()
    await recorded.run(async () => {
      runner.emit("agent_start", {}, triage, [])
      runner.emit("agent_handoff", {}, triage, researcher)
      runner.emit("agent_start", {}, researcher, [
        { type: "function_call", callId: "c0", name: "transfer_to_researcher", arguments: "{}" },
        { type: "function_call_result", callId: "c0", name: "transfer_to_researcher", output: { text: "over" } },
      ])
      for (const id of ["c1", "c2"]) runner.emit("agent_tool_start", {}, researcher, lookUp, asked(id))
      for (const id of ["c2", "c1"]) runner.emit("agent_tool_end", {}, researcher, lookUp, `of ${id}`, asked(id))
      runner.emit("agent_end", {}, researcher, "29 days")
      return { inputGuardrailResults: [{ guardrail: { name: "polite" }, output: { tripwireTriggered: false } }] }
    })
    run.complete()

    const agents = eventsOf("step_started")
    expect(agents.map(({ payload }) => [payload.kind, payload.name])).toEqual([
      ["agent", "triage"],
      ["agent", "researcher"],
    ])
    const agentOf = (id: string | null) => agents.find(({ step_id }) => step_id === id)?.payload.name
    expect(
      eventsOf("tool_called").map(({ parent_step_id, payload }) => [agentOf(parent_step_id), payload.tool_call_id]),
    ).toEqual([
      ["triage", "c0"],
      ["researcher", "c1"],
      ["researcher", "c2"],
    ])
    expect(eventsOf("tool_result").map(({ payload }) => payload.tool_call_id)).toEqual(["c0", "c2", "c1"])
    expect(eventsOf("safety_decision")[0]!.payload).toMatchObject({
      policy_name: "guardrail polite",
      decision: "allow",
    })
    expect(contractProblems(sink)).toEqual([])
  })

  test("a guardrail that stops the run, and calls that wait for approval, are decisions; the error is still thrown", async () => {
    const { run, recorded, runner, sink, eventsOf } = started()
    const tripped = Object.assign(new Error("tripwire"), {
      result: { guardrail: { name: "no_homework" }, output: { tripwireTriggered: true, outputInfo: "homework" } },
    })
    await expect(
      recorded.run(async () => {
        runner.emit("agent_start", {}, triage, [])
        throw tripped
      }),
    ).rejects.toBe(tripped)
    await recorded.run(async () => ({ interruptions: [{ rawItem: { name: "delete_year", callId: "c9" } }] }))
    run.complete()
    expect(eventsOf("safety_decision").map(({ payload }) => [payload.policy_name, payload.decision])).toEqual([
      ["guardrail no_homework", "block"],
      ["approval", "escalate"],
    ])
    expect(eventsOf("step_ended")[0]!.payload.status).toBe("error")
    expect(contractProblems(sink)).toEqual([])
  })
})
