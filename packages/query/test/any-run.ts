import type { Event } from "@orangebox/contract"
import fc from "fast-check"
import { hostileText } from "../../text/test/hostile-text.js"
import type { RunInput } from "../src/index.js"
import { RunBuilder } from "./build-run.js"

type Act =
  | { do: "open"; what: "step" | "model" | "tool"; name: string; at: number }
  | { do: "close"; status: "success" | "error" | "timeout" | "partial"; said: string; at: number }
  | { do: "log"; level: "info" | "warn" | "error"; said: string; at: number }
  | { do: "prompt" | "fault" | "unknown"; said: string; at: number }
  | { do: "lose"; count: number }

const where = fc.nat({ max: 1000 })
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("open" as const),
      what: fc.constantFrom("step", "model", "tool"),
      name: hostileText,
      at: where,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("close" as const),
      status: fc.constantFrom("success", "success", "success", "error", "timeout", "partial"),
      said: hostileText,
      at: where,
    }),
  },
  fc.record({
    do: fc.constant("log" as const),
    level: fc.constantFrom("info", "warn", "error"),
    said: hostileText,
    at: where,
  }),
  fc.record({ do: fc.constantFrom("prompt", "fault", "unknown"), said: hostileText, at: where }),
  fc.record({ do: fc.constant("lose" as const), count: fc.integer({ min: 1, max: 9 }) }),
)

/** Runs of every shape: nested, parallel, failed, unfinished, crashed, with losses, and with hostile text in every place that holds text. */
export const anyRun: fc.Arbitrary<RunInput> = fc
  .record({
    acts: fc.array(act, { maxLength: 120 }),
    title: hostileText,
    end: fc.constantFrom("complete", "fail", "crash", "none"),
    mode: fc.constantFrom("live", "exact", "cached", "simulated"),
    digest: fc.constantFrom(undefined, `sha256:${"ab".repeat(32)}`),
    isInferred: fc.boolean(),
  })
  .map(({ acts, title, end, mode, digest, isInferred }): RunInput => {
    const run = new RunBuilder(
      { app_id: title, entrypoint_name: title, input_summary: title },
      { determinism_mode: mode, source: title || "x", ...(isInferred ? { inferred_by: title || "x" } : {}) },
    )
    const open: { id: string; kind: string; name: string }[] = [{ id: run.root, kind: "run", name: "" }]
    for (const one of acts) perform(run, open, one)
    if (end === "complete") run.complete()
    if (end === "fail") run.fail(title || "E", title, open.at(-1)!.id)
    const last = open.at(-1)!.id
    if (end === "crash") {
      run.annotate("process_crashed", { writer_id: "w", pid: 1, last_open_step_id: last, evidence: title })
      run.annotate("evaluation", {
        evaluator: title || "e",
        subject_step_id: last,
        alignment: "fail",
        quality: "unknown",
        policy: "pass",
        score: null,
        evaluation_ref: null,
      })
    }
    const partials = [{ stepId: last, role: title, byteSize: 1200 }]
    const gaps = title.length % 2 ? [{ reason: title, count: 2, fromSequence: null, toSequence: null }] : []
    return { events: run.events, partials, gaps, ...(digest === undefined ? {} : { digest }) }
  })

function perform(run: RunBuilder, open: { id: string; kind: string; name: string }[], one: Act): void {
  run.wait(7)
  if (one.do === "lose") {
    run.lose(one.count)
    return
  }
  const target = open[one.at % open.length]!
  switch (one.do) {
    case "open": {
      const id =
        one.what === "step"
          ? run.step(one.name, target.id, one.at % 2 ? one.name : undefined)
          : one.what === "model"
            ? run.callModel(one.name, target.id)
            : run.callTool(one.name, one.name, target.id)
      open.push({ id, kind: one.what, name: one.name })
      return
    }
    case "close": {
      if (target.kind === "run") return
      open.splice(open.indexOf(target), 1)
      const failure = one.status === "success" ? {} : { error_class: one.said, error_summary: one.said }
      const result = { status: one.status, ...failure }
      if (target.kind === "step") run.end(target.id, result)
      else if (target.kind === "tool")
        run.toolReturns(target.id, target.name, 900, { ...result, result_summary: one.said })
      else {
        run.modelAnswers(target.id, target.name, [1000, 20, 900], {
          ...result,
          finish_reason: one.said,
          output_summary: one.said,
          requested_tools: one.at % 2 ? [one.said, one.said] : [],
        })
      }
      return
    }
    case "log":
      run.add(target.id, "log", { level: one.level, message: one.said, error_summary: one.said })
      return
    case "fault":
      run.add(target.id, "fault", {
        trigger: "tool_failure",
        detail: one.said,
        artifact_ids: [],
        no_evidence: "nothing_sent",
      })
      return
    case "prompt":
      run.add(target.id, "prompt_assembled", {
        segments: [
          { contributor: one.said, kind: "skill", role: one.said, length: 12 },
          { contributor: one.said, kind: "other", role: null, length: 3 },
        ],
        total_length: 15,
      })
      return
    case "unknown": {
      const event: unknown = { ...run.events.at(-1)!, event_type: one.said, sequence_no: 1_000_000, payload: one.said }
      run.events.push({ ...(event as Event), sequence_no: run.events.at(-1)!.sequence_no })
    }
  }
}
