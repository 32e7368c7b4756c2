import { type EventContext, stepContext } from "../event-record.js"
import type { StepHandle } from "../step-handle.js"

/** What an observer of traffic says about a step as a whole. */
export interface StepMarks {
  /** The chain of calls it belongs to: one agent's, where several share a run. */
  readonly laneId?: string | undefined
  /** Who deduced it; left out for what was observed. */
  readonly inferredBy?: string | undefined
}

/**
 * A child that stands in a lane, or was deduced, and says so on every one of its events. It is not opened yet: the caller emits the event
 * that opens it.
 */
export function markedChild(parent: StepHandle, marks: StepMarks, attemptNo?: number, isModelCall = false): StepHandle {
  const step = parent.bareChild(attemptNo, isModelCall)
  if (marks.laneId === undefined && marks.inferredBy === undefined) return step
  const run = step.run
  const plain = stepContext(run.context, step.state, run.builder.capture.chosenName(step.source))
  const lane = marks.laneId === undefined ? "" : `,"lane_id":${JSON.stringify(marks.laneId)}`
  const context: EventContext = { runId: plain.runId, jsonHead: `${plain.jsonHead}${lane}` }
  // On the instance: a class of its own would have to extend one that is still being loaded when this file is.
  const emit: StepHandle["emit"] = (type, payload, extras, at = step.openingMoment()) => {
    const inferredBy = extras?.inferredBy ?? marks.inferredBy
    const kept = run.keep(step.state, context, type, extras)
    const marked = kept?.inferredBy === inferredBy ? kept : { ...kept, inferredBy }
    run.builder.emit(context, type, run.takeSequenceNo(), payload, marked, at)
  }
  step.emit = emit
  return step
}
