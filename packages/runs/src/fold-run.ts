import { type DeterminismMode, type Event, type Link, payloadOf, textIn } from "@orangebox/contract"
import { type Crash, crashOf } from "./crash.js"
import type { FoldedKind, FoldedStep, StepStatus } from "./folded-step.js"
import { allGaps, type Gap } from "./lost-events.js"
import { durationOfRun, type RunFacts, type RunStatus, statusOfRun } from "./run-facts.js"
import { RunFold } from "./run-fold.js"
import { isLink, soundEnvelope } from "./sound-envelope.js"
import { hasUsage, type TokenCounts, usageIn } from "./token-counts.js"

/** A run as every reader sees it. */
export interface Run {
  readonly runId: string | undefined
  readonly facts: RunFacts
  readonly status: RunStatus
  /** From the opening to the end, or to the last thing recorded when there is no end. */
  readonly durationUs: number | undefined
  /** `steps[n - 1]` is step #n, and #1 is the run itself. Empty when there is no event at all. */
  readonly steps: readonly Step[]
  /** The step an id stands for; also an id that turned out to be the run's own. */
  stepOf(stepId: string): Step | undefined
  /** Each once, envelopes sound: what the run's writer said in its order, and then what others said about it. */
  readonly events: readonly Event[]
  /** Of these, what its writer said. */
  readonly own: readonly Event[]
  /** What others said about it. */
  readonly annotations: readonly Event[]
  /** The gaps that were recorded, and holes in the sequence that none of them explains. */
  readonly gaps: readonly Gap[]
  readonly crash: Crash | undefined
  readonly replay: Event["replay"]
  readonly totals: RunTotals
}

export interface Step {
  readonly no: number
  /** Empty for the root of a run none of whose events names it. */
  readonly id: string
  readonly parent: Step | undefined
  readonly children: readonly Step[]
  readonly depth: number
  readonly kind: FoldedKind
  readonly name: string | undefined
  readonly provider: string | undefined
  readonly status: StepStatus
  readonly opened: Event | undefined
  readonly closed: Event | undefined
  /** Everything recorded in this step, in order, and then what was said about it later. */
  readonly events: readonly Event[]
  /** Sequence number of the first thing known about it: its place among its siblings. */
  readonly at: number
  /** What the monotonic clock says went by between its two records; the latency its end records where one is missing. */
  readonly durationUs: number | undefined
  /** Which try of its parent this is; undefined for what is no attempt. */
  readonly attemptNo: number | undefined
  /** The tries of this call, in order. */
  readonly attempts: readonly Step[]
  readonly laneId: string | undefined
  readonly errorClass: string | undefined
  /** A call that does not say has those of the last of its attempts that does. */
  readonly tokens: TokenCounts
  readonly links: readonly Link[]
  /** Links of other steps of the run that end here. */
  readonly linkedFrom: readonly { readonly no: number; readonly link: Link }[]
  /** What deduced that this step happened; absent means it was observed. */
  readonly inferredBy: string | undefined
  readonly mode: DeterminismMode
  /** A replay made it up, here or in the run that this one replays. */
  readonly isMadeUp: boolean
}

export interface RunTotals {
  readonly events: number
  readonly annotations: number
  readonly steps: number
  readonly lost: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Steps that ended in an error or a timeout, attempts and the run itself aside. */
  readonly errors: number
  /** Attempts that did; whether the call as a whole went wrong is the call's own status. */
  readonly failedAttempts: number
  readonly tokens: TokenTotals
  /** Events per determinism mode. */
  readonly modes: Readonly<Record<DeterminismMode, number>>
}

/** Sums over the calls that reported a figure, null where none did, and how many said nothing: unknown is not zero. */
export interface TokenTotals {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  /** Input tokens of the calls that reported cache reads: what the cached share is a share of. */
  readonly cacheReadOf: number | null
  readonly callsWithoutUsage: number
}

export interface FoldRunOptions {
  /** What was lost, as the collector counted it. */
  readonly gaps?: readonly Gap[]
  /** Whether the process that writes this run is known to be there still. Not knowing makes an unfinished run `silent`. */
  readonly isWriterAlive?: boolean
}

type Draft = { -readonly [K in keyof Step]: Step[K] } & {
  parent: Draft | undefined
  children: Draft[]
  attempts: Draft[]
  events: Event[]
  links: readonly Link[]
  linkedFrom: { no: number; link: Link }[]
}

