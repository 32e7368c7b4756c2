import { type AbsentReason, countIn, type Event, payloadOf, recordsIn, textIn, whyNotWire } from "@orangebox/contract"
import { type PromptAccount, promptAccountIn } from "@orangebox/dialects"
import type { RunView, StepView } from "../run-view.js"
import { isBelow, withLanes } from "./lanes.js"

/** One context of a run, and where what is known about it is recorded. */
export interface RecordedContext {
  /** The step that saw it: a model call, or the step it was committed for where no call followed. */
  readonly n: number
  readonly step: StepView
  /** Which conversation of several in one run; undefined for the main one, where it has no name. */
  readonly lane: string | undefined
  /** Who deduced the lane, where it was not recorded. */
  readonly laneInferredBy?: string
  /** A call that a harness makes for itself, such as counting tokens. */
  readonly isAuxiliary: boolean
  /** The manifest and its revisions, oldest first; empty where none was recorded. */
  readonly manifests: readonly Event[]
  /** What the application or the compiler says the prompt was made of. */
  readonly told: Event | undefined
  /** What the prompt was made of, as derived from the request when it was captured. */
  readonly derived: Event | undefined
  /** The last request that went out, or that was about to. */
  readonly request: RequestOnRecord | undefined
  /** What the recorder found in the request when it was sent: where the compiled prompt stands, and what stands beside it. */
  readonly account: PromptAccount | undefined
  readonly response: string | undefined
  /** What the step around it said between this call and its next one. */
  readonly saidAfter: readonly Event[]
}

export interface RequestOnRecord {
  readonly hash: string
  readonly method: string | undefined
  readonly url: string | undefined
  readonly byteSize: number | undefined
  /** Why the bytes are not there, where that was known when they were recorded. */
  readonly absent: AbsentReason | undefined
  /** The stored bytes are those that were sent: none masked, none cut off. */
  readonly isVerbatim: boolean
  /** Secrets were masked in them. */
  readonly isMasked: boolean
  /** Why no wire carried these bytes, where another program's record tells of the call. */
  readonly notOnWire: string | undefined
}

/** The contexts of a run in the order in which they were sent. A diagnosis asks many times for those of one view, which never changes. */
export function recordedContexts(view: RunView): readonly RecordedContext[] {
  const known = contextsOf.get(view) ?? foundContexts(view)
  contextsOf.set(view, known)
  return known
}

const contextsOf = new WeakMap<RunView, readonly RecordedContext[]>()

function foundContexts(view: RunView): readonly RecordedContext[] {
  const committed = committedContexts(view)
  const calls = view.steps.filter(isCall).map((call) => contextOfCall(view, call, committed))
  const sent = new Set(calls.map(({ manifests }) => manifests[0]))
  const unsent = committed.filter(({ manifests }) => !sent.has(manifests[0])).map(contextWithoutCall)
  return withLanes(
    view,
    [...calls, ...unsent].sort((a, b) => a.n - b.n),
  )
}

/** The bodies that say what a context was made of; of a request only where nothing else tells. */
export function outlineBodies(context: RecordedContext): readonly string[] {
  const manifests = context.manifests.flatMap((event) => textIn(payloadOf(event), "manifest_ref") ?? [])
  const isTold = manifests.length > 0 || context.told !== undefined || context.derived !== undefined
  return isTold || !context.request ? manifests : [...manifests, context.request.hash]
}

/** All the bodies from which something can be said about a context: its texts, and what the provider did to it. */
export function contextBodies(context: RecordedContext): readonly string[] {
  const told = recordsIn(payloadOf(context.told), "segments").map((segment) => textIn(segment, "content_ref"))
  const more = [context.request?.hash, context.response, ...told].filter((hash) => hash !== undefined)
  return [...new Set([...outlineBodies(context), ...more])]
}

/**
 * The context that stands before another: the one it goes on from where that is on record, else the last of its lane. The first call of a
 * run goes on with the conversation: with the last call of the run before, where `contexts` begin with those of that run.
 */
