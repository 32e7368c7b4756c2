import type { Event } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { foldRun, RunFold } from "../src/index.js"

const ID = (n: number): string => n.toString(16).padStart(16, "0")
const [ROOT, PLAN, CALL, TRY_1, TRY_2, TOOL] = [ID(1), ID(2), ID(3), ID(4), ID(5), ID(6)]

let made = 0
function event(
  type: string,
  step: string | null,
  parent: string | null,
  payload: object = {},
  more: object = {},
): Event {
  made++
  return {
    schema_version: "1.1.0",
    event_id: `00000000-0000-7000-8000-${made.toString(16).padStart(12, "0")}`,
    trace_id: "a".repeat(32),
    run_id: "run_1",
    step_id: step,
    parent_step_id: parent,
    sequence_no: null,
    event_type: type,
    timestamp_utc: "2026-01-31T12:00:00.000Z",
    mono_us: made * 1000,
    actor_type: "sdk",
    determinism_mode: "live",
    artifact_refs: [],
    redaction_status: "not_required",
    source: "test",
    payload,
    ...more,
  } as unknown as Event
}

const USAGE = { prompt: 10, completion: 2, total: 12 }
const ended = (status: string, more: object = {}) => ({ status, latency_ms: 5, ...more })

/** A plan with one model call that took two tries, then a tool. */
function run(): Event[] {
  return [
    event("run_started", ROOT, null, { app_id: "fixer", entrypoint_name: "fix", input_summary: "fix it" }),
    event("step_started", PLAN, ROOT, { name: "plan" }),
    event("model_called", CALL, PLAN, { provider: "anthropic", model_id: "claude" }),
    event("model_called", TRY_1, CALL, { provider: "anthropic", model_id: "claude" }, { attempt_no: 1 }),
    event("model_result", TRY_1, CALL, ended("error", { error_class: "Overloaded" }), { attempt_no: 1 }),
    event("model_called", TRY_2, CALL, { provider: "anthropic", model_id: "claude" }, { attempt_no: 2 }),
    event("model_result", TRY_2, CALL, ended("success", { token_usage: USAGE }), { attempt_no: 2 }),
    event("model_result", CALL, PLAN, ended("success", { token_usage: USAGE, model_id: "claude-1" })),
    event("step_ended", PLAN, ROOT, ended("success")),
    event("tool_called", TOOL, ROOT, { tool_name: "bash" }, { links: [{ kind: "follows", step_id: CALL }] }),
    event("tool_result", TOOL, ROOT, ended("timeout", { tool_name: "bash" })),
    event("run_completed", ROOT, null, { status: "success" }),
  ].map((made, sequence_no) => ({ ...made, sequence_no }))
}

const steps = (events: readonly Event[]) =>
  foldRun(events).steps.map(({ no, id, parent, kind, status }) => [no, id, parent?.no, kind, status])

