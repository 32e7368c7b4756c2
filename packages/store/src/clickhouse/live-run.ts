import type { Event } from "@orangebox/contract"
import type { PriceTable } from "@orangebox/dialects"
import { durationOfRun, type FoldedStep, isSequence, RunFold } from "@orangebox/runs"
import { ORIGINS } from "../codes.js"
import { column } from "../column-text.js"
import type { Row } from "../row-values.js"
import { noteTold, SkillsSeen, type Told } from "../sums/prompt-sums.js"
import { contributorSums, openStepSum, ROLLUP_SHAPES, stepSum } from "../sums/step-sums.js"
import { countsOf, RowSum, type SumShape } from "../sums/sum-shape.js"
import type { ServerRow } from "./connection.js"
import { monthOf } from "./month-of.js"

/** The lower places of a run belong to its own events, by `sequence_no`; what has none there comes behind, in the order of arrival. */
export const OWN_PLACES = 2 ** 25

/** An event of a run, at its place. */
export interface PlacedEvent {
  readonly event: Event
  /** What it is known by: its id. */
  readonly name: string
  readonly digest: string
  readonly place: number
  readonly atMs: number
}

type Step = FoldedStep<string>

/** What stands in the run's row and does not follow from its events. */
export interface RunStanding {
  readonly version: number
  readonly released: number
  readonly writerId: string | null
}

/**
 * A run that batches are working on: its fold, which events it has, and what its steps add up to. Loaded from its events when it is first touched;
 * from then on each event is folded as it comes, and all of them again where one came out of order.
 */
export class LiveRun {
  readonly runId: string
  version: number
  released: number
  readonly writerId: string | null
  /** Its own events come from this collector, so this collector writes its row. */
  isOwn = false
  isChanged = true
  isOutOfOrder = false
  nextLoosePlace = OWN_PLACES
  readonly changedSteps = new Set<Step>()
  /** Texts that are linked to the run already. */
  readonly linkedTexts = new Set<string>()
  readonly #prices: PriceTable
  readonly #digests = new Map<string, string>()
  readonly #conflicts = new Set<string>()
  readonly #placed = new Set<number>()
  readonly #heardSteps = new Set<string>()
  #fold!: RunFold<string>
  #steps!: Map<number, Step>
  #openers!: Map<string, { mode: string | null; lane: string | null }>
  #told!: Map<string, Told>
  #skills!: SkillsSeen
  #sums!: Sums
  #contributors!: Sums
  #taking = ""
  #isFoldingAgain = false

  constructor(runId: string, standing: RunStanding, prices: PriceTable) {
    this.runId = runId
    this.version = standing.version
    this.released = standing.released
    this.writerId = standing.writerId
    this.#prices = prices
    this.#begin()
  }

  get eventCount(): number {
    return this.#digests.size
  }

  get isEnded(): boolean {
    return this.#fold.facts.end !== null
  }

  get rootStepId(): string {
    return this.#fold.steps.root.id
  }

  /** What the run has under this name: nothing, the same record, or another. */
  compare(name: string, digest: string): "new" | "same" | "other" | "known conflict" {
    const known = this.#digests.get(name)
    if (known === undefined) return "new"
    if (known === digest) return "same"
    return this.#conflicts.has(`${name}\n${digest}`) ? "known conflict" : "other"
  }

  noteConflict(name: string, digest: string): void {
    this.#conflicts.add(`${name}\n${digest}`)
  }

