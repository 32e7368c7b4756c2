import {
  type AttributeValue,
  amountIn,
  type DeterminismMode,
  type Event,
  type Level,
  type Link,
  payloadOf,
  type StepKind,
  textIn,
} from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { type Crash, crashOf } from "./crash.js"
import { gatherInside } from "./inside-step.js"
import { allGaps } from "./lost-events.js"
import { priceSteps, type RunMoney } from "./money.js"
import { gapNote, type NoteView } from "./notes.js"
import { totalsOf } from "./run-totals.js"
import { soundEnvelope } from "./sound-envelope.js"
import {
  bodyBytesOf,
  type ErrorView,
  errorOf,
  type ModelView,
  modelOf,
  type PromptView,
  type ToolView,
  toolOf,
} from "./step-facts.js"
import { buildStepTree, type StepDraft } from "./step-tree.js"

/** What is known about one run, as values: nothing here reads a store. */
export interface RunInput {
  /** The run's own events in sequence order, and the annotations about it (`sequence_no: null`) in any place. */
  readonly events: readonly Event[]
  /** What was lost, as the collector counted it. */
  readonly gaps?: readonly Gap[]
  /** Bytes of bodies that were still streaming when the record stops. */
  readonly partials?: readonly PartialBody[]
  /** Whether the process that writes this run is known to be there still. Not knowing makes an unfinished run `silent`. */
  readonly isWriterAlive?: boolean
  /** The run's digest, where somebody has computed it. */
  readonly digest?: string
  /** What models cost; the built-in table where none is given. */
  readonly prices?: PriceTable
}

export interface Gap {
  readonly reason: string
  readonly count: number
  readonly fromSequence: number | null
  readonly toSequence: number | null
}

export interface PartialBody {
  readonly stepId: string
  /** What the bytes were going to be: `response`, `result`, … */
  readonly role: string
  readonly byteSize: number
}

/**
 * `completed` and `failed` were recorded by the run itself and win over everything. `crashed`: somebody proved that the writer died.
 * `running`: the writer is alive. `silent`: no end, and nobody knows why.
 */
export type RunStatus = "completed" | "failed" | "crashed" | "running" | "silent"

/** `open` has no end on record; `crashed` was open when its process died. */
export type StepStatus = "ok" | "error" | "timeout" | "partial" | "open" | "crashed"

