import type { Event } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { actionsOf, decisionsOf, evaluateRun, observabilityOf, runReport } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const request = { model: "m", messages: [{ role: "user", content: "go" }] }

/** As the collector says it of a run that it found open. */
const crashOf = (last: Event): Event =>
  ({
    ...last,
    event_id: last.event_id.replace(/^.{4}/, "ffff"),
    sequence_no: null,
    event_type: "process_crashed",
    actor_type: "backend",
    payload: { writer_id: "w", pid: 7, evidence: "gone", last_open_step_id: last.step_id },
    artifact_refs: [],
  }) as unknown as Event

describe("[D-08] a model call that failed", () => {
  test.each(["redacted", "hashed"] as const)("has a decision with its error, %s", async (capture) => {
    const { recorder, recorded } = recordInMemory({ capture })
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await run
      .model({ provider: "anthropic", model: "m", request }, () => Promise.reject(new TypeError("fetch failed")))
      .catch(() => {})
    run.fail(new Error("gave up"))
    const [failed, ...others] = decisionsOf(recorded())
    expect(others).toEqual([])
    expect(failed!.agent_action).toMatchObject({ action_type: "other", status: "error", artifacts: [] })
    expect(failed!.model_output).toMatchObject({ output_raw: null, error: { class: "TypeError" } })
    if (capture === "redacted") expect(failed!.model_output.error!.message).toContain("fetch failed")
    expect(failed!.prompt_provenance.model_step_id).toBe(failed!.span_id)
    expect(runReport(recorded()).summary).toMatchObject({ failed_model_calls: 1, decisions: 1 })
    const rules = ["secrets.none", "output.no_emoji", "commands.deny rm"].map((rule) => ({
      id: rule,
      type: "other" as const,
      rule,
    }))
    expect(evaluateRun(actionsOf(recorded()), rules).actions[0]!.results).toEqual([])
  })

  test("and one that its process died in, too; one that is still under way has none yet", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    void run.model({ provider: "anthropic", model: "m", request }, () => new Promise(() => {}))
    await new Promise((resolve) => setImmediate(resolve))
    const { events, bodies } = recorded()
    expect(decisionsOf({ events, bodies })).toEqual([])
    const [died] = decisionsOf({ events: [...events, crashOf(events.at(-1)!)], bodies })
    expect(died!.agent_action.status).toBe("crashed")
    expect(died!.model_output.error).toEqual({ class: "crashed", http_status: null, message: null })
  })
})

describe("[D-08] a tool that its process died in", () => {
  test("is a failure that lasted until the run was heard of last, and no hole in the trail", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    void run.tool({ name: "Bash", args: { command: "npm test" } }, () => new Promise(() => {}))
    await new Promise((resolve) => setTimeout(resolve, 5))
    run.log.info("still here")
    const { events, bodies } = recorded()
    const crashed = { events: [...events, crashOf(events.at(-1)!)], bodies }
    const [decision] = decisionsOf(crashed)
    expect(decision!.agent_action.status).toBe("crashed")
    expect(decision!.agent_action.tool_results).toMatchObject([{ tool_name: "Bash", status: "crashed", result: null }])
    expect(decision!.agent_action.tool_results[0]!.duration_ms).toBeGreaterThan(0)
    expect(runReport(crashed).summary).toMatchObject({ commands: 1, failed_commands: 1, observability_failures: 0 })
    expect(observabilityOf(crashed)).toMatchObject({ failures: [], pendingTools: 0 })
  })
})

describe("[E-08] holes in the trail can fail the gate", () => {
  const RULE = [{ id: "trail", type: "other" as const, rule: "trail.complete" }]
  const judged = (recorded: Parameters<typeof observabilityOf>[0]) =>
    evaluateRun(actionsOf(recorded), RULE, { trail: () => observabilityOf(recorded) }).results[0]!

  test("a tool the model asked for and nobody ran fails trail.complete, with its step", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    const answer = { message: { content: "", tool_calls: [{ id: "t1", name: "Bash", arguments: "{}" }] } }
    await run.model({ provider: "other", model: "m", request }, () => answer)
    run.complete()
    const result = judged(recorded())
    expect(result.status).toBe("fail")
    expect(result.violations[0]!.message).toMatch(/^tool_call_without_result: the model asked for Bash/)
  })

  test("a run without holes passes, and where nobody looked it is unknown", async () => {
    const { recorder, recorded } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "agent", input: "x" })
    await run.model({ provider: "other", model: "m", request }, () => ({ text: "done" }))
    run.complete()
    expect(judged(recorded()).status).toBe("pass")
    expect(evaluateRun(actionsOf(recorded()), RULE).results[0]!.status).toBe("unknown")
  })
})
