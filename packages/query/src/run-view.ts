import {
  type AttributeValue,
  type DeterminismMode,
  type Event,
  type Level,
  type Link,
  payloadOf,
  textIn,
} from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import {
  type Crash,
  type FoldedKind,
  type RunTotals as FoldedTotals,
  foldRun,
  type Gap,
  type Run,
  type RunStatus,
  type Step,
  type StepStatus,
} from "@orangebox/runs"
import { setPromptsBefore } from "./context/prompts-by-lane.js"
import { injectedOpening } from "./injected-contexts.js"
import { gatherInside } from "./inside-step.js"
import { priceSteps, type RunMoney } from "./money.js"
import { addNotes, gapNote, inboundNote, injectedNote, type NoteView, type PromptStory, promptStory } from "./notes.js"
import {
  bodyBytesOf,
  type ErrorView,
  errorOf,
  type ModelView,
  modelOf,
  type PromptView,
  type QueueView,
  queueOf,
  type ToolView,
  toolOf,
} from "./step-facts.js"

/** What is known about one run, as values: nothing here reads a store. */
export interface RunInput {
  /** The run's own events and the annotations about it, in any order. */
  readonly events: readonly Event[]
  /** What was lost, as the collector counted it. */
  readonly gaps?: readonly Gap[]
  /** Bytes of bodies that were still streaming when the record stops. */
  readonly partials?: readonly PartialBody[]
  /** Links that other runs hold to this one or to its steps, in order of time. */
  readonly inbound?: readonly InboundLink[]
  /** Whether the process that writes this run is known to be there still. Not knowing makes an unfinished run `silent`. */
  readonly isWriterAlive?: boolean
  /** The run's digest, where it can be told. */
  readonly digest?: string | undefined
  /** What models cost; the built-in table where none is given. */
  readonly prices?: PriceTable
}

export interface PartialBody {
  readonly stepId: string
  /** What the bytes were going to be: `response`, `result`, … */
  readonly role: string
  readonly byteSize: number
  /** So many more had come that had not been searched for secrets yet, and so were not written. */
  readonly withheldBytes?: number
}

/** A link seen from where it points to. */
export interface InboundLink {
  readonly link: Link
  /** The run that recorded it; undefined for this one. */
  readonly runId: string | undefined
  /** The step of that run, where it is known. */
  readonly no: number | null
  readonly name: string | null
}

export interface RunView {
  readonly runId: string | undefined
  readonly traceId: string | undefined
  readonly conversationId: string | undefined
  readonly app: string | undefined
  readonly entrypoint: string | undefined
  readonly input: string | undefined
  /** The code that ran, where it is known: what was checked out, and whether files differed from it. */
  readonly branch: string | undefined
  readonly commit: string | undefined
  readonly isDirty: boolean | undefined
  readonly startedAt: string | undefined
  readonly status: RunStatus
  /** From the opening to the end, or to the last thing recorded when there is no end. */
  readonly durationUs: number | undefined
  /** In opening order; `steps[n - 1]` is step #n, and #1 is the run itself. */
  readonly steps: readonly StepView[]
  readonly totals: RunTotals
  readonly money: RunMoney
  readonly gaps: readonly Gap[]
  readonly crash: Crash | undefined
  /** Where this run came from, if it is a replay. */
  readonly replay: ReplayView | undefined
  readonly digest: string | undefined
}

export interface ReplayView {
  readonly sourceRunId: string
  readonly reason: string
  readonly isFork: boolean
}

