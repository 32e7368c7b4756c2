import { type Event, runDigest, validateRun } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { byRun, eventId, eventOf, fixture, HASH, OTHER_RUN, refTo, runOf, step } from "./run-of.js"

const started = {
  app_id: "a",
  environment: "ci",
  entrypoint_name: "e",
  user_session_ref: null,
  input_summary: null,
} as const
const completed = { status: "success", total_steps: 2, total_latency_ms: 5 } as const
const failed = { status: "failed", failed_step_id: null, error_class: "E", error_message_ref: null } as const
const toolCalled = { tool_name: "ls", tool_version: null, call_signature_hash: HASH, args_ref: HASH, timeout_ms: null }
const toolResult = {
  tool_name: "ls",
  status: "success",
  result_ref: null,
  error_class: null,
  error_message_ref: null,
  latency_ms: 1,
} as const
const modelCalled = {
  provider: "p",
  model_id: "m",
  model_api_version: null,
  temperature: null,
  top_p: null,
  max_tokens: null,
  request_ref: HASH,
}
const modelResult = {
  provider: "p",
  model_id: "m",
  finish_reason: null,
  token_usage: { prompt: null, completion: null, total: null },
  response_ref: null,
  latency_ms: 1,
}

/** Whether a run breaks exactly these rules. */
function check(events: readonly Event[], ...codes: string[]): void {
  expect(validateRun(events).map((problem) => problem.code)).toEqual(codes)
}

const whole = (): Event[] =>
  runOf(
    ["run_started", 1, null, started],
    ["step_started", 2, 1, { name: "plan" }],
    ["model_called", 3, 2, modelCalled],
    ["model_called", 4, 3, modelCalled, { attempt_no: 1 }],
    ["model_result", 4, 3, modelResult],
    ["model_result", 3, 2, modelResult],
    ["tool_called", 5, 2, toolCalled, { links: [{ kind: "follows", step_id: step(3) }] }],
    ["tool_result", 5, 2, toolResult],
    ["step_ended", 2, 1, { status: "success", latency_ms: 4 }],
    ["run_completed", 1, null, completed],
  )

