import { OrangeboxError } from "@orangebox/contract"
import type { Run } from "@orangebox/runs"
import { Interner } from "@orangebox/text"
import type { Change, DiffItem, PayloadDiff, RunDiff, SideOfDiff, StepOfDiff } from "../generated.js"
import type { AlignmentWork } from "./align-sequences.js"
import { inOrderOfDivergence, isDifference, labelCauses } from "./causes.js"
import type { DiffStep } from "./diff-step.js"
import { type Divergences, findDivergences } from "./divergences.js"
import { featuresOf } from "./features.js"
import { markIncidental } from "./incidental.js"
import { hasOutput, isSameDecision, isSameQuestion, type Judged, judge, type Readers } from "./judge.js"
import { layOut, spineOf } from "./lay-out.js"
import { type BothRuns, matchRelated, matchUnrelated } from "./match-steps.js"
import type { Matching, Pair } from "./matching.js"
import { compareOutcomes } from "./outcome.js"
import { awaitPayloads, type Origins, payloadDiffs } from "./payload-diff.js"
import { type DiffRun, readSteps, withoutServedInside } from "./read-steps.js"
import { commonAncestor, namedPairs } from "./related.js"
import { RequestSignatures } from "./request-signatures.js"
import { type BodyReading, DEFAULT_PAYLOADS, type DiffOptions, type RunToDiff } from "./run-to-diff.js"
import { type BodySource, isStamped, StepReader } from "./step-reader.js"
import { findPropagation } from "./value-propagation.js"

/**
 * What two runs differ in: their steps aligned, each difference with its kind, its cause and its weight, and where the runs went apart.
 * A pure function; the same two runs give the same diff, and swapping them only swaps its sides.
 *
 * @example
 * const diff = diffRuns({ events, body }, { events: others, body }, { masks: ["iso_date"] })
 * diff.verdict       // "differs"
 * diff.items[diff.root!]
 */
export function diffRuns(a: RunToDiff, b: RunToDiff, options: DiffOptions = {}): RunDiff {
  const bodies = { a: bodiesOf(a, b), b: bodiesOf(b, a) }
  return comparison(a, b, bodies, options).diff()
}

/** A ref names the same bytes in every run, so one that kept them serves both; why they are not there is the run's own to say. */
function bodiesOf(run: RunToDiff, other: RunToDiff): BodySource {
  const body = (ref: string): BodyReading => {
    const own = run.body(ref)
    if (own instanceof Uint8Array) return own
    const found = other.body(ref)
    return found instanceof Uint8Array ? found : own
  }
  return { body, requestToSign: ({ inputRef }) => body(inputRef!), isSettled: () => true }
}

export interface Comparison {
  readonly signatures: RequestSignatures
  /** To be asked again when more bodies have come: what was found out about those that were there is not found out twice. */
  diff(): RunDiff
}

export function comparison(
  a: Omit<RunToDiff, "body">,
  b: Omit<RunToDiff, "body">,
  bodies: { readonly a: BodySource; readonly b: BodySource },
  options: DiffOptions,
): Comparison {
  const masks = options.masks ?? []
  const [wholeA, wholeB] = [stepsOf(a, "first", options), stepsOf(b, "second", options)]
  const [runA, runB] = [withoutServedInside(wholeA, wholeB), withoutServedInside(wholeB, wholeA)]
  const signatures = new RequestSignatures(masks, [...runA.steps, ...runB.steps].some(isStamped))
  const readers: Readers = {
    a: new StepReader(bodies.a, masks, signatures),
    b: new StepReader(bodies.b, masks, signatures),
  }
  return { signatures, diff: () => compareRuns(runA, runB, readers, options) }
}