export interface StepView {
  readonly n: number
  readonly id: string | undefined
  readonly kind: FoldedKind
  /** The kind the application gave a plain step: retrieval, queue.deliver, … */
  readonly workKind: string | undefined
  readonly name: string | undefined
  /** What the run was asked to do; only on step #1. */
  readonly runInput: string | undefined
  readonly parent: number | undefined
  readonly depth: number
  readonly children: readonly number[]
  /** Sequence number of the first thing known about it: its place among its siblings and their notes. */
  readonly at: number
  /** Absent when the record of the opening was lost. */
  readonly opened: Event | undefined
  readonly closed: Event | undefined
  /** Everything recorded in this step, in order, and what was said about it later. */
  readonly events: readonly Event[]
  readonly durationUs: number | undefined
  readonly status: StepStatus
  /** Has no end, and nothing below it is without one: this is where the work stood. The steps around it only waited. */
  readonly isInnermostOpen: boolean
  readonly error: ErrorView | undefined
  readonly model: ModelView | undefined
  readonly tool: ToolView | undefined
  readonly prompts: readonly PromptView[]
  /** Bytes of all the bodies its events name. */
  readonly bodyBytes: number
  readonly partials: readonly PartialBody[]
  readonly attributes: { readonly [name: string]: AttributeValue }
  readonly logs: Readonly<Record<Level, number>>
  readonly links: readonly Link[]
  /** Links of other steps and runs that point here, unless this step says the same itself. */
  readonly linkedFrom: readonly InboundLink[]
  /** What is known of a message on its way; only on steps whose kind is `queue.…`. */
  readonly queue: QueueView | undefined
  /** What is worth a line of its own: prompt assembly, warnings, faults, verdicts, links, losses. */
  readonly notes: readonly NoteView[]
  /** Which attempt of its parent this is. */
  readonly attemptNo: number | undefined
  /** How many attempts this call took, where they were recorded. */
  readonly attempts: number
  /** Who deduced that this step happened; absent means it was observed. */
  readonly inferredBy: string | undefined
  readonly mode: DeterminismMode
}

export interface RunTotals extends FoldedTotals {
  readonly warnings: number
}

/** One run's events as a tree of numbered steps. Never throws, whatever the payloads hold. */
export function viewRun(input: RunInput): RunView {
  const run = foldRun(input.events, {
    ...(input.gaps === undefined ? {} : { gaps: input.gaps }),
    isWriterAlive: input.isWriterAlive === true,
  })
  const partials = partialsByStep(input.partials ?? [])
  const steps: StepView[] = new Array(run.steps.length)
  const prompts = promptStory(run.own)
  const inbound = inboundByStep(input.inbound ?? [], run)
  let warnings = 0
  // Backwards, so that a step's children are viewed before it: an error that only passes through is shown once, where it began.
  for (let index = run.steps.length - 1; index >= 0; index--) {
    const view = viewStep(run.steps[index]!, run, steps, { partials, prompts, inbound })
    for (const note of view.notes) if (note.weight !== "plain") warnings += 1
    steps[index] = view
  }
  const { own, facts, replay } = run
  const opening = payloadOf(run.steps[0]?.opened)
  const isDirty = opening["is_dirty"]
  const view: RunView = {
    runId: run.runId,
    traceId: facts.traceId ?? undefined,
    conversationId: facts.conversationId ?? undefined,
    app: facts.app ?? undefined,
    entrypoint: facts.entrypoint ?? undefined,
    input: facts.input ?? undefined,
    branch: textIn(opening, "branch"),
    commit: textIn(opening, "commit"),
    isDirty: typeof isDirty === "boolean" ? isDirty : undefined,
    startedAt: (run.steps[0]?.opened ?? own[0])?.timestamp_utc,
    status: run.status,
    durationUs: run.durationUs,
    steps,
    totals: { ...run.totals, warnings },
    money: priceSteps(steps, input.prices),
    gaps: run.gaps,
    crash: run.crash,
    replay: replay && {
      sourceRunId: replay.source_run_id,
      reason: replay.replay_reason_code,
      isFork: replay.fork_step_id !== null,
    },
    // Read when it is shown: a caller may work it out only then.
    get digest() {
      return input.digest
    },
  }
  setPromptsBefore(view)
  return view
}

