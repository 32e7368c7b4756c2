import { durationOfRun, type FoldedStep, type RunFacts, type RunFold } from "@orangebox/runs"
import { STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { column } from "../column-text.js"
import { numberOrNull, textOrNull, tokensOf } from "../row-values.js"
import type { SqliteDatabase, SqliteRow, SqliteStatement } from "./driver.js"
import { eventKey, packHex, placeOf, unpackHex } from "./keys.js"

/** A step as the store folds it: events are known by the keys of their rows. */
export type StoredStep = FoldedStep<number>

export function runColumns(
  run: { key: number; runId: string; fold: RunFold<number>; writer: number | null },
  nowMs: number,
): SqliteRow {
  const { key, runId, fold, writer } = run
  const { facts } = fold
  return {
    key,
    run_id: runId,
    trace_id: facts.traceId,
    conversation_id: column(facts.conversationId),
    writer,
    app: column(facts.app),
    entrypoint: column(facts.entrypoint),
    environment: column(facts.environment),
    agent_version: column(facts.agentVersion),
    status: facts.end ?? (facts.isCrashed ? "crashed" : "running"),
    started_at: facts.startedAtMs,
    ended_at: facts.endedAtMs,
    last_at: facts.lastAtMs,
    first_mono: facts.firstMono,
    last_mono: facts.lastMono,
    duration: durationOfRun(facts, fold.steps.root),
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
    prompt_tokens: facts.tokens.prompt,
    completion_tokens: facts.tokens.completion,
    cache_read_tokens: facts.tokens.cacheRead,
    cache_write_tokens: facts.tokens.cacheWrite,
    reasoning_tokens: facts.tokens.reasoning,
    source_run_id: column(facts.sourceRunId),
    ingested_at: nowMs,
    // A run that goes on may hold new bodies, so retention has to look at it again.
    released: 0,
    is_crashed: facts.isCrashed ? 1 : 0,
  }
}

export function stepColumns(runKey: number, step: StoredStep): SqliteRow {
  return {
    key: eventKey(runKey, step.no),
    step_id: packHex(step.id, 16),
    parent_id: step.openedUnder === null ? null : packHex(step.openedUnder, 16),
    parent: step.parent?.no ?? null,
    kind: STEP_KINDS.indexOf(step.kind),
    name: column(step.name) ?? "",
    provider: column(step.provider),
    status: STEP_STATUSES.indexOf(step.status),
    opened_at: step.openedAtMs,
    opened: step.opened,
    closed: step.closed,
    duration: step.durationMicros,
    attempt: step.isAttempt ? step.saidAttempt : null,
    error_class: column(step.errorClass),
    work_kind: column(step.workKind),
    source: column(step.source),
    inferred_by: column(step.inferredBy),
    is_replayed: step.isReplayed ? 1 : 0,
    attempts: step.attempts,
    first_byte: step.firstByteMicros,
    service_tier: column(step.serviceTier),
    cache_write_1h_tokens: step.cacheWrite1h,
    prompt_tokens: step.tokens.prompt,
    completion_tokens: step.tokens.completion,
    cache_read_tokens: step.tokens.cacheRead,
    cache_write_tokens: step.tokens.cacheWrite,
    reasoning_tokens: step.tokens.reasoning,
  }
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
    agentVersion: textOrNull(row["agent_version"]),
    startedAtMs: Number(row["started_at"]),
    endedAtMs: numberOrNull(row["ended_at"]),
    lastAtMs: Number(row["last_at"]),
    inputSummary: textOrNull(row["input_summary"]),
    errorClass: textOrNull(row["error_class"]),
    errorSummary: textOrNull(row["error_summary"]),
    captureMode: textOrNull(row["capture_mode"]),
    sourceRunId: textOrNull(row["source_run_id"]),
    events: Number(row["events"]),
    // A store of an earlier schema that can only be read has none of these.
    annotations: Number(row["annotations"] ?? 0),
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
    kind: STEP_KINDS[Number(row["kind"])]!,
    name: textOrNull(row["name"]) || null,
    provider: textOrNull(row["provider"]),
    status: STEP_STATUSES[Number(row["status"])]!,
    openedAtMs: Number(row["opened_at"]),
    attemptNo: numberOrNull(row["attempt"]),
    errorClass: textOrNull(row["error_class"]),
    workKind: textOrNull(row["work_kind"]),
    source: textOrNull(row["source"]),
    inferredBy: textOrNull(row["inferred_by"]),
    tokens: tokensOf(row),
  }
}

export function factsOf(row: SqliteRow, lastSequence: number): RunFacts {
  const { runId: _, inputSummary, ...facts } = runFacts(row)
  const status = String(row["status"])
  return {
    ...facts,
    input: inputSummary,
    end: status === "completed" || status === "failed" ? status : null,
    isCrashed: Number(row["is_crashed"]) === 1,
    firstMono: Number(row["first_mono"]),
    lastMono: Number(row["last_mono"]),
    lastSequence,
    closedSteps: facts.steps - Number(row["open_steps"]),
  }
}

export function toStep(row: SqliteRow, parent: StoredStep | null): StoredStep {
  const { attemptNo, ...facts } = stepFacts(row)
  return {
    ...facts,
    id: unpackHex(row["step_id"]),
    parent,
    openedUnder: row["parent_id"] === null ? null : unpackHex(row["parent_id"]),
    openedMono: null,
    closedMono: null,
    opened: numberOrNull(row["opened"]),
    closed: numberOrNull(row["closed"]),
    durationMicros: numberOrNull(row["duration"]),
    saidAttempt: attemptNo,
    isAttempt: attemptNo !== null,
    attempts: Number(row["attempts"] ?? 0),
    isReplayed: Number(row["is_replayed"] ?? 0) === 1,
    firstByteMicros: numberOrNull(row["first_byte"]),
    serviceTier: textOrNull(row["service_tier"]),
    cacheWrite1h: numberOrNull(row["cache_write_1h_tokens"]),
  }
}
/** Writes rows of one table, which all have the same columns. */
export class RowWriter {
  readonly #database: SqliteDatabase
  readonly #table: string
  #insert: SqliteStatement | undefined

  constructor(database: SqliteDatabase, table: string) {
    this.#database = database
    this.#table = table
  }

  put(row: SqliteRow): void {
    this.#insert ??= this.#prepare(Object.keys(row))
    this.#insert.run(...Object.values(row))
  }

  #prepare(columns: readonly string[]): SqliteStatement {
    const places = columns.map(() => "?").join(", ")
    return this.#database.prepare(`INSERT OR REPLACE INTO ${this.#table} (${columns.join(", ")}) VALUES (${places})`)
  }
}