export interface RunView {
  readonly runId: string | undefined
  readonly traceId: string | undefined
  readonly conversationId: string | undefined
  readonly app: string | undefined
  readonly entrypoint: string | undefined
  readonly input: string | undefined
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
  readonly kind: StepKind
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

export interface RunTotals {
  readonly events: number
  readonly annotations: number
  readonly steps: number
  readonly lost: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Steps that ended in an error or a timeout, attempts aside. */
  readonly errors: number
  /** Attempts that did; whether the call as a whole went wrong is the call's own status. */
  readonly failedAttempts: number
  readonly warnings: number
  readonly tokens: TokenTotals
  /** Events per determinism mode. */
  readonly modes: Readonly<Record<DeterminismMode, number>>
}

/** Sums over the calls that reported a figure, and how many did not: unknown is not zero. */
export interface TokenTotals {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Input tokens of the calls that reported cache reads: what the cached share is a share of. */
  readonly cacheReadOf: number
  readonly callsWithoutUsage: number
}

/** One run's events as a tree of numbered steps. Never throws, whatever the payloads hold. */
export function viewRun(input: RunInput): RunView {
  const own: Event[] = []
  const annotations: Event[] = []
  for (const given of input.events) {
    const event = soundEnvelope(given)
    if (event.sequence_no === null) annotations.push(event)
    else own.push(event)
  }

  const drafts = buildStepTree(own, annotations)
  const root = drafts[0]
  const terminal = root?.closed
  const crash = terminal ? undefined : crashOf(annotations, drafts)
  const status = runStatus(terminal, crash !== undefined, input.isWriterAlive === true)
  const gaps = allGaps(own, input.gaps ?? [])
  if (root) root.notes.push(...gaps.map(gapNote))

  const partials = partialsByStep(input.partials ?? [])
  const numbers = new Map(drafts.map((draft) => [draft.id, draft.n]))
  const numberOf = (stepId: string): number | undefined => numbers.get(stepId)
  const steps: StepView[] = new Array(drafts.length)
  // Backwards, so that a step's children are viewed before it: an error that only passes through is told once, where it began.
  for (let index = drafts.length - 1; index >= 0; index--) {
    steps[index] = viewStep(drafts[index]!, steps, partials, numberOf, status)
  }

  const opening = payloadOf(root?.opened)
  const first = own[0] ?? annotations[0]
  return {
    runId: first?.run_id ?? undefined,
    traceId: first?.trace_id ?? undefined,
    conversationId: own.find((event) => event.conversation_id !== undefined)?.conversation_id,
    app: textIn(opening, "app_id"),
    entrypoint: textIn(opening, "entrypoint_name"),
    input: steps[0]?.runInput,
    startedAt: own[0]?.timestamp_utc,
    status,
    durationUs: steps[0]?.durationUs ?? spanOf(own),
    steps,
    totals: totalsOf(own, annotations, steps, gaps),
    money: priceSteps(steps, input.prices),
    gaps,
    crash,
    replay: replayOf(own),
    digest: input.digest,
  }
}

function runStatus(terminal: Event | undefined, hasCrashed: boolean, isWriterAlive: boolean): RunStatus {
  if (terminal) return terminal.event_type === "run_failed" ? "failed" : "completed"
  if (hasCrashed) return "crashed"
  return isWriterAlive ? "running" : "silent"
}

function viewStep(
  draft: StepDraft,
  views: readonly StepView[],
  partials: ReadonlyMap<string, readonly PartialBody[]>,
  numberOf: (stepId: string) => number | undefined,
  run: RunStatus,
): StepView {
  const { opened, closed, events } = draft
  const first = opened ?? closed ?? events[0]
  const children = draft.children.map((child) => views[child.n - 1]!)
  const kind = draft.kind ?? "step"
  const inside = gatherInside(events)
  return {
    n: draft.n,
    id: draft.id,
    kind,
    workKind: opened?.event_type === "step_started" ? textIn(payloadOf(opened), "kind") : undefined,
    name: nameOf(draft),
    runInput: kind === "run" ? (textIn(payloadOf(opened), "input_summary") ?? inputSummary(draft)) : undefined,
    parent: draft.parent?.n,
    depth: draft.depth,
    children: children.length === 0 ? NONE : children.map((child) => child.n),
    at: draft.at,
    opened,
    closed,
    events,
    durationUs: durationOf(opened, closed),
    status: closed ? statusOf(closed) : run === "crashed" ? "crashed" : "open",
    isInnermostOpen: !closed && children.every((child) => child.closed !== undefined),
    error: errorOf(closed, children, numberOf),
    model: kind === "model" ? modelOf(opened, closed) : undefined,
    tool: kind === "tool" ? toolOf(opened, closed) : undefined,
    prompts: inside.prompts,
    bodyBytes: bodyBytesOf(events),
    partials: (draft.id === undefined ? undefined : partials.get(draft.id)) ?? NONE,
    attributes: inside.attributes,
    logs: inside.logs,
    links: inside.links,
    notes: draft.notes.length > 1 ? draft.notes.sort((a, b) => a.at - b.at) : draft.notes,
    attemptNo: first?.attempt_no,
    attempts: children.reduce((count, child) => count + (child.attemptNo === undefined ? 0 : 1), 0),
    inferredBy: first?.inferred_by,
    mode: closed?.determinism_mode ?? first?.determinism_mode ?? "live",
  }
}

const NONE: readonly never[] = []

function nameOf(draft: StepDraft): string | undefined {
  const opening = payloadOf(draft.opened)
  const closing = payloadOf(draft.closed)
  switch (draft.kind) {
    case "run":
      return textIn(opening, "entrypoint_name")
    case "model":
      return textIn(closing, "model_id") ?? textIn(opening, "model_id") ?? textIn(opening, "provider")
    case "tool":
      return textIn(opening, "tool_name") ?? textIn(closing, "tool_name")
    default:
      return textIn(opening, "name")
  }
}

function statusOf(closed: Event): StepStatus {
  if (closed.event_type === "run_completed") return "ok"
  if (closed.event_type === "run_failed") return "error"
  const payload = payloadOf(closed)
  switch (textIn(payload, "status")) {
    case "error":
    case "timeout":
    case "partial":
      return textIn(payload, "status") as StepStatus
    case undefined:
      // Schema 1.0 has no status on model_result; a named error class is what it says instead.
      return textIn(payload, "error_class") === undefined ? "ok" : "error"
    default:
      return "ok"
  }
}

/** The monotonic clock where both ends are there, else what the closing record says it took. */
function durationOf(opened: Event | undefined, closed: Event | undefined): number | undefined {
  if (!closed) return undefined
  const elapsed = opened ? closed.mono_us - opened.mono_us : Number.NaN
  if (elapsed >= 0) return elapsed
  const payload = payloadOf(closed)
  const ms = amountIn(payload, "latency_ms") ?? amountIn(payload, "total_latency_ms")
  return ms === undefined ? undefined : ms * 1000
}

function spanOf(own: readonly Event[]): number | undefined {
  const first = own[0]?.mono_us
  const last = own.at(-1)?.mono_us
  return first !== undefined && last !== undefined && last >= first ? last - first : undefined
}

function inputSummary(root: StepDraft): string | undefined {
  const received = root.events.find((event) => event.event_type === "input_received")
  return textIn(payloadOf(received), "input_summary")
}

function replayOf(own: readonly Event[]): ReplayView | undefined {
  const replay = own.find((event) => event.replay !== undefined)?.replay
  if (!replay) return undefined
  return { sourceRunId: replay.source_run_id, reason: replay.replay_reason_code, isFork: replay.fork_step_id !== null }
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