function viewStep(
  step: Step,
  run: Run,
  views: readonly StepView[],
  {
    partials,
    prompts,
    inbound,
  }: {
    readonly partials: ReadonlyMap<string, readonly PartialBody[]>
    readonly prompts: PromptStory
    readonly inbound: ReadonlyMap<Step, readonly InboundLink[]>
  },
): StepView {
  const { opened, closed, events, kind } = step
  const children = step.children.map((child) => views[child.no - 1]!)
  const inside = gatherInside(events)
  const workKind = opened?.event_type === "step_started" ? textIn(payloadOf(opened), "kind") : undefined
  const linkedFrom = linkedFromOf(step, run, inbound.get(step) ?? NONE)
  return {
    n: step.no,
    id: step.id || undefined,
    kind,
    workKind,
    name: step.name,
    runInput: kind === "run" ? (run.facts.input ?? undefined) : undefined,
    parent: step.parent?.no,
    depth: step.depth,
    children: children.length === 0 ? NONE : children.map((child) => child.n),
    at: step.at,
    opened,
    closed,
    events,
    durationUs: step.durationUs,
    status: step.status,
    isInnermostOpen: !closed && children.every((child) => child.closed !== undefined || child.attemptNo !== undefined),
    error: errorOf(closed, children, (stepId) => run.stepOf(stepId)?.no),
    model: kind === "model" ? modelOf(step) : undefined,
    tool: kind === "tool" ? toolOf(opened, closed) : undefined,
    prompts: inside.prompts,
    bodyBytes: bodyBytesOf(events),
    partials: partials.get(step.id) ?? openTryOf(step, children)?.partials ?? NONE,
    attributes: inside.attributes,
    logs: inside.logs,
    links: step.links,
    linkedFrom,
    queue: workKind?.startsWith("queue.") ? queueOf(inside.attributes) : undefined,
    notes: notesOf(step, run, prompts, linkedFrom),
    attemptNo: step.attemptNo,
    attempts: step.attempts.length,
    inferredBy: step.inferredBy,
    mode: step.mode,
  }
}

const NONE: readonly never[] = []

/** What a call has of its answer, its last try has, until that ends. */
function openTryOf({ closed }: Step, children: readonly StepView[]): StepView | undefined {
  return closed ? undefined : children.findLast((child) => child.attemptNo !== undefined && !child.closed)
}

function notesOf(step: Step, run: Run, prompts: PromptStory, linkedFrom: readonly InboundLink[]): readonly NoteView[] {
  const notes: NoteView[] = linkedFrom.map((inbound) => inboundNote(inbound, step.at))
  // How an unfinished run ended has a line of its own, below all others.
  for (const event of step.events) if (event !== run.crash?.event) addNotes(notes, event, prompts)
  const injected = injectedOpening(step)
  if (injected) notes.push(injectedNote(injected))
  if (step.no === 1) notes.push(...run.gaps.map(gapNote))
  return notes.length > 1 ? notes.sort((a, b) => a.at - b.at) : notes
}

/** A link that names only the run means its root. */
function inboundByStep(inbound: readonly InboundLink[], run: Run): ReadonlyMap<Step, readonly InboundLink[]> {
  const byStep = new Map<Step, InboundLink[]>()
  for (const one of inbound) {
    const step = (one.link.step_id === undefined ? undefined : run.stepOf(one.link.step_id)) ?? run.steps[0]
    if (step === undefined) continue
    const list = byStep.get(step)
    if (list) list.push(one)
    else byStep.set(step, [one])
  }
  return byStep
}

function linkedFromOf(step: Step, run: Run, fromOthers: readonly InboundLink[]): readonly InboundLink[] {
  const within = step.linkedFrom.filter(({ link }) => link.kind !== "follows")
  if (within.length === 0 && fromOthers.length === 0) return NONE
  const own = within.map(({ no, link }) => ({ link, runId: undefined, no, name: run.steps[no - 1]?.name ?? null }))
  return [...own, ...fromOthers].filter(
    ({ link, runId = run.runId }) =>
      !step.links.some(({ kind, run_id }) => kind === INVERSE[link.kind] && run_id === runId),
  )
}

/** What the other end says of the same edge. */
const INVERSE: { readonly [kind in Link["kind"]]?: Link["kind"] } = {
  spawned: "spawned_by",
  spawned_by: "spawned",
  caused: "caused_by",
  caused_by: "caused",
}

function partialsByStep(partials: readonly PartialBody[]): ReadonlyMap<string, readonly PartialBody[]> {
  const byStep = new Map<string, PartialBody[]>()
  for (const partial of partials) {
    const list = byStep.get(partial.stepId)
    if (list) list.push(partial)
    else byStep.set(partial.stepId, [partial])
  }
  return byStep
}
