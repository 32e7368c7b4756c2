import type { Event } from "@orangebox/contract"
import { type EvaluationToKeep, evaluationToKeep, keptAlready } from "@orangebox/decisions"
import type { DataFolder } from "@orangebox/journal"
import { type Ruleset, redactText } from "@orangebox/redaction"
import type { JudgedRun } from "../judging/judged-run.js"
import {
  type Annotation,
  type AnnotationDoor,
  annotationBody,
  annotationOf,
  refTo,
  writeAnnotations,
} from "./write-annotations.js"

/** What stands on record about a run that was judged. */
export interface KeptEvaluation {
  readonly eventId: string
  readonly at: string
  /** False where an earlier evaluation by the same rules says the same. */
  readonly isNew: boolean
}

/**
 * Keeps what checks said about runs, beside them: one annotation a run, by which rules and how it came out, when, by whom and with which
 * version. Checking again with the same rules and the same result adds nothing.
 */
export function keepEvaluations(
  door: AnnotationDoor & { readonly author?: string | undefined },
  folder: DataFolder,
  judged: readonly JudgedRun[],
  ruleset: Ruleset,
): Map<JudgedRun, KeptEvaluation> {
  const kept = new Map<JudgedRun, KeptEvaluation>()
  const toWrite: Annotation[] = []
  for (const one of judged) {
    const found = evaluationToKeep(one.evaluation)
    const before = keptAlready(one.run.annotations, found)
    const annotation = before === undefined ? annotationFor(door, one, found, ruleset) : undefined
    if (annotation !== undefined) toWrite.push(annotation)
    const event = before ?? annotation?.event
    if (event) kept.set(one, { eventId: event.event_id, at: event.timestamp_utc, isNew: before === undefined })
  }
  if (toWrite.length > 0) writeAnnotations(door, folder, toWrite)
  return kept
}

function annotationFor(
  door: Parameters<typeof keepEvaluations>[0],
  { run }: JudgedRun,
  found: EvaluationToKeep,
  ruleset: Ruleset,
): Annotation {
  // Excerpts hide their secrets already; what a judge says in its own words does not.
  const { text, masks } = redactText(found.detail, ruleset)
  const body = annotationBody(text)
  const { author, version } = door
  const event: Event<"evaluation"> = annotationOf<"evaluation">(door, run, {
    event_type: "evaluation",
    stepId: null,
    redaction_status: masks.length > 0 ? "redacted" : "not_required",
    artifact_refs: [refTo(body, "evaluation", "application/json")],
    attributes: { ...found.attributes, tool_version: version, ...(author === undefined ? {} : { author }) },
    payload: { ...found.payload, evaluation_ref: body.hash },
  })
  return { event, body }
}