/**
 * One run's events, in any order and with annotations among them, as a tree of numbered steps. Never throws, whatever the payloads hold.
 *
 *     const run = foldRun(events)
 *     run.steps[2].status     // of #3
 *
 * Of two events with one id the first counts; two events with one sequence number both count, in the order in which they are given.
 */
export function foldRun(events: readonly Event[], options: FoldRunOptions = {}): Run {
  const { own, annotations } = inOrder(events)
  const fold = new RunFold<Event>({}, undefined)
  const drafts: Draft[] = []
  const draftOf = (step: FoldedStep<Event>, at: number): Draft => {
    // A parent that was named has a smaller number than the step that named it.
    while (drafts.length < step.no) drafts.push(newDraft(at))
    return drafts[step.no - 1]!
  }
  const folded: FoldedStep<Event>[] = []
  for (const event of own) {
    const step = fold.take(event, event, Date.parse(event.timestamp_utc) || 0)!
    for (let at: FoldedStep<Event> | null = step; at !== null && folded[at.no - 1] === undefined; at = at.parent) {
      folded[at.no - 1] = at
    }
    draftOf(step, event.sequence_no ?? 0).events.push(event)
  }
  for (const event of annotations) fold.take(event, event, 0)
  if (own.length > 0 || annotations.length > 0) {
    draftOf(fold.steps.root, 0)
    folded[0] = fold.steps.root
  }
  const stepOf = (stepId: string): Draft | undefined => drafts[(fold.steps.find(stepId)?.no ?? 0) - 1]

  const { facts } = fold
  const status = statusOfRun(facts, options.isWriterAlive === true)
  for (const [index, draft] of drafts.entries()) fill(draft, folded[index]!, drafts, status)
  const crash = facts.end === null ? crashIn(annotations, drafts, stepOf) : undefined
  for (const event of annotations) {
    // Of an unfinished run, how it ended is shown once, where it stood.
    if (crash !== undefined && isCrash(event)) {
      if (event === crash.event) drafts[(crash.step ?? 1) - 1]!.events.push(event)
      continue
    }
    const subject = textIn(payloadOf(event), "subject_step_id") ?? event.step_id
    const draft = (subject === null ? undefined : stepOf(subject)) ?? drafts[0]!
    draft.events.push(event)
  }
  linkSteps(drafts, own[0]?.run_id ?? null, stepOf)

  const gaps = allGaps(own, options.gaps ?? [])
  const doubt = gaps.find(({ mayBeEnd }) => mayBeEnd)
  const first = own[0] ?? annotations[0]
  return {
    runId: first?.run_id ?? undefined,
    facts,
    status,
    durationUs: durationOfRun(facts, fold.steps.root) ?? undefined,
    steps: drafts,
    stepOf,
    events: annotations.length === 0 ? own : [...own, ...annotations],
    own,
    annotations,
    gaps,
    crash: crash && doubt ? { ...crash, doubt: doubt.reason } : crash,
    replay: own.find((event) => event.replay !== undefined)?.replay,
    totals: totalsOf(own, annotations, drafts, facts, gaps),
  }
}

/** Own events by sequence and annotations as given, each once. A run that was read from a store already is in this order. */
export function inOrder(events: readonly Event[]): { own: Event[]; annotations: Event[] } {
  const own: Event[] = []
  const annotations: Event[] = []
  const seen = new Set<string>()
  let isSorted = true
  let last = -1
  for (const given of events) {
    const event = soundEnvelope(given)
    // Events of schema 1.0 have no id; their place is what they are known by.
    const id = typeof given.event_id === "string" ? given.event_id : `~${event.sequence_no}`
    if (seen.size === seen.add(id).size) continue
    if (event.sequence_no === null) {
      annotations.push(event)
      continue
    }
    if (event.sequence_no < last) isSorted = false
    last = event.sequence_no
    own.push(event)
  }
  if (!isSorted) own.sort((one, other) => one.sequence_no! - other.sequence_no!)
  return { own, annotations }
}

/** The links an event carries, on its envelope or as its payload. */
export function linksOf(event: Event): readonly Link[] {
  const links = event.links ?? NONE
  if (event.event_type !== "link_added") return links
  const added: unknown = payloadOf(event)["link"]
  return isLink(added) ? [...links, added] : links
}

/** The record that says what a model step used: its end, or where that says nothing, that of the attempt whose usage it took over. */
export function usageRecordOf({ closed, attempts }: Step): Event | undefined {
  if (hasUsage(usageIn(payloadOf(closed)))) return closed
  const said = attempts.findLast(({ tokens }) => hasUsage(tokens))
  return said === undefined ? closed : usageRecordOf(said)
}

