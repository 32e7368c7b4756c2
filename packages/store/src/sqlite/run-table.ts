import type { Event } from "@orangebox/contract"
import { hasUsage, isSequence, RunFold } from "@orangebox/runs"
import { numberOrNull, tokensOf } from "../row-values.js"
import { ROW_NOTE } from "../spilled-text.js"
import { noteTold, SkillsSeen, type Told } from "../sums/prompt-sums.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow } from "./driver.js"
import { type EventReader, NAMES_PARENT } from "./event-reader.js"
import { foldStored, lastSequence } from "./fold-stored.js"
import {
  checkRunKey,
  eventKey,
  firstKey,
  firstLooseKey,
  lastKey,
  OWN_PLACES,
  packHex,
  placeOf,
  runKeyOf,
  unpackHex,
} from "./keys.js"
import { type FoldContext, foldAgain } from "./replace-run.js"
import { factsOf, RowWriter, runColumns, type StoredStep, stepColumns, toStep } from "./run-rows.js"

/** A run that batches are working on: its fold, its place in the tables, and the steps to write. */
export interface LiveRun {
  readonly key: number
  readonly runId: string
  fold: RunFold<number>
  readonly writer: number | null
  /** The next free place in the upper half of the run's range. */
  nextLoosePlace: number
  readonly changedSteps: Set<StoredStep>
  isNew: boolean
  isChanged: boolean
  /** Every step of it is in memory. */
  isWhole: boolean
  /** An event came that stands before one that was folded already, or that changes what was counted, so the run is folded again from its rows. */
  isOutOfOrder: boolean
  /** The key of the event that is being folded. */
  taking: number
  /** What was said in steps that have not ended, by step. */
  readonly told: Map<string, Told>
  /** Undefined until something had to read which skills the prompts before had. */
  skills: SkillsSeen | undefined
  /** The parent each step was opened with, for leaving it out of the step's events. */
  readonly parents: Map<string, string | null>
  /** Texts already linked to the run. */
  readonly linkedTexts: Set<number>
}

/** More runs at once than this are read back from their rows now and then; nothing else depends on it. */
const MAX_LIVE_RUNS = 512
/** The same for the steps of a run that are complete, and for parents. */
const MAX_KNOWN_STEPS = 4096

const PROMPT_ASSEMBLED = "(SELECT key FROM event_types WHERE name = 'prompt_assembled')"

const SQL = {
  findRun: "SELECT * FROM run_rows WHERE run_id = ?",
  buried: "SELECT 1 FROM buried_runs WHERE run_id = ?",
  maxRunKey:
    "SELECT max(coalesce((SELECT max(key) FROM run_rows), 0), coalesce((SELECT value FROM meta WHERE name = 'last_run'), 0)) AS key",
  unfinished: "SELECT * FROM step_rows WHERE key BETWEEN ? AND ? AND (closed IS NULL OR opened IS NULL) ORDER BY key",
  stepById: "SELECT * FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? ORDER BY key LIMIT 1",
  stepByKey: "SELECT * FROM step_rows WHERE key = ?",
  parentOf: `SELECT parent_id FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? AND ${NAMES_PARENT} ORDER BY key LIMIT 1`,
  prompts: `SELECT * FROM event_rows WHERE key BETWEEN ? AND ? AND type = ${PROMPT_ASSEMBLED} ORDER BY key`,
  promptsOfStep: `SELECT * FROM event_rows WHERE key BETWEEN ? AND ? AND step_id = ? AND type = ${PROMPT_ASSEMBLED} ORDER BY key`,
  event: "SELECT * FROM event_rows WHERE key = ?",
  lastLoose: "SELECT max(key) AS key FROM event_rows WHERE key BETWEEN ? AND ?",
  // What an event says that is no reading of a clock stands in its text, and that it says nothing in the note there.
  mono: `SELECT mono FROM event_rows WHERE key = ? AND mono >= 0 AND json -> '$.mono_us' IS NULL AND json -> '$."${ROW_NOTE}"' IS NULL`,
}

/** The runs being written, kept in memory between batches so that deriving a row never reads what was written a moment ago. */
export class RunTable {
  readonly #live = new Map<string, LiveRun>()
  readonly #database: SqliteDatabase
  readonly #events: EventReader
  readonly #context: FoldContext
  readonly #sql: Prepared<typeof SQL>
  readonly #runs: RowWriter
  readonly #steps: RowWriter
  #nextRunKey = 0

  constructor(context: FoldContext) {
    const { database, reader } = context
    this.#context = context
    this.#database = database
    this.#events = reader
    this.#sql = prepareAll(database, SQL)
    this.#runs = new RowWriter(database, "run_rows")
    this.#steps = new RowWriter(database, "step_rows")
  }

  /** The run with this id, new if need be; undefined when it was pruned and must not come back. */
  open(runId: string, first: Event, atMs: number, writer: number | null): LiveRun | undefined {
    const live = this.#live.get(runId)
    if (live !== undefined) return live
    const run = this.#load(runId) ?? this.#create(runId, first, atMs, writer)
    if (run !== undefined) this.#live.set(runId, run)
    return run
  }

