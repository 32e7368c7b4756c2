import {
  type CaptureMode,
  definitionOf,
  type Event,
  isEventType,
  payloadOf,
  type StepKind,
  textIn,
} from "@orangebox/contract"

/** A step with everything that was said in it. */
export interface StepRecord {
  readonly id: string
  /** In opening order, from 1. */
  readonly no: number
  readonly parentId: string | null
  readonly attemptNo: number | undefined
  readonly laneId: string | undefined
  kind: StepKind
  opened: Event | null
  closed: Event | null
  /** In order, the opening and the closing among them. */
  readonly events: Event[]
  /** Tries of this logical call, in order. */
  readonly attempts: StepRecord[]
}

/** One pass over the events of a run, so that every later question is a look-up. */
export interface RunIndex {
  readonly runId: string
  readonly traceId: string
  readonly root: StepRecord | undefined
  /** In order of the run's sequence; what was said about the run by others comes last. */
  readonly events: readonly Event[]
  readonly steps: ReadonlyMap<string, StepRecord>
  readonly capture: CaptureMode | null
  readonly status: "completed" | "failed" | "open"
}

export function indexRun(given: readonly Event[]): RunIndex {
  const events = inOrder(given)
  const steps = new Map<string, StepRecord>()
  let root: StepRecord | undefined
  for (const event of events) {
    // An annotation is about the run and belongs to none of its steps, whatever step it names as its own.
    if (event.step_id === null || event.sequence_no === null) continue
    const step = steps.get(event.step_id) ?? newStep(event, steps)
    step.events.push(event)
    const role = isEventType(event.event_type) ? definitionOf(event.event_type).role : undefined
    if (role?.does === "opens" && step.opened === null) {
      step.opened = event
      step.kind = role.step
      if (role.step === "run") root ??= step
    } else if (role?.does === "closes" && step.closed === null) {
      step.closed = event
      step.kind = role.step
    }
  }
  for (const step of steps.values()) {
    if (step.attemptNo !== undefined && step.kind === "model" && step.parentId !== null) {
      const call = steps.get(step.parentId)
      if (call?.kind === "model") call.attempts.push(step)
    }
  }
  const first = root?.opened ?? events.find((event) => event.run_id !== null)
  const ended = root?.closed?.event_type
  return {
    runId: first?.run_id ?? "",
    traceId: first?.trace_id ?? "",
    root,
    events,
    steps,
    capture: captureIn(root?.opened),
    status: ended === "run_completed" ? "completed" : ended === "run_failed" ? "failed" : "open",
  }
}

/** Whether a model step is a try of a call that is itself a step. */
export function isAttempt(index: RunIndex, step: StepRecord): boolean {
  if (step.attemptNo === undefined || step.parentId === null) return false
  return index.steps.get(step.parentId)?.attempts.includes(step) ?? false
}

export function captureIn(event: Event | null | undefined): CaptureMode | null {
  const mode = textIn(payloadOf(event), "capture_mode")
  return mode === "full" || mode === "redacted" || mode === "hashed" ? mode : null
}

function inOrder(events: readonly Event[]): readonly Event[] {
  let last = -1
  const isOrdered = events.every((event) => {
    const at = event.sequence_no ?? Number.POSITIVE_INFINITY
    const follows = at >= last
    last = at
    return follows
  })
  if (isOrdered) return events
  const place = (event: Event): number => event.sequence_no ?? Number.MAX_SAFE_INTEGER
  return [...events].sort((a, b) => place(a) - place(b))
}

function newStep(event: Event, steps: Map<string, StepRecord>): StepRecord {
  const step: StepRecord = {
    id: event.step_id!,
    no: steps.size + 1,
    parentId: event.parent_step_id,
    attemptNo: event.attempt_no,
    laneId: event.lane_id,
    kind: "step",
    opened: null,
    closed: null,
    events: [],
    attempts: [],
  }
  steps.set(step.id, step)
  return step
}