const NONE: readonly never[] = []

function newDraft(at: number): Draft {
  return { events: [], at } as unknown as Draft
}

function fill(draft: Draft, step: FoldedStep<Event>, drafts: readonly Draft[], run: RunStatus): void {
  const { opened, closed } = step
  const parent = step.parent === null ? undefined : drafts[step.parent.no - 1]
  const first = opened ?? closed ?? draft.events[0]
  draft.no = step.no
  draft.id = step.id
  draft.parent = parent
  draft.children = []
  draft.attempts = []
  draft.depth = parent === undefined ? 0 : parent.depth + 1
  draft.kind = step.kind
  draft.name = step.name ?? undefined
  draft.provider = step.provider ?? undefined
  draft.status = step.status === "open" && run === "crashed" ? "crashed" : step.status
  draft.opened = opened ?? undefined
  draft.closed = closed ?? undefined
  draft.durationUs = step.durationMicros ?? undefined
  draft.attemptNo = step.isAttempt ? (step.saidAttempt ?? undefined) : undefined
  draft.laneId = first?.lane_id
  draft.errorClass = step.errorClass ?? undefined
  draft.tokens = step.tokens
  draft.links = NONE
  draft.linkedFrom = []
  draft.inferredBy = first?.inferred_by
  draft.mode = closed?.determinism_mode ?? first?.determinism_mode ?? "live"
  draft.isMadeUp =
    draft.mode === "simulated" || (draft.mode === "exact" && opened?.attributes?.["source_mode"] === "simulated")
  parent?.children.push(draft)
  if (step.isAttempt) parent?.attempts.push(draft)
}

function linkSteps(drafts: readonly Draft[], runId: string | null, stepOf: (id: string) => Draft | undefined): void {
  for (const draft of drafts) {
    for (const event of draft.events) {
      const links = linksOf(event)
      if (links.length === 0) continue
      draft.links = draft.links.length === 0 ? links : [...draft.links, ...links]
      for (const link of links) {
        if (link.step_id === undefined || (link.run_id !== undefined && link.run_id !== runId)) continue
        stepOf(link.step_id)?.linkedFrom.push({ no: draft.no, link })
      }
    }
  }
}

function crashIn(
  annotations: readonly Event[],
  steps: readonly Step[],
  stepOf: (id: string) => Step | undefined,
): Crash | undefined {
  const event = annotations.findLast(isCrash)
  const openStep = (): Step | undefined => steps.findLast((step) => !step.closed)
  return event && crashOf(event, (named) => callOf((named === undefined ? undefined : stepOf(named)) ?? openStep())?.no)
}

/** A try is told with its call, so what happened in it happened in the call. */
function callOf(step: Step | undefined): Step | undefined {
  return step?.attemptNo === undefined ? step : callOf(step.parent)
}

const isCrash = ({ event_type }: Event): boolean => event_type === "process_crashed"

function totalsOf(
  own: readonly Event[],
  annotations: readonly Event[],
  steps: readonly Step[],
  facts: RunFacts,
  gaps: readonly Gap[],
): RunTotals {
  const modes: Record<DeterminismMode, number> = { live: 0, exact: 0, cached: 0, simulated: 0 }
  for (const event of own) if (Object.hasOwn(modes, event.determinism_mode)) modes[event.determinism_mode] += 1
  let failedAttempts = 0
  let callsWithoutUsage = 0
  let cacheReadOf: number | null = null
  for (const { kind, attemptNo, status, tokens } of steps) {
    if (attemptNo !== undefined) {
      if (status === "error" || status === "timeout") failedAttempts++
    } else if (kind === "model") {
      if (!hasUsage(tokens)) callsWithoutUsage++
      if (tokens.cacheRead !== null) cacheReadOf = (cacheReadOf ?? 0) + (tokens.prompt ?? 0)
    }
  }
  return {
    events: own.length,
    annotations: annotations.length,
    steps: steps.length,
    lost: gaps.reduce((sum, gap) => sum + gap.count, 0),
    modelCalls: facts.modelCalls,
    toolCalls: facts.toolCalls,
    errors: facts.errors,
    failedAttempts,
    tokens: {
      input: facts.tokens.prompt,
      output: facts.tokens.completion,
      cacheRead: facts.tokens.cacheRead,
      cacheReadOf,
      callsWithoutUsage,
    },
    modes,
  }
}