describe("[C-03] ordering and causality", () => {
  test("[C-03] a run with steps, calls and attempts has no problem", () => check(whole()))

  test("[C-03] run_started must be first", () => {
    check(
      runOf(
        ["log", 1, null, { level: "info", message: "" }],
        ["run_started", 1, null, started],
        ["run_completed", 1, null, completed],
      ),
      "run_started_first",
      "step_unknown",
      "run_started_first",
    )
  })

  test("[C-03] a run starts once", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["run_started", 2, null, started],
        ["run_completed", 1, null, completed],
      ),
      "run_started_first",
      "step_open",
    )
  })

  test("[C-03] nothing comes after the terminal event", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["run_completed", 1, null, completed],
        ["step_started", 2, 1, { name: "late" }],
      ),
      "after_the_end",
      "parent_closed",
      "step_open",
    )
  })

  test("[C-03] a run ends once", () => {
    check(
      runOf(["run_started", 1, null, started], ["run_completed", 1, null, completed], ["run_failed", 1, null, failed]),
      "after_the_end",
      "after_step_end",
    )
  })

  test("[C-03] a run without a terminal event is open, which is evidence and no error", () => {
    const problems = validateRun(runOf(["run_started", 1, null, started], ["tool_called", 2, 1, toolCalled]))
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual([
      ["step_open", "open"],
      ["step_open", "open"],
      ["run_open", "open"],
    ])
  })

  test("[C-03] a tool_result needs its tool_called", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_result", 2, 1, toolResult],
        ["run_completed", 1, null, completed],
      ),
      "step_unknown",
    )
  })

  test("[C-03] a model_result does not answer a tool_called", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 1, toolCalled],
        ["model_result", 2, 1, modelResult],
        ["run_completed", 1, null, completed],
      ),
      "no_matching_call",
      "step_open",
    )
  })

  test("[C-03] a tool_result is of the tool that was called", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 1, toolCalled],
        ["tool_result", 2, 1, { ...toolResult, tool_name: "rm" }],
        ["run_completed", 1, null, completed],
      ),
      "tool_name",
    )
  })

  test("[C-03] a result must stand in the lineage of its call", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["step_started", 3, 1, { name: "x" }],
        ["model_called", 2, 1, modelCalled],
        ["model_result", 2, 3, modelResult],
        ["step_ended", 3, 1, { status: "success", latency_ms: 1 }],
        ["run_completed", 1, null, completed],
      ),
      "parent_changed",
    )
  })

  test("[C-03] a step opens once", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 1, toolCalled],
        ["tool_called", 2, 1, toolCalled],
        ["tool_result", 2, 1, toolResult],
        ["run_completed", 1, null, completed],
      ),
      "step_opened_twice",
    )
  })

  test("[C-03] a step closes once, and nothing happens in it afterwards", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 1, toolCalled],
        ["tool_result", 2, 1, toolResult],
        ["tool_result", 2, 1, toolResult],
        ["log", 2, 1, { level: "info", message: "" }],
        ["run_completed", 1, null, completed],
      ),
      "after_step_end",
      "after_step_end",
    )
  })

  test("[C-03] a step opens under a step that is open", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 9, toolCalled],
        ["tool_result", 2, 9, toolResult],
        ["tool_called", 3, 2, toolCalled],
        ["tool_result", 3, 2, toolResult],
        ["run_completed", 1, null, completed],
      ),
      "parent_unknown",
      "parent_closed",
    )
    check(runOf(["run_started", 1, 9, started], ["run_completed", 1, 9, completed]), "root_parent")
  })

  test("[C-03] an attempt is a child of the call it tries", () => {
    check(
      runOf(
        ["run_started", 1, null, started],
        ["model_called", 2, 1, modelCalled, { attempt_no: 1 }],
        ["model_result", 2, 1, modelResult],
        ["run_completed", 1, null, completed],
      ),
      "attempt_parent",
    )
  })

  test("[C-03] sequence numbers are unique and rise; a hole is a gap", () => {
    const run = runOf(
      ["run_started", 1, null, started],
      ["log", 1, null, { level: "info", message: "" }],
      ["run_completed", 1, null, completed],
    )
    const numbered = (...numbers: number[]): Event[] =>
      run.map((event, i) => ({ ...event, sequence_no: numbers[i]! }) as Event)
    const found = (...numbers: number[]): unknown[] =>
      validateRun(numbered(...numbers)).map(({ code, severity }) => [code, severity])
    expect(found(0, 1, 2)).toEqual([])
    expect(found(0, 1, 1)).toEqual([["sequence", "error"]])
    expect(found(0, 2, 1)).toEqual([
      ["sequence_hole", "gap"],
      ["sequence", "error"],
    ])
    expect(found(0, 1, 7)).toEqual([["sequence_hole", "gap"]])
    expect(found(3, 4, 5)).toEqual([["sequence_hole", "gap"]])
  })

  test("[C-03] all events are of one run and one trace", () => {
    const [first, last] = runOf(["run_started", 1, null, started], ["run_completed", 1, null, completed])
    check([first!, { ...last!, run_id: OTHER_RUN } as Event], "one_run")
    check([first!, { ...last!, trace_id: "a".repeat(32) } as Event], "one_trace")
  })

  test("[C-03] the failed step is a step of the run", () => {
    const run = (failed_step_id: string | null): Event[] =>
      runOf(["run_started", 1, null, started], ["run_failed", 1, null, { ...failed, failed_step_id }])
    check(run(null))
    check(run(step(1)))
    check(run(step(7)), "failed_step")
  })

  test("[C-10] a follows link names a step that was there before; other runs are not judged", () => {
    const run = (link: object): Event[] =>
      runOf(
        ["run_started", 1, null, started],
        ["tool_called", 2, 1, toolCalled, { links: [{ kind: "follows", ...link }] }],
        ["tool_result", 2, 1, toolResult],
        ["run_completed", 1, null, completed],
      )
    check(run({ step_id: step(1) }))
    check(run({ step_id: step(9), run_id: OTHER_RUN }))
    check(run({ step_id: step(9) }), "follows_unknown")
    check(run({ step_id: step(2) }), "follows_itself")
  })

  test("[C-03] what others say about a run is outside its order", () => {
    const crash = eventOf(
      "process_crashed",
      { writer_id: "w", pid: 1, last_open_step_id: null, evidence: "gone" },
      { sequence_no: null },
    )
    check([crash, ...whole(), crash])
  })
})

describe("[C-10] the digest of a run", () => {
  const run = whole()
  const digest = runDigest(run)

  test("[C-10] is pinned for the published fixtures", () => {
    const runs = byRun(fixture("1.1") as Event[])
    expect([...runs.values()].map(runDigest)).toEqual([
      "sha256:b51dde8823d02d5d75fa6cbcd7dab3a42a2e0b8aca7b70ec321f1a7135225d4a",
      "sha256:c3d1d81f5692372326661aeb838b10b8006515a57beac56d8a60a433f2ff6e40",
    ])
  })

  test("[C-10] changes with every changed, missing, added or reordered event", () => {
    const variants = run.flatMap((event, at) => [
      run.with(at, { ...event, timestamp_utc: "2026-03-14T09:26:54.000Z" } as Event),
      run.with(at, { ...event, artifact_refs: [...event.artifact_refs, refTo(HASH)] } as Event),
      run.toSpliced(at, 1),
      run.toSpliced(at, 0, { ...event, event_id: eventId(99) } as Event),
      ...(at > 0 ? [run.with(at - 1, event).with(at, run[at - 1]!)] : []),
    ])
    const digests = new Set(variants.map(runDigest))
    expect(digests.has(digest)).toBe(false)
    expect(digests.size).toBe(variants.length)
  })

  test("[C-10] does not change with annotations, nor with the order of keys", () => {
    const override = eventOf(
      "override",
      { author: "a", subject_step_id: null, verdict: "fail", reason: "no" },
      { sequence_no: null },
    )
    expect(runDigest([override, ...run, override])).toBe(digest)
    expect(runDigest(run.map((event) => Object.fromEntries(Object.entries(event).reverse()) as Event))).toBe(digest)
  })
})