describe("[Q-08] one fold of events into a run", () => {
  test("[Q-08] steps are numbered in the order in which they are first heard of, and a call counts once however often it was tried", () => {
    const { steps: found, totals, status, facts } = foldRun(run())
    expect(steps(run())).toEqual([
      [1, ROOT, undefined, "run", "success"],
      [2, PLAN, 1, "step", "success"],
      [3, CALL, 2, "model", "success"],
      [4, TRY_1, 3, "model", "error"],
      [5, TRY_2, 3, "model", "success"],
      [6, TOOL, 1, "tool", "timeout"],
    ])
    expect(found[2]).toMatchObject({ name: "claude-1", attemptNo: undefined })
    expect(found[2]!.attempts.map(({ no, attemptNo }) => [no, attemptNo])).toEqual([
      [4, 1],
      [5, 2],
    ])
    expect(found[2]!.linkedFrom).toEqual([{ no: 6, link: { kind: "follows", step_id: CALL } }])
    expect(totals).toMatchObject({ events: 12, modelCalls: 1, toolCalls: 1, errors: 1, failedAttempts: 1 })
    expect(totals.tokens).toMatchObject({ input: 10, output: 2, callsWithoutUsage: 0 })
    expect([status, facts.app, facts.input]).toEqual(["completed", "fixer", "fix it"])
  })

  test("[Q-08] whichever single event is lost, every step that is still heard of keeps its number and its parent", () => {
    const whole = new Map(foldRun(run()).steps.map(({ id, no, parent }) => [id, [no, parent?.no]]))
    for (const lost of run().keys()) {
      const left = foldRun(run().filter((_, index) => index !== lost))
      for (const { id, no, parent } of left.steps)
        expect([lost, id, no, parent?.no]).toEqual([lost, id, ...whole.get(id)!])
      expect(left.totals.modelCalls).toBe(1)
      expect(left.totals.lost).toBe(lost === 11 ? 0 : 1)
    }
  })

  test("[Q-08] a number never changes as events are added, whatever is missing before them", () => {
    for (const first of run().keys()) {
      const events = run().slice(first)
      const last = foldRun(events)
      for (const upTo of events.keys()) {
        for (const { id, no } of foldRun(events.slice(0, upTo)).steps) {
          if (id !== "") expect(last.stepOf(id)?.no).toBe(no)
        }
      }
    }
  })

  test("[Q-08] taken one by one, forgetting what is complete, it comes to the same as all at once", () => {
    const seen = new Map<string, unknown>()
    const known = new Map<
      string,
      Parameters<NonNullable<ConstructorParameters<typeof RunFold<number>>[0]>["onChange"] & object>[0]
    >()
    const fold = new RunFold<number>({
      onChange: (step) => {
        seen.set(step.id, [step.no, step.id, step.parent?.no, step.kind, step.status])
        known.set(step.id, step)
      },
      lookUp: (id) => known.get(id),
    })
    for (const one of run()) {
      fold.take(one, one.sequence_no!, 0)
      fold.steps.forgetComplete(0)
    }
    expect([...seen.values()]).toEqual(steps(run()))
  })

  test("[Q-08] of two events with one id the first counts, of two with one sequence number both do", () => {
    const events = run()
    const again = { ...events[10]!, payload: ended("success") } as Event
    expect(steps([...events, again])).toEqual(steps(events))
    const other = { ...event("step_started", ID(9), ROOT, { name: "late" }), sequence_no: 10 } as Event
    const both = foldRun([...events, other])
    expect(both.stepOf(ID(9))).toMatchObject({ no: 7, parent: { no: 1 } })
    expect(both.totals.events).toBe(13)
  })

  test("[Q-08] the order in which events arrive does not matter", () => {
    expect(steps(run().reverse())).toEqual(steps(run()))
  })

  test("[Q-08] a parent that is named and never recorded is a step of unknown kind; an attempt says that its parent is a model call", () => {
    const events = run().filter(({ step_id }) => step_id !== CALL && step_id !== PLAN)
    expect(steps(events)).toEqual([
      [1, ROOT, undefined, "run", "success"],
      [2, CALL, 1, "model", "open"],
      [3, TRY_1, 2, "model", "error"],
      [4, TRY_2, 2, "model", "success"],
      [5, TOOL, 1, "tool", "timeout"],
    ])
    const inside = [run()[0]!, { ...event("log", ID(8), ID(7)), sequence_no: 1 } as Event]
    expect(steps(inside)).toEqual([
      [1, ROOT, undefined, "run", "open"],
      [2, ID(7), 1, "unknown", "open"],
      [3, ID(8), 2, "unknown", "open"],
    ])
  })

  test("[Q-08] an end that does not say how is partial, and one that closes another kind of step closes nothing", () => {
    const events = run()
    const damaged = events.map((one) => (one.event_type === "tool_result" ? ({ ...one, payload: null } as never) : one))
    expect(foldRun(damaged).steps[5]).toMatchObject({ status: "partial" })
    const wrong = { ...event("step_ended", TOOL, ROOT, ended("success")), sequence_no: 10 } as Event
    expect(foldRun(events.with(10, wrong)).steps[5]).toMatchObject({ kind: "tool", status: "open", closed: undefined })
  })

  test("[Q-08] a run whose process died says so of itself and of every step it left open", () => {
    const events = [...run().slice(0, 4), event("process_crashed", null, null, { pid: 7, last_open_step_id: CALL })]
    const { status, steps: found, crash, totals } = foldRun(events)
    expect([status, crash?.pid, crash?.step, totals.annotations]).toEqual(["crashed", 7, 3, 1])
    expect(found.map((step) => step.status)).toEqual(["crashed", "crashed", "crashed", "crashed"])
    expect(foldRun(run().slice(0, 4)).status).toBe("silent")
    expect(foldRun(run().slice(0, 4), { isWriterAlive: true }).status).toBe("running")
  })

  test("[Q-08] a step that names itself as its parent is one step, in the run; parents in a circle make no circle", () => {
    const own = run().map((one) => (one.step_id === TOOL ? { ...one, parent_step_id: TOOL } : one))
    expect(steps(own)).toEqual(steps(run()))
    const circle = run().map((one) => (one.step_id === PLAN ? { ...one, parent_step_id: CALL } : one))
    expect(steps(circle)).toEqual([
      [1, ROOT, undefined, "run", "success"],
      [2, CALL, 1, "model", "success"],
      [3, PLAN, 2, "step", "success"],
      [4, TRY_1, 2, "model", "error"],
      [5, TRY_2, 2, "model", "success"],
      [6, TOOL, 1, "tool", "timeout"],
    ])
  })

  test("[Q-08] a call that does not say what it used has the usage of the last attempt that does; nothing known is not zero", () => {
    const lost = run().filter(({ event_type, step_id }) => event_type !== "model_result" || step_id !== CALL)
    for (const events of [lost, lost.slice(0, 7)]) {
      const { steps: found, totals } = foldRun(events)
      expect(found[2]!.tokens).toMatchObject({ prompt: 10, completion: 2 })
      expect(totals.tokens).toMatchObject({ input: 10, output: 2, cacheRead: null, callsWithoutUsage: 0 })
    }
    const said = run().map((one) =>
      one.step_id === CALL && one.event_type === "model_result"
        ? ({ ...one, payload: ended("success", { token_usage: { prompt: 12, completion: 3, total: 15 } }) } as Event)
        : one,
    )
    expect(foldRun(said).totals.tokens).toMatchObject({ input: 12, output: 3 })
    expect(foldRun(run().slice(0, 5)).totals.tokens).toMatchObject({ input: null, output: null, callsWithoutUsage: 1 })
  })
})
