import type { Event } from "@orangebox/contract"
import { type MutableTokens, newRunState, noTokens, type RunState, type StepState, statusOf } from "../run-state.js"
import { STEP_KINDS, STEP_STATUSES } from "./codes.js"
import type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from "./driver.js"
import {
  checkRunKey,
  eventKey,
  firstKey,
  firstLooseKey,
  lastKey,
  OWN_PLACES,
  packHex,
  placeOf,
  unpackHex,
} from "./keys.js"

/** A run that batches are working on: its state, its place in the tables, and the steps to write. */
export interface LiveRun {
  readonly key: number
  readonly state: RunState
  writer: number | null
  /** The next free place in the upper half of the run's range. */
  nextLoosePlace: number
  readonly changedSteps: Set<StepState>
  isNew: boolean
  isChanged: boolean
  /** The parent of each step, for leaving it out of the step's events. */
  readonly parents: Map<string, string | null>
  /** Texts already linked to the run. */
  readonly linkedTexts: Set<number>
}

/** More runs at once than this are read back from their rows now and then; nothing else depends on it. */
const MAX_LIVE_RUNS = 512
const MAX_KNOWN_PARENTS = 4096

/** The runs being written, kept in memory between batches so that deriving a row never reads what was written a moment ago. */
export class RunTable {
  readonly #live = new Map<string, LiveRun>()
  readonly #findRun: SqliteStatement
  readonly #buried: SqliteStatement
  readonly #maxRunKey: SqliteStatement
  readonly #openSteps: SqliteStatement
  readonly #parentOf: SqliteStatement
  readonly #lastLoose: SqliteStatement
  readonly #openerMono: SqliteStatement
  readonly #putRun: SqliteStatement
  readonly #putStep: SqliteStatement
  #nextRunKey = 0