  find(runId: string): LiveRun | undefined {
    return this.#live.get(runId) ?? this.#load(runId)
  }

  parentOf(run: LiveRun, stepId: string): string | null | undefined {
    const known = run.parents.get(stepId)
    if (known !== undefined || run.isNew) return known
    const row = this.#sql.parentOf.get(packHex(stepId, 16), firstKey(run.key), lastKey(run.key))
    if (row === undefined) return undefined
    const parent = row["parent_id"] === null ? null : unpackHex(row["parent_id"])
    this.#rememberParent(run, stepId, parent)
    return parent
  }

  /** Folds an event into its run. */
  take(run: LiveRun, event: Event, key: number, atMs: number): void {
    run.isChanged = true
    const { sequence_no: place } = event
    if (isSequence(place) && place < run.fold.facts.lastSequence) run.isOutOfOrder = true
    run.taking = key
    const step = run.fold.take(event, key, atMs)
    if (event.event_type === "prompt_assembled" && step?.closed !== null) run.isOutOfOrder = true
    else if (step !== undefined && (step.closed === null || step.closed === key))
      noteTold(run.told, event, (isNeeded) => this.#skillsOf(run, isNeeded))
    if (step?.opened === key) this.#rememberParent(run, step.id, step.openedUnder)
  }

  #rememberParent(run: LiveRun, stepId: string, parentId: string | null): void {
    if (run.parents.has(stepId)) return
    if (run.parents.size >= MAX_KNOWN_STEPS) run.parents.clear()
    run.parents.set(stepId, parentId)
  }

  /** Writes what changed in the batch: one row for each step and run, however many events touched it. */
  write(nowMs: number): LiveRun[] {
    const changed: LiveRun[] = []
    for (const run of this.#live.values()) {
      if (!run.isChanged) continue
      for (const step of run.changedSteps) {
        this.#steps.put(stepColumns(run.key, step))
        if (step.closed === null || run.isOutOfOrder) continue
        this.#context.rollups.count(run.key, step, run.told.get(step.id))
        run.told.delete(step.id)
      }
      this.#runs.put(runColumns(run, nowMs))
      if (run.isOutOfOrder) this.#refold(run)
      changed.push(run)
    }
    this.#context.rollups.write()
    return changed
  }

  #refold(run: LiveRun): void {
    run.fold = new RunFold(this.#foldOptions(run))
    run.isWhole = true
    const note = this.#noteAnew(run)
    foldAgain(this.#context, run.key, run.fold, (_, event) => note(event))
    this.#forgetCounted(run)
    run.isOutOfOrder = false
  }

  /** Notes what the events of a run say from its first on. */
  #noteAnew(run: LiveRun): (event: Event) => void {
    const skills = new SkillsSeen()
    run.skills = skills
    run.told.clear()
    return (event) => noteTold(run.told, event, () => skills)
  }

