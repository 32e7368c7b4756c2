import { countIn, type Event, payloadOf, textIn } from "@orangebox/contract"
import type { StepDraft } from "./step-tree.js"

/** How a run ended that could not say so itself. */
export interface Crash {
  readonly event: Event
  readonly pid: number | undefined
  readonly evidence: string | undefined
  /** The step that was under way: the one the annotation names, else the last one opened and not closed. */
  readonly step: number | undefined
}

export function crashOf(annotations: readonly Event[], drafts: readonly StepDraft[]): Crash | undefined {
  const event = annotations.findLast((annotation) => annotation.event_type === "process_crashed")
  if (!event) return undefined
  const payload = payloadOf(event)
  const named = textIn(payload, "last_open_step_id")
  const draft =
    (named === undefined ? undefined : drafts.find((candidate) => candidate.id === named)) ??
    drafts.findLast((candidate) => !candidate.closed)
  return { event, pid: countIn(payload, "pid"), evidence: textIn(payload, "evidence"), step: draft?.n }
}
