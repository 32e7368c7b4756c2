import type { EventType, PayloadOf } from "@orangebox/contract"
import { type EventContext, stepContext } from "../event-record.js"
import type { RunState } from "../run-state.js"
import type { EventExtras } from "../scribe.js"
import { StepHandle, type StepState } from "../step-handle.js"

/** What an observer of traffic says about a step as a whole. */
export interface StepMarks {
  /** The chain of calls it belongs to: one agent's, where several share a run. */
  readonly laneId?: string | undefined
  /** Who deduced it; left out for what was observed. */
  readonly inferredBy?: string | undefined
}

/** A step that stands in a lane, or was deduced, and says so on every one of its events. */
export class MarkedStep extends StepHandle {
  readonly #context: EventContext
  readonly #marks: StepMarks

  /** A child that is not opened yet: the caller emits the event that opens it. */
  static below(parent: StepHandle, marks: StepMarks, attemptNo?: number): StepHandle {
    if (marks.laneId === undefined && marks.inferredBy === undefined) return parent.bareChild(attemptNo)
    return new MarkedStep(parent["run"], parent["newChild"](attemptNo), parent.source, marks)
  }

  private constructor(run: RunState, state: StepState, source: string, marks: StepMarks) {
    super(run, state, source)
    const inLane = marks.laneId === undefined ? "" : `,"lane_id":${JSON.stringify(marks.laneId)}`
    const { runId, jsonHead } = stepContext(run.context, state, source)
    this.#context = { runId, jsonHead: `${jsonHead}${inLane}` }
    this.#marks = marks
  }

  override emit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void {
    this.run.scribe.emit(this.#context, type, this.run.takeSequenceNo(), payload, {
      ...extras,
      inferredBy: extras?.inferredBy ?? this.#marks.inferredBy,
    })
  }
}