function compareRuns(runA: DiffRun, runB: DiffRun, readers: Readers, options: DiffOptions): RunDiff {
  readers.a.startComparison()
  readers.b.startComparison()
  const isWaiting = (): boolean => readers.a.toCome + readers.b.toCome > 0
  const interner = new Interner()
  const runs: BothRuns = {
    a: featuresOf(runA, readers.a, interner),
    b: featuresOf(runB, readers.b, interner),
    interner,
  }

  const work: AlignmentWork = { cells: 0, anchors: 0, coarse: 0 }
  const { regime, matching, spine } = matchRuns(runA, runB, runs, options, work)
  const items = layOut(runA.steps, runB.steps, matching, spine).map((placed) =>
    judge(placed, readers, ({ a, b }) => [runs.a[a!.at]!, runs.b[b!.at]!]),
  )
  const order = inOrderOfDivergence(items)
  const { outcome, isOtherEnd } = compareOutcomes(runA, runB, readers)
  if (regime === "R2") markIncidental(items, readers, isOtherEnd)
  labelCauses(items, order)
  const ends = { beganAlike: areAskedTheSame(runA, runB, readers), isOtherEnd }
  const divergences = findDivergences(items, order, regime, ends, readers)
  const chosen = payloadsToCompare(order, divergences, options.payloads ?? DEFAULT_PAYLOADS)
  // Steps that are not aligned for certain yet may not be the ones whose payloads matter.
  if (!isWaiting()) awaitPayloads(items, chosen.all, readers)
  const compared = isWaiting() ? new Map<number, PayloadDiff[]>() : comparePayloads(items, chosen, readers)
  const { inSyncShare, ...found } = divergences
  return {
    v: 1,
    regime,
    verdict: order.length > 0 || outcome.differs ? "differs" : items.some(isNoise) ? "noise" : "same",
    a: sideOf(runA, readers.a),
    b: sideOf(runB, readers.b),
    stats: { ...countsOf(items), in_sync_share: inSyncShare, anchors: work.anchors, cells: work.cells },
    ...found,
    outcome,
    carry: findPropagation(items, divergences.root ?? divergences.first, readers),
    items: items.map((item, index) => itemOf(item, readers, compared.get(index) ?? null)),
    payloads_left_out: order.length - compared.size,
    notes: notesOf(
      work,
      readers,
      options.masks ?? [],
      runA.areToolsServed !== runB.areToolsServed ? outcome : undefined,
    ),
  }
}

/** Whether two runs are the same but for noise, their outcomes included. */
export const isEmptyDiff = ({ verdict }: Pick<RunDiff, "verdict">): boolean => verdict !== "differs"

/** As of diff(1): 0 for the same or noise, 1 for different. What cannot be compared throws, and is 2. */
export function exitCodeOf(diff: RunDiff): 0 | 1 {
  return isEmptyDiff(diff) ? 0 : 1
}

function stepsOf(run: Omit<RunToDiff, "body">, which: string, options: DiffOptions): DiffRun {
  const steps = readSteps(run, options)
  if (steps) return steps
  throw new OrangeboxError("DIFF_EMPTY_RUN", {
    what: `the ${which} run has no events`,
    next: "Name two recorded runs; `orangebox runs` lists them",
  })
}

/** Whether the first thing that a model was asked is the same. */
function areAskedTheSame(a: DiffRun, b: DiffRun, readers: Readers): boolean {
  const [firstA, firstB] = [a.steps.find(isModel), b.steps.find(isModel)]
  return firstA !== undefined && firstB !== undefined && isSameQuestion(firstA, firstB, readers)
}

const isModel = ({ kind, isAuxiliary }: DiffStep): boolean => kind === "model" && !isAuxiliary

interface Matched {
  readonly regime: RunDiff["regime"]
  readonly matching: Matching
  readonly spine: readonly Pair[]
}

/** Always from the older run to the newer, whichever was named first: equal costs are then broken the same way. */
function matchRuns(a: DiffRun, b: DiffRun, runs: BothRuns, options: DiffOptions, work: AlignmentWork): Matched {
  if ((a.run.runId ?? "") > (b.run.runId ?? "")) {
    const { regime, matching, spine } = matchRuns(b, a, { ...runs, a: runs.b, b: runs.a }, options, work)
    return { regime, matching: matching.swapped(), spine: spine.map(([x, y]) => [y, x]) }
  }
  const ancestor = commonAncestor(a, b, options.lineage)
  const matching =
    ancestor === undefined
      ? matchUnrelated(runs, work)
      : matchRelated(runs, namedPairs(a, b, ancestor, options.lineage), work)
  return { regime: ancestor === undefined ? "R2" : "R1", matching, spine: spineOf(matching) }
}

interface ChosenPayloads {
  /** Places in `items`, in order. */
  readonly all: readonly number[]
  /** Compared however much there is to read. */
  readonly isTelling: ReadonlySet<number>
}

/** What tells most first: where the runs went apart, then the differences in order. */
function payloadsToCompare(
  order: readonly number[],
  { first, root, decisive, tiers }: Divergences,
  most: number,
): ChosenPayloads {
  const isTelling = new Set(
    [first, root, decisive?.item, ...Object.values(tiers)].filter((index) => typeof index === "number"),
  )
  const chosen = new Set([...isTelling, ...order.slice(0, Math.max(0, most - isTelling.size))])
  return { all: [...chosen].sort((x, y) => x - y), isTelling }
}

function comparePayloads(
  items: readonly Judged[],
  { all, isTelling }: ChosenPayloads,
  readers: Readers,
): ReadonlyMap<number, PayloadDiff[]> {
  const compared = new Map<number, PayloadDiff[]>()
  const origins: Origins = new Map()
  // Aligning may have read much already, and that is no reason to say less about what it found.
  const readBefore = readers.a.bytesRead + readers.b.bytesRead
  for (const index of all) {
    const isTooMuch = readers.a.bytesRead + readers.b.bytesRead - readBefore > MAX_BYTES
    if (isTelling.has(index) || !isTooMuch) compared.set(index, payloadDiffs(items, index, readers, origins))
  }
  return compared
}

