import type { AbsentReason, Event } from "@orangebox/contract"
import { countIn, payloadOf, recordsIn, textIn } from "../payload-reading.js"
import type { RunView, StepView } from "../run-view.js"

/** One context of a run, and where what is known about it is recorded. */
export interface RecordedContext {
  /** The step that saw it: a model call, or the step it was compiled for where no call followed. */
  readonly n: number
  readonly step: StepView
  /** Which conversation of several in one run; undefined where there is only one. */
  readonly lane: string | undefined
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
}

/** The contexts of a run in the order in which they were sent. */
export function recordedContexts(view: RunView): readonly RecordedContext[] {
  const claimed = new Set<Event>()
  const contexts = view.steps.filter(isCall).map((call) => {
    const context = contextOfCall(view, call)
    for (const manifest of context.manifests) claimed.add(manifest)
    return context
  })
  for (const step of view.steps) {
    for (const group of manifestGroups(step)) {
      if (group.some((manifest) => claimed.has(manifest))) continue
      contexts.push(contextWithoutCall(step, group))
    }
  }
  return contexts.sort((a, b) => a.n - b.n)
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

/** The context that stands before another: the one it goes on from where that is on record, else the last of its lane. */
export function previousContext(
  contexts: readonly RecordedContext[],
  context: RecordedContext,
): RecordedContext | undefined {
  const before = contexts.slice(0, contexts.indexOf(context)).filter((other) => isComparable(other, context))
  const followed = context.step.links.flatMap(({ kind, step_id }) => (kind === "follows" ? [step_id] : []))
  return (
    before.findLast(({ step }) => followed.includes(step.id)) ?? before.findLast(({ lane }) => lane === context.lane)
  )
}

/** Items of a manifest have names of their own, segments of a request have not. */
const isComparable = (other: RecordedContext, context: RecordedContext): boolean =>
  !other.isAuxiliary && other.manifests.length > 0 === context.manifests.length > 0

const isCall = (step: StepView): boolean => step.kind === "model" && step.attemptNo === undefined

function contextOfCall(view: RunView, call: StepView): RecordedContext {
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
    manifests: manifestsFor(call, own, parent),
    told: assembled.findLast((event) => event.inferred_by === undefined),
    derived: assembled.findLast((event) => event.inferred_by !== undefined),
    request: requestOf(sent) ?? requestOf(call),
    response: textIn(payloadOf(answered.closed), "response_ref") ?? textIn(payloadOf(call.closed), "response_ref"),
    saidAfter: after,
  }
}

function contextWithoutCall(step: StepView, manifests: readonly Event[]): RecordedContext {
  return {
    n: step.n,
    step,
    lane: step.opened?.lane_id,
    isAuxiliary: false,
    manifests,
    told: step.events.findLast((event) => event.event_type === "prompt_assembled" && event.inferred_by === undefined),
    derived: undefined,
    request: undefined,
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

/** A call's own manifest, or the last one that its step had committed before it. */
function manifestsFor(call: StepView, own: readonly Event[], parent: StepView | undefined): readonly Event[] {
  const mine = own.filter(isManifest)
  if (mine.length > 0) return mine
  const groups = parent ? manifestGroups(parent) : []
  return groups.findLast(([first]) => first !== undefined && (first.sequence_no ?? 0) < call.at) ?? []
}

/** A manifest and the revisions that faults appended to it. */
function manifestGroups(step: StepView): readonly (readonly Event[])[] {
  const groups: Event[][] = []
  for (const event of step.events.filter(isManifest)) {
    const revision = countIn(payloadOf(event), "revision") ?? 0
    const group = revision > 0 ? groups.findLast((other) => snapshotOf(other[0]) === snapshotOf(event)) : undefined
    if (group) group.push(event)
    else groups.push([event])
  }
  return groups
}

const isManifest = ({ event_type }: Event): boolean => event_type === "context_manifest"
const snapshotOf = (event: Event | undefined): string | undefined => textIn(payloadOf(event), "snapshot_id")

function requestOf({ opened }: StepView): RequestOnRecord | undefined {
  const payload = payloadOf(opened)
  const hash = textIn(payload, "request_ref")
  if (hash === undefined) return undefined
  const ref = opened?.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)
  return {
    hash,
    method: textIn(payload, "http_method"),
    url: textIn(payload, "url"),
    byteSize: ref?.byte_size,
    absent: ref?.absent,
    isVerbatim: ref !== undefined && ref.full_byte_size === undefined && !ref.mask_count && !ref.masks?.length,
  }
}
