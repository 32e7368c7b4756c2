import {
  type BodyMask,
  countIn,
  EffectClass,
  type Event,
  type LoosePayload,
  numberIn,
  payloadOf,
  recordsIn,
  textIn,
} from "@orangebox/contract"
import { type RunView, type StepView, viewRun } from "@orangebox/query"
import type { DiffKind, DiffStep } from "./diff-step.js"
import { eventsAsSteps, type Refs, retrievalRefs } from "./event-steps.js"
import { foldRetries } from "./fold-retries.js"
import { inlineLanes } from "./inline-lanes.js"
import type { DiffOptions } from "./run-to-diff.js"

/** A run as a diff sees it: its steps in order of opening, retries folded, sub-agents inlined. */
export interface DiffRun {
  readonly view: RunView
  readonly steps: readonly DiffStep[]
  readonly root: DiffStep
  /** Tries beyond the first, folded into the call they repeat. */
  readonly foldedAttempts: number
  readonly replay: Event["replay"]
  readonly outcome: RecordedOutcome
}

/** How a run ended and what it gave. */
export interface RecordedOutcome {
  readonly status: RunView["status"]
  readonly errorClass: string | undefined
  readonly outputRef: string | undefined
  readonly summary: string | undefined
}

/** A diff has no use for money, and pricing ten thousand steps takes as long as reading them. */
const NO_PRICES = { version: "none", entries: [] }

/** Undefined when there is no event of a run in it. */
export function readSteps(events: readonly Event[], options: DiffOptions): DiffRun | undefined {
  const view = viewRun({ events, prices: NO_PRICES })
  if (view.steps.length === 0) return undefined
  const drafts: DiffStep[] = []
  const byNumber = new Map<number, DiffStep>()
  let foldedAttempts = 0
  for (const step of view.steps) {
    const parent = step.parent === undefined ? undefined : byNumber.get(step.parent)
    if (parent && isAttempt(step, parent)) {
      // What was recorded inside a try belongs to the call.
      byNumber.set(step.n, parent)
      continue
    }
    const draft = featuresOf(step, view, parent, options)
    foldedAttempts += draft.attempts - 1
    byNumber.set(step.n, draft)
    drafts.push(draft)
    parent?.children.push(draft)
    for (const inner of eventsAsSteps(step, draft)) {
      drafts.push(inner)
      draft.children.push(inner)
    }
  }
  for (const draft of drafts) {
    draft.children.sort((a, b) => a.openedAt - b.openedAt)
    foldedAttempts += foldRetries(draft.children)
  }
  const root = drafts[0]!
  inlineLanes(root, linkedSteps(view, byNumber))
  return {
    view,
    steps: inOpeningOrder(root),
    root,
    foldedAttempts,
    replay: events.find((event) => event.replay !== undefined)?.replay,
    outcome: outcomeOf(view),
  }
}

const isAttempt = (step: StepView, parent: DiffStep): boolean =>
  step.attemptNo !== undefined && step.kind === "model" && parent.kind === "model"

function featuresOf(step: StepView, view: RunView, parent: DiffStep | undefined, options: DiffOptions): DiffStep {
  const wire = step.kind === "model" ? lastAttempt(step, view) : undefined
  const opening = payloadOf(wire?.opened ?? step.opened)
  const closing = payloadOf(step.closed ?? wire?.closed)
  const retrieval = soleRetrieval(step)
  const refs = retrieval ? retrievalRefs(retrieval) : step.kind === "run" ? runRefs(step) : callRefs(opening, closing)
  const kind: DiffKind = retrieval ? "retrieval" : step.kind
  const name = nameOf(step, retrieval)
  const effect = kind === "tool" ? (options.effectOf?.(name) ?? effectOf(opening, step.opened)) : undefined
  return {
    at: 0,
    n: step.n,
    id: step.id,
    eventId: undefined,
    kind,
    name,
    lane: (step.opened ?? step.closed)?.lane_id,
    parent,
    children: [],
    ...refs,
    inputMasks: masksIn(wire?.opened ?? step.opened, refs.inputRef),
    outputFacts: kind === "run" ? "" : endFacts(closing, step.closed),
    finishReason: step.model?.finishReason ?? textIn(closing, "finish_reason"),
    requestedTools: step.model?.requestedTools ?? [],
    status: step.status,
    effect,
    attempts: Math.max(1, step.attempts),
    inputTokens: step.model?.inputTokens,
    outputTokens: step.model?.outputTokens,
    durationUs: step.durationUs,
    mode: step.mode,
    isAuxiliary: step.attributes["auxiliary"] === true,
    openedAt: step.opened?.sequence_no ?? step.at,
    closedAt: step.closed?.sequence_no ?? Number.POSITIVE_INFINITY,
    sourceStepId: sourceStepOf(step),
    method: textIn(opening, "http_method"),
    url: textIn(opening, "url"),
  }
}

/** What the record of the end says beside the body. Two secrets that mask alike are told apart by their tags. */
function endFacts(closing: LoosePayload, closed: Event | undefined): string {
  const secrets = masksIn(closed).map(({ tag }) => tag)
  return [textIn(closing, "error_class"), numberIn(closing, "exit_code"), ...secrets].filter(isThere).join(" ")
}

