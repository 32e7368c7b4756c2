import { describe, expect, test } from "vitest"
import { type ClaudeHookEvent, Recorder, recordClaudeAgent } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"

/** Fires hooks as the SDK does: each callback of an event with the same input. The real SDK is in `packages/cli/test/agents`. */
function started(own: Parameters<ReturnType<typeof recordClaudeAgent>["hooks"]>[0] = {}) {
  const recording = recordInMemory({ strict: true })
  const run = recording.recorder.startRun({ entrypoint: "agent" })
  const recorded = recordClaudeAgent(run)
  const hooks = recorded.hooks(own)
  const fire = async (event: ClaudeHookEvent, input: Record<string, unknown>): Promise<unknown[]> => {
    const id = input["tool_use_id"] as string | undefined
    const answers: unknown[] = []
    for (const { hooks: callbacks } of hooks[event] ?? [])
      for (const hook of callbacks)
        answers.push(await hook({ session_id: "s-1", hook_event_name: event, ...input }, id, {}))
    return answers
  }
  return { ...recording, run, recorded, fire }
}

const uses = (id: string, name: string, input: object, rest: object = {}) => ({
  ...{ tool_use_id: id, tool_name: name, tool_input: input },
  ...rest,
})

describe("[K-05] the hooks of the Claude Agent SDK", () => {
  test("tell tools with their results, and a sub-agent by its name as a run below the call that started it", async () => {
    const { run, recorded, fire, sink, eventsOf } = started()
    await fire("UserPromptSubmit", { prompt: "How many files?" })
    await fire("PreToolUse", uses("t1", "Agent", { subagent_type: "counter", prompt: "Count." }))
    await fire("SubagentStart", { agent_id: "a1", agent_type: "counter" })
    const inside = { agent_id: "a1", agent_type: "counter" }
    await fire("PreToolUse", uses("t2", "Bash", { command: "ls" }, inside))
    await fire("PostToolUse", uses("t2", "Bash", { command: "ls" }, { ...inside, tool_response: { stdout: "a" } }))
    await fire("SubagentStop", { ...inside, last_assistant_message: "one" })
    await fire("PostToolUse", uses("t1", "Agent", {}, { tool_response: { agentId: "a1" } }))
    recorded.end()
    run.complete()

    const [outer, inner] = eventsOf("tool_called")
    const helper = eventsOf("run_started")[1]!
    expect(helper.payload.entrypoint_name).toBe("counter")
    expect(helper.links).toEqual([expect.objectContaining({ kind: "spawned_by", step_id: outer!.step_id })])
    expect([outer!.run_id, inner!.run_id]).toEqual([run.runId, helper.run_id])
    expect(eventsOf("run_completed").map(({ run_id }) => run_id)).toEqual([helper.run_id, run.runId])
    expect(contractProblems(sink)).toEqual([])
  })

  test("name no call where two could have started a sub-agent; its result does", async () => {
    const { run, recorded, fire, sink, eventsOf } = started()
    for (const id of ["t1", "t2"]) await fire("PreToolUse", uses(id, "Agent", { subagent_type: "counter" }))
    await fire("SubagentStart", { agent_id: "a1", agent_type: "counter" })
    await fire("PostToolUse", uses("t2", "Agent", {}, { tool_response: { agentId: "a1" } }))
    await fire("PostToolUse", uses("t1", "Agent", {}, { tool_response: "nothing" }))
    recorded.end()
    run.complete()

    const helper = eventsOf("run_started")[1]!
    expect(helper.links?.map(({ step_id }) => step_id)).toEqual([eventsOf("run_started")[0]!.step_id])
    const second = eventsOf("tool_called")[1]!
    const link = eventsOf("link_added").find(({ step_id }) => step_id === second.step_id)!
    expect(JSON.stringify(link.payload)).toContain(helper.run_id)
    expect(eventsOf("run_failed").map(({ run_id }) => run_id)).toEqual([helper.run_id])
    expect(contractProblems(sink)).toEqual([])
  })

  test("tell who refused a tool: the application, a rule, a hook of its own; and what a hook put before the model", async () => {
    const { run, recorded, fire, sink, eventsOf } = started({
      PreToolUse: [{ matcher: "Bash", hooks: [async () => ({ decision: "block", reason: "no shell" })] }],
      Notification: [{ hooks: [async () => ({ hookSpecificOutput: { additionalContext: "be brief" } })] }],
    })
    const decide = recorded.canUseTool(async (name: string, _input: object, _options: object) => ({
      behavior: name === "Write" ? "deny" : "allow",
    }))
    expect(await fire("PreToolUse", uses("t1", "Bash", {}))).toEqual([{}, { decision: "block", reason: "no shell" }])
    expect(await decide("Write", {}, { toolUseID: "t1" })).toEqual({ behavior: "deny" })
    await fire("PreToolUse", uses("t2", "Read", {}))
    await fire("PostToolBatch", { tool_calls: [{ tool_use_id: "t2", tool_response: "denied by a rule" }] })
    await fire("Notification", { message: "waiting" })
    run.complete()

    // The SDK asks only the hooks whose matcher fits; here both calls were given to it.
    expect(eventsOf("safety_decision").map(({ payload }) => [payload.policy_name, payload.decision])).toEqual([
      ["hook PreToolUse", "block"],
      ["canUseTool", "block"],
      ["hook PreToolUse", "block"],
    ])
    expect(eventsOf("tool_result").map(({ payload }) => [payload.status, payload.error_class])).toEqual([
      ["error", "PermissionDenied"],
      ["error", "ToolError"],
    ])
    expect(eventsOf("log").map(({ payload }) => payload.message)).toEqual([
      "Notification: waiting",
      "hook Notification gave additionalContext",
    ])
    expect(contractProblems(sink)).toEqual([])
  })

  test("a hook of the application that throws still throws, and is on record", async () => {
    const { run, fire, eventsOf } = started({
      Stop: [{ hooks: [() => Promise.reject(new Error("hook is broken"))] }],
    })
    await expect(fire("Stop", {})).rejects.toThrow("hook is broken")
    run.complete()
    expect(eventsOf("log").map(({ payload }) => payload.message)).toEqual(["Stop", "hook Stop failed"])
  })

  test("say nothing and change nothing with recording off", async () => {
    const run = Recorder.open({ app: "off", enabled: false }).startRun({ entrypoint: "agent" })
    const recorded = recordClaudeAgent(run)
    for (const hook of recorded.hooks().PreToolUse!.flatMap(({ hooks }) => hooks))
      expect(await hook({ hook_event_name: "PreToolUse", ...uses("t1", "Bash", {}) }, "t1", {})).toEqual({})
    recorded.end()
  })
})