/** Requests carry their history, and histories may be megabytes each: behind this the payloads of further steps are left out. */
const MAX_BYTES = 64 * 1024 * 1024

const isNoise = ({ change }: Judged): boolean => change === "noise"

function countsOf(items: readonly Judged[]): Record<Change, number> {
  const counts = { same: 0, noise: 0, changed: 0, inserted: 0, removed: 0, moved: 0, reordered: 0 }
  for (const { change } of items) counts[change] += 1
  return counts
}

function sideOf({ run, runs, steps, foldedAttempts }: DiffRun, reader: StepReader): SideOfDiff {
  const totals = (figure: (run: Run) => number | null): number | null => {
    const known = runs.map(figure).filter((count) => count !== null)
    return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0)
  }
  const absent: Record<string, number> = {}
  for (const reason of reader.absences.values()) absent[reason] = (absent[reason] ?? 0) + 1
  return {
    run_id: run.runId ?? null,
    app: run.facts.app,
    entrypoint: run.facts.entrypoint,
    status: run.status,
    replay: run.replay
      ? {
          source_run_id: run.replay.source_run_id,
          reason: run.replay.replay_reason_code,
          fork_step_id: run.replay.fork_step_id,
          override_profile_id: run.replay.override_profile_id,
        }
      : null,
    runs: runs.slice(1).map(({ runId, facts, status }) => ({
      run_id: runId ?? "",
      entrypoint: facts.entrypoint,
      status,
    })),
    steps: runs.reduce((sum, { totals }) => sum + totals.steps, 0),
    compared: steps.length,
    folded_attempts: foldedAttempts,
    tokens_in: totals((one) => one.totals.tokens.input),
    tokens_out: totals((one) => one.totals.tokens.output),
    duration_us: run.durationUs ?? null,
    absent_bodies: absent,
  }
}

function itemOf(item: Judged, readers: Readers, payloads: PayloadDiff[] | null): DiffItem {
  const { a, b } = item
  return {
    kind: (a ?? b)!.kind,
    change: item.change,
    fields: [...item.fields],
    noise: [...item.noise],
    cause: isDifference(item) ? (item.cause ?? null) : null,
    tiers: [...item.tiers],
    incidental: item.isIncidental,
    distance: Math.round(item.distance * 1000) / 1000,
    a: a ? stepOf(a) : null,
    b: b ? stepOf(b) : null,
    decision: decisionsOf(item, readers),
    payloads,
  }
}

function decisionsOf({ a, b, fields }: Judged, readers: Readers): DiffItem["decision"] {
  if (a?.kind !== "model" || !b || !fields.includes("output") || !hasOutput(a) || !hasOutput(b)) return null
  if (isSameDecision(a, b, readers)) return null
  const calls = (step: DiffStep, reader: StepReader): string[] =>
    reader.answer(step)?.toolCalls.map(({ name }) => name) ?? [...step.requestedTools]
  return { a: calls(a, readers.a), b: calls(b, readers.b) }
}

function stepOf(step: DiffStep): StepOfDiff {
  return {
    n: step.n,
    run: step.inside ? { run_id: step.inside.runId, entrypoint: step.inside.entrypoint } : null,
    step_id: step.id ?? null,
    event_id: step.eventId ?? null,
    name: step.name,
    lane_id: step.lane ?? null,
    status: step.status,
    mode: step.mode,
    effect_class: step.effect ?? null,
    attempts: step.attempts,
    call_signature_hash: step.sig ?? null,
    output_ref: step.outputRef ?? null,
    duration_us: step.durationUs ?? null,
    tokens_in: step.inputTokens,
    tokens_out: step.outputTokens,
  }
}

function notesOf(
  work: AlignmentWork,
  readers: Readers,
  masks: readonly string[],
  served: RunDiff["outcome"] | undefined,
): RunDiff["notes"] {
  const notes: RunDiff["notes"] = []
  if (work.coarse > 0) {
    notes.push({
      code: "COARSE_ALIGNMENT",
      text: `${work.coarse} stretch(es) too long to align step by step were cut along the names of their steps first`,
    })
  }
  const absent = readers.a.absences.size + readers.b.absences.size
  if (absent > 0)
    notes.push({ code: "BODIES_ABSENT", text: `${absent} bodies are not there and were compared by hash` })
  if (served?.files_not_compared)
    notes.push({ code: "FILES_NOT_COMPARED", text: `files were not compared: ${served.files_not_compared}` })
  if (masks.length > 0) notes.push({ code: "MASKS", text: `differences under ${masks.join(", ")} count as noise` })
  return notes
}