/** What was taken out of the bodies of an event, or of one of them. */
function masksIn(event: Event | undefined, hash?: string): BodyMask[] {
  return (event?.artifact_refs ?? []).flatMap((ref) => {
    if (hash !== undefined && ref.artifact_hash !== hash) return []
    return recordsIn({ ...ref }, "masks").flatMap((mask) => {
      const [offset, length] = [countIn(mask, "offset"), countIn(mask, "length")]
      const [rule, tag] = [textIn(mask, "rule"), textIn(mask, "tag")]
      const isWhole = offset !== undefined && length !== undefined && rule !== undefined && tag !== undefined
      return isWhole ? [{ offset, length, rule, tag }] : []
    })
  })
}

function callRefs(opening: LoosePayload, closing: LoosePayload): Refs {
  return {
    sig: textIn(opening, "call_signature_hash"),
    canonVersion: numberIn(opening, "canon_version"),
    wire: textIn(opening, "wire_digest"),
    inputRef: textIn(opening, "request_ref") ?? textIn(opening, "args_ref") ?? textIn(opening, "body_ref"),
    outputRef:
      textIn(closing, "response_ref") ??
      textIn(closing, "result_ref") ??
      textIn(closing, "body_ref") ??
      textIn(closing, "error_message_ref") ??
      textIn(closing, "error_ref"),
    inputFacts: "",
    inputSummary: textIn(opening, "args_summary"),
    outputSummary:
      textIn(closing, "output_summary") ?? textIn(closing, "result_summary") ?? textIn(closing, "error_summary"),
  }
}

/** A run's input; how it ended is its outcome and stands apart, because it comes last. */
function runRefs(step: StepView): Refs {
  const opening = payloadOf(step.opened)
  const received = step.events.find((event) => event.event_type === "input_received")
  const input = payloadOf(received)
  return {
    sig: undefined,
    canonVersion: undefined,
    wire: undefined,
    inputRef: textIn(input, "input_ref") ?? textIn(input, "input_hash") ?? textIn(opening, "input_summary_ref"),
    outputRef: undefined,
    inputFacts: textIn(opening, "input_summary") ?? "",
    inputSummary: textIn(opening, "input_summary") ?? textIn(input, "input_summary"),
    outputSummary: undefined,
  }
}

/** What went over the wire says more than what the application meant to send. */
function lastAttempt(step: StepView, view: RunView): StepView | undefined {
  for (let i = step.children.length - 1; i >= 0; i--) {
    const child = view.steps[step.children[i]! - 1]
    if (child?.kind === "model" && child.attemptNo !== undefined) return child
  }
  return undefined
}

function soleRetrieval(step: StepView): Event | undefined {
  if (step.kind !== "step" || step.children.length > 0) return undefined
  const found = step.events.filter((event) => event.event_type === "retrieval_executed")
  return found.length === 1 ? found[0] : undefined
}

function nameOf(step: StepView, retrieval: Event | undefined): string {
  if (retrieval) return textIn(payloadOf(retrieval), "retriever_id") ?? step.name ?? ""
  return step.name ?? ""
}

/** What the call says of itself, or the replay that served it. */
function effectOf(opening: LoosePayload, opened: Event | undefined): EffectClass | undefined {
  const said = opening["effect_class"] ?? opened?.replay?.effect_class
  return EffectClass.options.find((effect) => effect === said)
}

function sourceStepOf(step: StepView): string | undefined {
  for (const event of [step.opened, step.closed]) if (event?.replay?.source_step_id) return event.replay.source_step_id
  return undefined
}

/** Which step asked for another one, where a link says so. */
function linkedSteps(view: RunView, byNumber: ReadonlyMap<number, DiffStep>): ReadonlyMap<DiffStep, DiffStep> {
  const numbers = new Map(view.steps.map((step) => [step.id, step.n]))
  const askers = new Map<DiffStep, DiffStep>()
  for (const step of view.steps) {
    const link = step.links.find(({ kind, step_id }) => kind === "spawned_by" && step_id !== undefined)
    const asker = link && byNumber.get(numbers.get(link.step_id) ?? 0)
    const asked = byNumber.get(step.n)
    if (asker && asked && asker.n < asked.n) askers.set(asked, asker)
  }
  return askers
}

/** Preorder, with a list of our own: nesting is as deep as the recording says. */
function inOpeningOrder(root: DiffStep): DiffStep[] {
  const steps: DiffStep[] = []
  const waiting = [root]
  while (waiting.length > 0) {
    const step = waiting.pop()!
    step.at = steps.length
    steps.push(step)
    for (let i = step.children.length - 1; i >= 0; i--) waiting.push(step.children[i]!)
  }
  return steps
}

function outcomeOf(view: RunView): RecordedOutcome {
  const root = view.steps[0]
  const closing = payloadOf(root?.closed)
  const given = payloadOf(lastFinalOutput(view))
  return {
    status: view.status,
    errorClass: textIn(closing, "error_class"),
    outputRef: textIn(given, "output_ref"),
    summary: textIn(given, "output_summary") ?? textIn(closing, "error_summary"),
  }
}

function lastFinalOutput(view: RunView): Event | undefined {
  let last: Event | undefined
  for (const step of view.steps) {
    for (const event of step.events) {
      if (event.event_type !== "final_output" || event.sequence_no === null) continue
      if ((last?.sequence_no ?? -1) < event.sequence_no) last = event
    }
  }
  return last
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined
