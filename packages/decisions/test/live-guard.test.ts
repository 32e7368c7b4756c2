import { BlockedCallError } from "@orangebox/recorder"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { actionsOf, type CallAhead, type CheckedConstraint, evaluateRun, liveGuard } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const RULES: readonly CheckedConstraint[] = [
  { id: "src", type: "scope", rule: "paths.only src/**" },
  { id: "push", type: "safety", rule: 'commands.deny "git push" sudo' },
]

describe("checks at the tool boundary", () => {
  test("[E-03] a call that breaks a rule does not run, and the record says who stopped it and why", async () => {
    const { recorder, sink, recorded } = recordInMemory({ guard: liveGuard(RULES) })
    const run = recorder.startRun({ entrypoint: "x" })
    let ran = 0
    const edit = (path: string) =>
      run.tool({ name: "Edit", args: { file_path: path, old_string: "a", new_string: "b" } }, () => ++ran)
    await edit("src/a.ts")
    await expect(edit("infra/ci.yml")).rejects.toThrow(BlockedCallError)
    await run.tool({ name: "Bash", args: { command: "$WHAT now" } }, () => ++ran)
    run.complete()

    expect(ran).toBe(2)
    const said = sink.events.filter(({ event_type }) => event_type === "safety_decision").map(({ payload }) => payload)
    expect(said).toMatchObject([
      { policy_name: "orangebox.checks", decision: "block" },
      { policy_name: "orangebox.checks", decision: "escalate" },
    ])
    const reason = JSON.parse(sink.textOf((said[0] as { reason_ref: string }).reason_ref)!) as { violations: object[] }
    expect(reason.violations).toMatchObject([{ id: "constraint.src", severity: "fail" }])
    const later = evaluateRun(actionsOf(recorded()), RULES)
    expect(later.results.map(({ status }) => status)).toEqual(["fail", "unknown"])
  })

  test("[E-03] what the guard says of a call is what a check says of it later, whatever the call", async () => {
    const word = fc.constantFrom(
      "src/a.ts",
      "infra/x",
      "src/../infra/y",
      "git push",
      "sudo ls",
      "$X",
      "echo hi > src/z",
      "rm -rf .",
    )
    const call = fc.oneof(
      fc.record({
        name: fc.constant("Bash"),
        args: fc.record({ command: fc.array(word).map((words) => words.join(" && ")) }),
      }),
      fc.record({
        name: fc.constant("Edit"),
        args: fc.record({ file_path: fc.oneof(word, fc.string()), old_string: fc.string(), new_string: fc.string() }),
      }),
      fc.record({ name: fc.string({ minLength: 1 }), args: fc.jsonValue() }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 6 }), async (calls) => {
        const live = new Map<string, unknown>()
        const judge = liveGuard(
          RULES,
          {},
          { onDecision: (ahead, { evaluation }) => live.set(ahead.step.id, evaluation.evaluation) },
        )
        // Only listening: a call that is blocked is on record too, but one that runs is the harder case.
        const guard = (ahead: CallAhead) => void judge(ahead)
        const { recorder, recorded } = recordInMemory({ guard, capture: "full" })
        const run = recorder.startRun({ entrypoint: "x" })
        for (const { name, args } of calls) await run.tool({ name, args }, () => "done")
        run.complete()
        const later = evaluateRun(actionsOf(recorded()), RULES)
        const tools = later.actions.filter(({ stepId }) => live.has(stepId))
        expect(tools).toHaveLength(calls.length)
        for (const { stepId, evaluation } of tools) expect(live.get(stepId)).toEqual(evaluation)
      }),
      { numRuns: 60 },
    )
  })
})