  /** Only what was said in steps without an end is still to be counted. */
  #forgetCounted({ told, fold }: LiveRun): void {
    for (const id of told.keys()) if (fold.steps.find(id)?.closed !== null) told.delete(id)
  }

  /** Of a run that goes on from its rows, the prompts before are read when a skill first stands in one. */
  #skillsOf(run: LiveRun, isNeeded: boolean): SkillsSeen | undefined {
    if (run.skills === undefined && isNeeded) this.#readSkills(run, run.taking)
    return run.skills
  }

  /** Which skills the prompts before a key had; what each of these prompts says comes back. */
  #readSkills(run: LiveRun, before: number): ReadonlyMap<string, Told> {
    const told = new Map<string, Told>()
    const skills = new SkillsSeen()
    for (const row of this.#sql.prompts.all(firstKey(run.key), Math.min(before, firstLooseKey(run.key)) - 1))
      noteTold(told, this.#events.decode(row, this.#events.placeOfEvent(row)), () => skills)
    run.skills = skills
    return told
  }

  afterCommit(): void {
    for (const [runId, run] of this.#live) {
      run.changedSteps.clear()
      run.isChanged = false
      run.isNew = false
      if (run.fold.steps.forgetComplete(MAX_KNOWN_STEPS)) run.isWhole = false
      if (run.fold.facts.end !== null) this.#live.delete(runId)
    }
    for (const runId of this.#live.keys()) {
      if (this.#live.size <= MAX_LIVE_RUNS) break
      this.#live.delete(runId)
    }
  }

  /** What is in memory may be ahead of the rows after a rollback, or behind them after a prune or rebuild. */
  reset(): void {
    this.#live.clear()
    this.#nextRunKey = 0
  }

  #create(runId: string, first: Event, atMs: number, writer: number | null): LiveRun | undefined {
    if (this.#sql.buried.get(runId) !== undefined) return undefined
    if (this.#nextRunKey === 0) this.#nextRunKey = Number(this.#sql.maxRunKey.get()?.["key"] ?? 0) + 1
    const run = newLiveRun(checkRunKey(this.#nextRunKey++), runId, writer)
    run.fold = new RunFold(this.#foldOptions(run))
    run.fold.facts.traceId = first.trace_id
    run.fold.facts.startedAtMs = atMs
    run.fold.facts.lastAtMs = atMs
    run.changedSteps.add(run.fold.steps.root)
    run.isNew = true
    run.isChanged = true
    run.skills = new SkillsSeen()
    return run
  }

  #load(runId: string): LiveRun | undefined {
    const row = this.#sql.findRun.get(runId)
    if (row === undefined) return undefined
    const key = Number(row["key"])
    const run = newLiveRun(key, runId, numberOrNull(row["writer"]))
    const lastLoose = this.#sql.lastLoose.get(firstLooseKey(key), lastKey(key))?.["key"]
    if (lastLoose != null) run.nextLoosePlace = placeOf(Number(lastLoose)) + 1
    this.#resume(run, row)
    run.changedSteps.clear()
    return run
  }

  /**
   * Goes on from the rows. What is guessed while the opening of a run is missing, or while a call has the usage of an attempt, stands in no
   * row, so such a run is folded from its events.
   */
  #resume(run: LiveRun, row: SqliteRow): void {
    const rootRow = this.#sql.stepByKey.get(eventKey(run.key, 1))
    const unfinished = this.#sql.unfinished.all(firstKey(run.key), lastKey(run.key))
    const isBorrowing = (row: SqliteRow): boolean => row["closed"] === null && hasUsage(tokensOf(row))
    if (rootRow?.["opened"] == null || unfinished.some(isBorrowing)) {
      run.fold = new RunFold(this.#foldOptions(run))
      const note = this.#noteAnew(run)
      foldStored(this.#database, this.#events, run.key, run.fold, (_, event) => note(event))
      this.#forgetCounted(run)
      return
    }
    const root = this.#withClock(toStep(rootRow, null))
    const known = new Map([[root.id, root]])
    for (const stepRow of unfinished) {
      if (placeOf(Number(stepRow["key"])) === 1) continue
      const step = this.#withClock(
        toStep(
          stepRow,
          this.#parentIn(stepRow, root, (id) => known.get(id)),
        ),
      )
      known.set(step.id, step)
      if (step.opened !== null) this.#readTold(run, step)
    }
    if (run.skills !== undefined) {
      const before = this.#readSkills(run, firstLooseKey(run.key))
      for (const [id, told] of run.told) run.told.set(id, { ...before.get(id), ...told })
    }
    run.isWhole = false
    const facts = factsOf(row, lastSequence(this.#database, run.key))
    run.fold = new RunFold(this.#foldOptions(run), { facts, root, unfinished: known.values() })
  }

  /** What had been said in a call that was under way. */
  #readTold(run: LiveRun, step: StoredStep): void {
    const rows =
      step.kind === "model"
        ? this.#sql.promptsOfStep.all(step.opened, lastKey(run.key), packHex(step.id, 16))
        : step.kind === "tool"
          ? this.#sql.event.all(step.opened)
          : []
    for (const row of rows) {
      noteTold(run.told, this.#events.decode(row, this.#events.placeOfEvent(row)), (isNeeded) => {
        if (isNeeded) run.skills = new SkillsSeen()
        return undefined
      })
    }
  }

  #foldOptions(run: LiveRun): ConstructorParameters<typeof RunFold<number>>[0] {
    return {
      onChange: (step) => {
        run.changedSteps.add(step)
        if (step.closed !== null && step.closed !== run.taking) run.isOutOfOrder = true
      },
      lookUp: (stepId) => {
        const row = run.isWhole
          ? undefined
          : this.#sql.stepById.get(packHex(stepId, 16), firstKey(run.key), lastKey(run.key))
        return (
          row &&
          toStep(
            row,
            this.#parentIn(row, run.fold.steps.root, (id) => run.fold.steps.find(id)),
          )
        )
      },
    }
  }

  #parentIn(row: SqliteRow, root: StoredStep, find: (stepId: string) => StoredStep | undefined): StoredStep {
    const no = numberOrNull(row["parent"]) ?? 1
    const parentRow = no === 1 ? undefined : this.#sql.stepByKey.get(eventKey(placeOfRun(row), no))
    if (parentRow === undefined) return root
    return find(unpackHex(parentRow["step_id"])) ?? toStep(parentRow, this.#parentIn(parentRow, root, find))
  }

  #withClock(step: StoredStep): StoredStep {
    for (const [mono, key] of [
      ["openedMono", "opened"],
      ["closedMono", "closed"],
    ] as const) {
      const row = step[key] === null ? undefined : this.#sql.mono.get(step[key])
      step[mono] = row === undefined ? null : Number(row["mono"])
    }
    return step
  }
}

function newLiveRun(key: number, runId: string, writer: number | null): LiveRun {
  return {
    key,
    runId,
    fold: new RunFold(),
    writer,
    nextLoosePlace: OWN_PLACES,
    changedSteps: new Set(),
    isNew: false,
    isChanged: false,
    isWhole: true,
    isOutOfOrder: false,
    taking: 0,
    told: new Map(),
    skills: undefined,
    parents: new Map(),
    linkedTexts: new Set(),
  }
}

const placeOfRun = (row: SqliteRow): number => runKeyOf(Number(row["key"]))
