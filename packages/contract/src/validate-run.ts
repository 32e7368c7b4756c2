import { definitionOf, type Event } from "./catalog.js"
import type { StepKind } from "./event-definition.js"
import { payloadRefs } from "./payload-refs.js"
import type { Problem, ProblemSeverity } from "./problem.js"
import { isUsable } from "./usable-event.js"

export interface RunRules {
  /** Whether the bytes behind a ref can be read. Left out, presence is not judged. */
  readonly hasBody?: (hash: string) => boolean
}

interface OpenStep {
  readonly kind: StepKind
  readonly opener: Event
  closer: Event | undefined
}

/**
 * Ordering, causality and completeness of one run's events, in the order in which they are given.
 * Annotations (`sequence_no: null`) stand outside the sequence and are not judged here.
 */
export function validateRun(events: readonly Event[], rules: RunRules = {}): Problem[] {
  const problems: Problem[] = []
  const say: SayAnything = (code, severity, subject, field, reason) =>
    void problems.push({ code, severity, subject, field, reason })
  const own: Event[] = []
  for (const event of events) {
    if (!isReadable(event)) say("not_an_event", "error", "unknown", "", "the record has not the skeleton of an event")
    else if (event.sequence_no !== null) own.push(event)
  }

  const first = own[0]
  if (!first) return problems
  const subject = first.run_id ?? "run"
  if (first.event_type !== "run_started") {
    const reason = `a run opens with run_started, this one with ${first.event_type}`
    say("run_started_first", "error", first.event_id, "event_type", reason)
  }

  const steps = new Map<string, OpenStep>()
  let terminal: Event | undefined
  let previousNo = -1

  const judge = (event: Event, error: Say): void => {
    if (event.run_id !== first.run_id) error("one_run", "run_id", `belongs to ${event.run_id}, not to ${first.run_id}`)
    if (event.trace_id !== first.trace_id)
      error("one_trace", "trace_id", "differs from the trace of the run's first event")
    if (event !== first && event.event_type === "run_started") {
      error("run_started_first", "event_type", "a run has one run_started, and it comes first")
    }
    if (terminal) error("after_the_end", "event_type", `${event.event_type} comes after ${terminal.event_type}`)

    const no = event.sequence_no!
    if (no <= previousNo) {
      error("sequence", "sequence_no", no === previousNo ? `${no} is used twice` : `${no} comes after ${previousNo}`)
    } else if (no > previousNo + 1) {
      const where = previousNo === -1 ? "before the first" : `after ${previousNo}`
      const missing = no - previousNo - 1
      const reason = `${missing} ${missing === 1 ? "event is" : "events are"} missing ${where}`
      say("sequence_hole", "gap", event.event_id, "sequence_no", reason)
    }
    previousNo = Math.max(previousNo, no)

    checkStep(event, steps, error)
    checkFollows(event, steps, error)
    checkBodies(event, rules, say)
    if (event.event_type === "run_failed") checkFailedStep(event, steps, error)
    if (event.event_type === "run_completed" || event.event_type === "run_failed") terminal ??= event
  }
  for (const event of own) {
    const error: Say = (code, field, reason) => say(code, "error", event.event_id, field, reason)
    // Wrong values inside an event are reported by validate(); here they must only not stop the others from being judged.
    try {
      judge(event, error)
    } catch {
      error("unreadable", "", "the record could not be read")
    }
  }

  for (const step of steps.values()) {
    if (!step.closer) {
      const name = step.opener.step_id ?? ""
      say("step_open", "open", step.opener.event_id, "step_id", `${step.kind} step ${name} was opened and not closed`)
    }
  }
  if (!terminal) say("run_open", "open", subject, "", "the run has no terminal event")
  return problems
}

// Typed callers pass events, but a run is also read from files other programs wrote.
function isReadable(event: Event): boolean {
  try {
    return isUsable(event)
  } catch {
    return false
  }
}

type SayAnything = (code: string, severity: ProblemSeverity, subject: string, field: string, reason: string) => void
type Say = (code: string, field: string, reason: string) => void