  placeFor({ sequence_no: sequence }: Event): number {
    const isOwnPlace = Number.isInteger(sequence) && sequence! >= 0 && sequence! < OWN_PLACES
    if (isOwnPlace && !this.#placed.has(sequence!)) return sequence!
    return this.nextLoosePlace
  }

  /** Whether this is the first that is heard of a step. */
  isFirstOf(stepId: string): boolean {
    if (this.#heardSteps.has(stepId)) return false
    this.#heardSteps.add(stepId)
    return true
  }

  openerOf(stepId: string | null): string | null {
    return (stepId === null ? this.#fold.steps.root : (this.#fold.steps.find(stepId) ?? this.#fold.steps.root)).opened
  }

  take(placed: PlacedEvent): void {
    const { event, name, digest, place } = placed
    this.isChanged = true
    this.#digests.set(name, digest)
    this.#placed.add(place)
    if (place >= this.nextLoosePlace) this.nextLoosePlace = place + 1
    if (isSequence(event.sequence_no) && event.sequence_no < this.#fold.facts.lastSequence) this.isOutOfOrder = true
    this.#foldIn(placed)
  }

  #foldIn({ event, name, atMs }: PlacedEvent): void {
    this.#taking = name
    const step = this.#fold.take(event, name, atMs)
    if (this.#isFoldingAgain) noteTold(this.#told, event, () => this.#skills)
    else if (event.event_type === "prompt_assembled" && step?.closed != null) this.isOutOfOrder = true
    else if (step !== undefined && (step.closed === null || step.closed === name))
      noteTold(this.#told, event, () => this.#skills)
    for (let one = step; one != null && !this.#steps.has(one.no); one = one.parent ?? undefined) this.#hear(one)
    if (step !== undefined && step.opened === name)
      this.#openers.set(step.id, { mode: event.determinism_mode ?? null, lane: event.lane_id ?? null })
  }

  #hear(step: Step): void {
    this.#steps.set(step.no, step)
    this.changedSteps.add(step)
  }

  /** Folds all events again, in their order. */
  foldAgain(events: readonly PlacedEvent[]): void {
    this.#begin()
    this.#isFoldingAgain = true
    for (const placed of inOrder(events)) this.take(placed)
    this.#isFoldingAgain = false
    // Whatever an earlier event of this order changed is settled now: everything is counted anew.
    this.isOutOfOrder = false
    this.#sums.clear()
    this.#contributors.clear()
    for (const step of this.#steps.values()) this.changedSteps.add(step)
  }

  #begin(): void {
    this.#fold = new RunFold<string>({
      onChange: (step) => {
        this.changedSteps.add(step)
        if (step.closed !== null && step.closed !== this.#taking) this.isOutOfOrder = true
      },
    })
    this.#steps = new Map([[1, this.#fold.steps.root]])
    this.changedSteps.clear()
    this.changedSteps.add(this.#fold.steps.root)
    this.#openers = new Map()
    this.#told = new Map()
    this.#skills = new SkillsSeen()
    this.#sums = new Sums(ROLLUP_SHAPES.steps)
    this.#contributors = new Sums(ROLLUP_SHAPES.contributors)
    this.isOutOfOrder = false
  }

  /** The rows of the run and of its steps as they are now. The caller writes them, and calls `wereWritten`. */
  rows(standing: { readonly owner: string; readonly host: string; readonly nowMs: number }): {
    run: ServerRow
    steps: ServerRow[]
  } {
    this.#countEnded()
    const version = this.version + 1
    return {
      run: { ...this.#runRow(version, standing) },
      steps: [...this.changedSteps].map((step) => this.#stepRow(version, step)),
    }
  }

  wereWritten(): void {
    this.version++
    this.isChanged = false
    this.changedSteps.clear()
  }

  /** A closed step is counted when it is written first; what changes it later has it folded again. */
  #countEnded(): void {
    for (const step of this.changedSteps) {
      if (step.closed === null || step.isAttempt || this.#sums.hasCounted(step.no)) continue
      const told = this.#told.get(step.id)
      this.#sums.count(step.no, [stepSum(0, step, this.#prices)])
      this.#contributors.count(step.no, contributorSums(0, step, told ?? {}, this.#prices))
      this.#told.delete(step.id)
    }
  }

  #runRow(
    version: number,
    { owner, host, nowMs }: { readonly owner: string; readonly host: string; readonly nowMs: number },
  ): ServerRow {
    const { facts, steps } = this.#fold
    return {
      month: monthOf(this.runId),
      run_id: this.runId,
      version,
      owner,
      host,
      state: "here",
      pruned_at: null,
      trace_id: facts.traceId,
      conversation_id: column(facts.conversationId),
      writer_id: this.writerId,
      app: column(facts.app),
      entrypoint: column(facts.entrypoint),
      environment: column(facts.environment),
      agent_version: column(facts.agentVersion),
      status: facts.end ?? (facts.isCrashed ? "crashed" : "running"),
      started_at: facts.startedAtMs,
      ended_at: facts.endedAtMs,
      last_at: facts.lastAtMs,
      first_mono: finite(facts.firstMono),
      last_mono: finite(facts.lastMono),
      duration: durationOfRun(facts, steps.root),
      input_summary: column(facts.input),
      error_class: column(facts.errorClass),
      error_summary: column(facts.errorSummary),
      capture_mode: column(facts.captureMode),
      events: facts.events,
      annotations: facts.annotations,
      steps: facts.steps,
      open_steps: facts.steps - facts.closedSteps,
      model_calls: facts.modelCalls,
      tool_calls: facts.toolCalls,
      errors: facts.errors,
      ...tokenColumns(facts.tokens),
      source_run_id: column(facts.sourceRunId),
      ingested_at: nowMs,
      released: this.released,
      is_crashed: facts.isCrashed ? 1 : 0,
      ...this.#sumColumns(),
    }
  }

  /** Steps without an end are counted as they stand: the row is replaced with the next batch of its run. */
  #sumColumns(): { sums: ServerRow[]; contributors: ServerRow[] } {
    const { facts } = this.#fold
    const own = { app: column(facts.app) ?? "", agent_version: column(facts.agentVersion) ?? "" }
    const isImported = this.writerId === null
    const open = new Sums(ROLLUP_SHAPES.steps)
    for (const step of this.#steps.values())
      if (step.closed === null && !step.isAttempt) open.count(step.no, [openStepSum(0, step)])
    const told = (row: Row, { app, ...rest }: { app: string; agent_version?: string }): ServerRow => {
      const { run: _, ...columns } = row
      return { ...columns, app, ...rest, ...(isImported ? { origin: ORIGINS.indexOf("imported") } : {}) }
    }
    return {
      sums: [...this.#sums.rows(), ...open.rows()].map((row) => told(row, own)),
      contributors: [...this.#contributors.rows()].map((row) => told(row, { app: own.app })),
    }
  }

  #stepRow(version: number, step: Step): ServerRow {
    const opener = this.#openers.get(step.id)
    return {
      month: monthOf(this.runId),
      run_id: this.runId,
      no: step.no,
      version,
      step_id: step.id,
      parent_id: step.openedUnder,
      parent: step.parent?.no ?? null,
      kind: step.kind,
      name: column(step.name),
      provider: column(step.provider),
      status: step.status,
      opened_at: step.openedAtMs,
      opened_by: step.opened,
      closed_by: step.closed,
      opened_mono: step.openedMono,
      mode: opener?.mode ?? null,
      lane: opener?.lane ?? null,
      duration: step.durationMicros,
      attempt: step.isAttempt ? step.saidAttempt : null,
      error_class: column(step.errorClass),
      work_kind: column(step.workKind),
      source: column(step.source),
      inferred_by: column(step.inferredBy),
      is_replayed: step.isReplayed ? 1 : 0,
      first_byte: step.firstByteMicros,
      ...tokenColumns(step.tokens),
    }
  }
}

/** A run's own events by `sequence_no`, of two with one number the one that came first, and then the annotations. */
export function inOrder<T extends Pick<PlacedEvent, "event" | "place">>(events: readonly T[]): T[] {
  const sequenceOf = ({ event }: T): number => (isSequence(event.sequence_no) ? event.sequence_no : Infinity)
  return [...events].sort((one, other) => {
    const [first, second] = [sequenceOf(one), sequenceOf(other)]
    return first === second ? one.place - other.place : first - second
  })
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

function tokenColumns(tokens: Step["tokens"]): ServerRow {
  return {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    reasoning_tokens: tokens.reasoning,
  }
}

/** What the steps of one run add up to, each counted once. */
class Sums {
  readonly #shape: SumShape
  #byKey = new Map<string, RowSum>()
  #counted = new Set<number>()

  constructor(shape: SumShape) {
    this.#shape = shape
  }

  hasCounted(step: number): boolean {
    return this.#counted.has(step)
  }

  count(step: number, rows: readonly Row[]): void {
    this.#counted.add(step)
    for (const row of rows) {
      const key = this.#shape.key.map((name) => row[name]).join("\n")
      const sum = this.#byKey.get(key)
      if (sum === undefined) this.#byKey.set(key, new RowSum({ ...row }, this.#shape))
      else sum.add(row)
    }
  }

  clear(): void {
    this.#byKey = new Map()
    this.#counted = new Set()
  }

  *rows(): Generator<Row> {
    for (const sum of this.#byKey.values()) {
      const row = { ...sum.row() }
      for (const name of this.#shape.counted) row[name] = countsOf(row[name] ?? null) as never
      yield row
    }
  }
}