  constructor(database: SqliteDatabase) {
    this.#findRun = database.prepare("SELECT * FROM run_rows WHERE run_id = ?")
    this.#buried = database.prepare("SELECT 1 FROM buried_runs WHERE run_id = ?")
    this.#maxRunKey = database.prepare(
      "SELECT max(coalesce((SELECT max(key) FROM run_rows), 0), coalesce((SELECT value FROM meta WHERE name = 'last_run'), 0)) AS key",
    )
    this.#openSteps = database.prepare(
      "SELECT * FROM step_rows WHERE key BETWEEN ? AND ? AND (closed IS NULL OR opened IS NULL) ORDER BY key",
    )
    this.#parentOf = database.prepare(
      "SELECT parent_id FROM step_rows WHERE step_id = ? AND key BETWEEN ? AND ? AND opened IS NOT NULL ORDER BY key LIMIT 1",
    )
    this.#lastLoose = database.prepare("SELECT max(key) AS key FROM event_rows WHERE key BETWEEN ? AND ?")
    this.#openerMono = database.prepare("SELECT mono FROM event_rows WHERE key = ?")
    this.#putRun = database.prepare(insertInto("run_rows", RUN_COLUMNS))
    this.#putStep = database.prepare(insertInto("step_rows", STEP_COLUMNS))
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
    const row = this.#parentOf.get(packHex(stepId, 16), firstKey(run.key), lastKey(run.key))
    if (row === undefined) return undefined
    const parent = row["parent_id"] === null ? null : unpackHex(row["parent_id"])
    this.rememberParent(run, stepId, parent)
    return parent
  }

  rememberParent(run: LiveRun, stepId: string, parentId: string | null): void {
    if (run.parents.has(stepId)) return
    if (run.parents.size >= MAX_KNOWN_PARENTS) run.parents.clear()
    run.parents.set(stepId, parentId)
  }

  /** Writes what changed in the batch: one row for each step and run, however many events touched it. */
  write(nowMs: number, onStep: (run: LiveRun, step: StepState) => void): LiveRun[] {
    const changed: LiveRun[] = []
    for (const run of this.#live.values()) {
      if (!run.isChanged) continue
      for (const step of run.changedSteps) {
        this.#putStep.run(...stepValues(run.key, step))
        onStep(run, step)
      }
      this.#putRun.run(...runValues(run, nowMs))
      changed.push(run)
    }
    return changed
  }

  afterCommit(): void {
    for (const [runId, run] of this.#live) {
      run.changedSteps.clear()
      run.isChanged = false
      run.isNew = false
      if (run.state.terminal !== null) this.#live.delete(runId)
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
    if (this.#buried.get(runId) !== undefined) return undefined
    if (this.#nextRunKey === 0) this.#nextRunKey = Number(this.#maxRunKey.get()?.["key"] ?? 0) + 1
    return {
      key: checkRunKey(this.#nextRunKey++),
      state: newRunState(runId, first, atMs),
      writer,
      nextLoosePlace: OWN_PLACES,
      changedSteps: new Set(),
      isNew: true,
      isChanged: true,
      parents: new Map(),
      linkedTexts: new Set(),
    }
  }

  #load(runId: string): LiveRun | undefined {
    const row = this.#findRun.get(runId)
    if (row === undefined) return undefined
    const key = Number(row["key"])
    const lastLoose = this.#lastLoose.get(firstLooseKey(key), lastKey(key))?.["key"]
    const run: LiveRun = {
      key,
      state: toRunState(row),
      writer: row["writer"] === null ? null : Number(row["writer"]),
      nextLoosePlace: lastLoose == null ? OWN_PLACES : placeOf(Number(lastLoose)) + 1,
      changedSteps: new Set(),
      isNew: false,
      isChanged: false,
      parents: new Map(),
      linkedTexts: new Set(),
    }
    for (const stepRow of this.#openSteps.all(firstKey(key), lastKey(key))) {
      const step = toStepState(stepRow)
      step.openedMono = this.#monoOf(step.opened)
      step.closedMono = this.#monoOf(step.closed)
      run.state.openSteps.set(step.stepId, step)
    }
    return run
  }

  #monoOf(key: number | null): number | null {
    const row = key === null ? undefined : this.#openerMono.get(key)
    return row === undefined ? null : Number(row["mono"])
  }
}

const RUN_COLUMNS = [
  "key",
  "run_id",
  "trace_id",
  "conversation_id",
  "writer",
  "app",
  "entrypoint",
  "environment",
  "status",
  "started_at",
  "ended_at",
  "last_at",
  "first_mono",
  "last_mono",
  "input_summary",
  "error_class",
  "error_summary",
  "capture_mode",
  "events",
  "steps",
  "open_steps",
  "model_calls",
  "tool_calls",
  "errors",
  "prompt_tokens",
  "completion_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "source_run_id",
  "ingested_at",
  "released",
  "is_crashed",
]

function runValues(run: Pick<LiveRun, "key" | "state" | "writer">, nowMs: number): SqliteValue[] {
  const { key, state, writer } = run
  const hasClock = state.firstMono <= state.lastMono
  return [
    key,
    state.runId,
    state.traceId,
    state.conversationId,
    writer,
    state.app,
    state.entrypoint,
    state.environment,
    statusOf(state),
    state.startedAtMs,
    state.endedAtMs,
    state.lastAtMs,
    hasClock ? state.firstMono : 0,
    hasClock ? state.lastMono : 0,
    state.inputSummary,
    state.errorClass,
    state.errorSummary,
    state.captureMode,
    state.events,
    state.steps,
    state.openSteps.size,
    state.modelCalls,
    state.toolCalls,
    state.errors,
    ...tokenValues(state.tokens),
    state.sourceRunId,
    nowMs,
    // A run that goes on may hold new bodies, so retention has to look at it again.
    0,
    state.isCrashed ? 1 : 0,
  ]
}

const STEP_COLUMNS = [
  "key",
  "step_id",
  "parent_id",
  "kind",
  "name",
  "provider",
  "status",
  "opened_at",
  "opened",
  "closed",
  "duration",
  "attempt",
  "error_class",
  "prompt_tokens",
  "completion_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
]

function stepValues(runKey: number, step: StepState): SqliteValue[] {
  return [
    eventKey(runKey, step.no),
    packHex(step.stepId, 16),
    step.parentId === null ? null : packHex(step.parentId, 16),
    STEP_KINDS.indexOf(step.kind),
    step.name,
    step.provider,
    STEP_STATUSES.indexOf(step.status),
    step.openedAtMs,
    step.opened,
    step.closed,
    step.durationMicros,
    step.attemptNo,
    step.errorClass,
    ...tokenValues(step.tokens),
  ]
}

export function tokenValues(tokens: MutableTokens): SqliteValue[] {
  return [tokens.prompt, tokens.completion, tokens.cacheRead, tokens.cacheWrite, tokens.reasoning]
}

export function tokensOf(row: SqliteRow): MutableTokens {
  const tokens = noTokens()
  tokens.prompt = numberOrNull(row["prompt_tokens"])
  tokens.completion = numberOrNull(row["completion_tokens"])
  tokens.cacheRead = numberOrNull(row["cache_read_tokens"])
  tokens.cacheWrite = numberOrNull(row["cache_write_tokens"])
  tokens.reasoning = numberOrNull(row["reasoning_tokens"])
  return tokens
}

export function numberOrNull(value: SqliteValue | undefined): number | null {
  return value == null ? null : Number(value)
}

export function textOrNull(value: SqliteValue | undefined): string | null {
  return value == null ? null : String(value)
}

/** What a row says about a run, to who goes on deriving it and to who reads it. */
export function runFacts(row: SqliteRow) {
  return {
    runId: String(row["run_id"]),
    traceId: textOrNull(row["trace_id"]),
    conversationId: textOrNull(row["conversation_id"]),
    app: textOrNull(row["app"]),
    entrypoint: textOrNull(row["entrypoint"]),
    environment: textOrNull(row["environment"]),
    startedAtMs: Number(row["started_at"]),
    endedAtMs: numberOrNull(row["ended_at"]),
    lastAtMs: Number(row["last_at"]),
    inputSummary: textOrNull(row["input_summary"]),
    errorClass: textOrNull(row["error_class"]),
    errorSummary: textOrNull(row["error_summary"]),
    captureMode: textOrNull(row["capture_mode"]),
    sourceRunId: textOrNull(row["source_run_id"]),
    events: Number(row["events"]),
    steps: Number(row["steps"]),
    modelCalls: Number(row["model_calls"]),
    toolCalls: Number(row["tool_calls"]),
    errors: Number(row["errors"]),
    tokens: tokensOf(row),
  }
}

/** The same for a step. */
export function stepFacts(row: SqliteRow) {
  return {
    no: placeOf(Number(row["key"])),
    stepId: unpackHex(row["step_id"]),
    kind: STEP_KINDS[Number(row["kind"])]!,
    name: String(row["name"]),
    provider: textOrNull(row["provider"]),
    status: STEP_STATUSES[Number(row["status"])]!,
    openedAtMs: Number(row["opened_at"]),
    attemptNo: numberOrNull(row["attempt"]),
    errorClass: textOrNull(row["error_class"]),
    tokens: tokensOf(row),
  }
}

function toRunState(row: SqliteRow): RunState {
  const status = String(row["status"])
  const lastMono = Number(row["last_mono"])
  return {
    ...runFacts(row),
    terminal: status === "completed" || status === "failed" ? status : null,
    isCrashed: Number(row["is_crashed"]) === 1,
    firstMono: lastMono === 0 ? Number.MAX_SAFE_INTEGER : Number(row["first_mono"]),
    lastMono,
    openSteps: new Map(),
  }
}

export function toStepState(row: SqliteRow): StepState {
  return {
    ...stepFacts(row),
    parentId: row["parent_id"] === null ? null : unpackHex(row["parent_id"]),
    openedMono: null,
    closedMono: null,
    opened: numberOrNull(row["opened"]),
    closed: numberOrNull(row["closed"]),
    durationMicros: numberOrNull(row["duration"]),
  }
}

/** Puts a run that was derived again in the place of what was there. What is not derived from events stays. */
export function putRunState(
  database: SqliteDatabase,
  runKey: number,
  state: RunState,
  steps: Iterable<StepState>,
): void {
  const kept = database.prepare("SELECT writer, ingested_at, released FROM run_rows WHERE key = ?").get(runKey)
  if (kept === undefined) return
  database.prepare("DELETE FROM step_rows WHERE key BETWEEN ? AND ?").run(firstKey(runKey), lastKey(runKey))
  const putStep = database.prepare(insertInto("step_rows", STEP_COLUMNS))
  for (const step of steps) putStep.run(...stepValues(runKey, step))
  const run = { key: runKey, state, writer: numberOrNull(kept["writer"]) }
  database.prepare(insertInto("run_rows", RUN_COLUMNS)).run(...runValues(run, Number(kept["ingested_at"])))
  database.prepare("UPDATE run_rows SET released = ? WHERE key = ?").run(Number(kept["released"]), runKey)
}

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`
}