export function previousContext(
  contexts: readonly RecordedContext[],
  context: RecordedContext,
): RecordedContext | undefined {
  const followed = new Set(context.step.links.flatMap(({ kind, step_id }) => (kind === "follows" ? [step_id] : [])))
  const runId = runIdOf(context)
  let ofLane: RecordedContext | undefined
  let ofOtherRun: RecordedContext | undefined
  let isRunsFirst = true
  // Backwards, because it is nearly always one of the last few.
  for (let at = contexts.indexOf(context) - 1; at >= 0; at--) {
    const other = contexts[at]!
    if (other.isAuxiliary) continue
    const isOwn = runIdOf(other) === runId
    if (isOwn) isRunsFirst = false
    if (!isComparable(other, context)) continue
    if (followed.has(other.step.id)) return other
    if (!isOwn) ofOtherRun ??= other
    else if (other.lane === context.lane) ofLane ??= other
    if (ofLane !== undefined && followed.size === 0) return ofLane
  }
  return ofLane ?? (isRunsFirst ? ofOtherRun : undefined)
}

/** What a run leaves to the next one of its conversation: the last context of its main lane, and the last that a manifest tells. */
export function lastContexts(view: RunView): readonly RecordedContext[] {
  const contexts = recordedContexts(view).filter(({ isAuxiliary }) => !isAuxiliary)
  const main = contexts.filter(({ lane }) => lane === contexts[0]?.lane)
  const last = [true, false].map((isTold) => main.findLast(({ manifests }) => manifests.length > 0 === isTold))
  return main.filter((context) => last.includes(context))
}

/** The run a context was recorded in. */
export const runIdOf = ({ step }: RecordedContext): string | null => (step.opened ?? step.events[0])?.run_id ?? null

/** Items of a manifest have names of their own, segments of a request have not. */
const isComparable = (other: RecordedContext, context: RecordedContext): boolean =>
  other.manifests.length > 0 === context.manifests.length > 0

const isCall = (step: StepView): boolean => step.kind === "model" && step.attemptNo === undefined

function contextOfCall(view: RunView, call: StepView, committed: readonly CommittedContext[]): RecordedContext {
  const parent = call.parent === undefined ? undefined : view.steps[call.parent - 1]
  const attempts = call.children.map((n) => view.steps[n - 1]!).filter(({ attemptNo }) => attemptNo !== undefined)
  const own = [call, ...attempts].flatMap(({ events }) => events)
  const { ahead, after } = parent ? eventsAround(view, parent, call) : { ahead: [], after: [] }
  const assembled = [...ahead, ...own].filter(({ event_type }) => event_type === "prompt_assembled")
  const sent = attempts.at(-1) ?? call
  const answered = attempts.findLast(({ closed }) => closed !== undefined) ?? call
  return {
    n: call.n,
    step: call,
    lane: call.opened?.lane_id,
    isAuxiliary: call.attributes["auxiliary"] === true,
    manifests: manifestsFor(view, call, committed),
    told: assembled.findLast((event) => event.inferred_by === undefined),
    derived: assembled.findLast((event) => event.inferred_by !== undefined),
    request: requestOf(sent) ?? requestOf(call),
    account: accountOf(sent) ?? accountOf(call),
    response: textIn(payloadOf(answered.closed), "response_ref") ?? textIn(payloadOf(call.closed), "response_ref"),
    saidAfter: after,
  }
}

function contextWithoutCall({ step, manifests }: CommittedContext): RecordedContext {
  return {
    n: step.n,
    step,
    lane: step.opened?.lane_id,
    isAuxiliary: false,
    manifests,
    told: step.events.findLast((event) => event.event_type === "prompt_assembled" && event.inferred_by === undefined),
    derived: undefined,
    request: undefined,
    account: undefined,
    response: undefined,
    saidAfter: [],
  }
}

