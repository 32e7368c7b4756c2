import { type Event, summarizeText, type Verdict } from "@orangebox/contract"
import type { DataFolder } from "@orangebox/journal"
import { type Ruleset, redactText } from "@orangebox/redaction"
import type { LoadedRun } from "../run/load-run.js"
import { type AnnotationDoor, annotationBody, annotationOf, refTo, writeAnnotations } from "./write-annotations.js"

export interface SaidOverride {
  readonly author: string
  readonly verdict: Verdict
  readonly reason: string
  /** The step it is about; null for the run as a whole. */
  readonly stepId: string | null
}

/** Writes a person's word about a run beside it. On disk when it returns. */
export function writeOverride(
  door: AnnotationDoor,
  folder: DataFolder,
  run: LoadedRun,
  said: SaidOverride,
  ruleset: Ruleset,
): Event<"override"> {
  const { text: reason, masks } = redactText(said.reason, ruleset)
  const summary = summarizeText(reason)
  // A summary is one line; a reason that is more stands in a body.
  const body = summary === reason ? undefined : annotationBody(reason)
  const event = annotationOf<"override">(door, run, {
    event_type: "override",
    stepId: said.stepId,
    redaction_status: masks.length > 0 ? "redacted" : "not_required",
    artifact_refs: body === undefined ? [] : [refTo(body, "reason", "text/plain; charset=utf-8")],
    payload: {
      author: redactText(said.author, ruleset).text,
      subject_step_id: said.stepId,
      verdict: said.verdict,
      reason: summary,
      ...(body === undefined ? {} : { reason_ref: body.hash }),
    },
  })
  writeAnnotations(door, folder, [{ event, body }])
  return event
}