function checkStep(event: Event, steps: Map<string, OpenStep>, error: Say): void {
  const { role } = definitionOf(event.event_type)
  const id = event.step_id!
  const step = steps.get(id)

  if (role.does === "opens") {
    if (step) {
      error("step_opened_twice", "step_id", `${id} is already open as a ${step.kind} step`)
      return
    }
    checkParent(event, role.step, steps, error)
    steps.set(id, { kind: role.step, opener: event, closer: undefined })
    return
  }
  if (!step) {
    error("step_unknown", "step_id", `${event.event_type} is in a step that was never opened`)
    return
  }
  if (step.opener.parent_step_id !== event.parent_step_id) {
    error("parent_changed", "parent_step_id", "differs from the parent the step was opened with")
  }
  if (step.closer) {
    error(
      "after_step_end",
      "step_id",
      `${event.event_type} comes after the step was closed by ${step.closer.event_type}`,
    )
    return
  }
  if (role.does !== "closes") return
  if (role.step !== step.kind) {
    error(
      "no_matching_call",
      "event_type",
      `${event.event_type} closes a ${role.step} step, ${id} was opened by ${step.opener.event_type}`,
    )
    return
  }
  step.closer = event
  if (event.event_type === "tool_result" && step.opener.event_type === "tool_called") {
    const called = step.opener.payload.tool_name
    if (called !== event.payload.tool_name)
      error(
        "tool_name",
        "payload.tool_name",
        `the call was for ${typeof called === "string" ? called : JSON.stringify(called)}`,
      )
  }
}

function checkParent(event: Event, kind: StepKind, steps: Map<string, OpenStep>, error: Say): void {
  const parentId = event.parent_step_id
  if (kind === "run") {
    if (parentId !== null) error("root_parent", "parent_step_id", "the root step of a run has no parent")
    return
  }
  const parent = parentId === null ? undefined : steps.get(parentId)
  if (!parent) error("parent_unknown", "parent_step_id", "names no step that was opened before")
  else if (parent.closer) error("parent_closed", "parent_step_id", "names a step that was already closed")
  if (event.attempt_no !== undefined && parent && parent.kind !== kind) {
    error(
      "attempt_parent",
      "attempt_no",
      `an attempt is a child of its ${kind} step, the parent is a ${parent.kind} step`,
    )
  }
}

/** The previous causal step of a step is one that was there before it. A link into another run cannot be judged here. */
function checkFollows(event: Event, steps: ReadonlyMap<string, OpenStep>, error: Say): void {
  const links = event.event_type === "link_added" ? [event.payload.link, ...(event.links ?? [])] : (event.links ?? [])
  for (const link of links) {
    if (link?.kind !== "follows" || link.step_id === undefined) continue
    if (link.run_id !== undefined && link.run_id !== event.run_id) continue
    if (!steps.has(link.step_id))
      error("follows_unknown", "links", `follows ${link.step_id}, which was not opened before`)
    else if (link.step_id === event.step_id) error("follows_itself", "links", "a step does not follow itself")
  }
}

function checkBodies(event: Event, rules: RunRules, say: SayAnything): void {
  if (!rules.hasBody) return
  const absent = new Set(event.artifact_refs.filter((ref) => ref.absent).map((ref) => ref.artifact_hash))
  for (const { field, hash, isOptional } of payloadRefs(event.event_type, event.payload)) {
    if (absent.has(hash) || rules.hasBody(hash)) continue
    const reason = `the body ${hash} is not stored and nothing says why`
    say("body_missing", isOptional ? "gap" : "error", event.event_id, `payload.${field}`, reason)
  }
}

function checkFailedStep(event: Event<"run_failed">, steps: ReadonlyMap<string, OpenStep>, error: Say): void {
  const failed = event.payload.failed_step_id
  if (typeof failed === "string" && !steps.has(failed)) {
    error("failed_step", "payload.failed_step_id", "names no step of this run")
  }
}