/** What a step said before a call was said about it, what it said behind it as well; the calls beside it are the borders. */
function eventsAround(view: RunView, parent: StepView, call: StepView): { ahead: Event[]; after: Event[] } {
  const sisters = parent.children.map((n) => view.steps[n - 1]!).filter(isCall)
  const from = sisters.findLast(({ n }) => n < call.n)?.at ?? Number.NEGATIVE_INFINITY
  const to = sisters.find(({ n }) => n > call.n)?.at ?? Number.POSITIVE_INFINITY
  const between = (low: number, high: number): Event[] =>
    parent.events.filter(({ sequence_no: at }) => at !== null && at > low && at < high)
  return { ahead: between(from, call.at), after: between(call.at, to) }
}

/** A step's manifest and the revisions that faults in it, or below it, appended. */
interface CommittedContext {
  readonly step: StepView
  readonly manifests: readonly Event[]
}

function committedContexts(view: RunView): readonly CommittedContext[] {
  const found = view.steps.flatMap((step) => step.events.filter(isManifest).map((event) => ({ step, event })))
  found.sort((a, b) => (a.event.sequence_no ?? LATER) - (b.event.sequence_no ?? LATER))
  const committed: { step: StepView; manifests: Event[] }[] = []
  for (const { step, event } of found) {
    const same = committed.filter(({ manifests }) => snapshotOf(manifests[0]) === snapshotOf(event))
    const isAround = ({ step: holder }: CommittedContext): boolean =>
      step.n === holder.n || isBelow(view, step.n, holder.n)
    // A run that fails after a step ended well says so in the run, and what it adds is still that step's.
    const revised = same.findLast(isAround) ?? same.at(-1)
    if (revised && (countIn(payloadOf(event), "revision") ?? 0) > 0) revised.manifests.push(event)
    else committed.push({ step, manifests: [event] })
  }
  return committed
}

/** What is said about a run after it ended has no place in its sequence. */
const LATER = Number.MAX_SAFE_INTEGER

/**
 * What was committed for this very call: in it or one of its tries, or by the step that makes it, since the call which that step made before.
 */
function manifestsFor(view: RunView, call: StepView, committed: readonly CommittedContext[]): readonly Event[] {
  const parent = call.parent === undefined ? undefined : view.steps[call.parent - 1]
  const before = parent?.children.map((n) => view.steps[n - 1]!).findLast((step) => isCall(step) && step.n < call.n)
  const isOwn = ({ n }: StepView): boolean => n === call.n || view.steps[n - 1]?.parent === call.n
  let best: CommittedContext | undefined
  for (const candidate of committed) {
    const at = candidate.manifests[0]?.sequence_no ?? LATER
    const isOfParent = candidate.step.n === parent?.n && at < call.at && at > (before?.at ?? Number.NEGATIVE_INFINITY)
    if ((isOfParent || isOwn(candidate.step)) && candidate.step.depth >= (best?.step.depth ?? 0)) best = candidate
  }
  return best?.manifests ?? []
}

const accountOf = ({ opened }: StepView): PromptAccount | undefined => promptAccountIn(payloadOf(opened))

const isManifest = ({ event_type }: Event): boolean => event_type === "context_manifest"
const snapshotOf = (event: Event | undefined): string | undefined => textIn(payloadOf(event), "snapshot_id")

function requestOf({ opened }: StepView): RequestOnRecord | undefined {
  const payload = payloadOf(opened)
  const hash = textIn(payload, "request_ref")
  if (hash === undefined) return undefined
  const ref = opened?.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)
  const isMasked = (ref?.mask_count ?? 0) > 0 || (ref?.masks?.length ?? 0) > 0
  return {
    hash,
    method: textIn(payload, "http_method"),
    url: textIn(payload, "url"),
    byteSize: ref?.byte_size,
    absent: ref?.absent,
    isVerbatim: ref !== undefined && ref.full_byte_size === undefined && !isMasked,
    isMasked,
    notOnWire: whyNotWire(ref?.mime_type),
  }
}
