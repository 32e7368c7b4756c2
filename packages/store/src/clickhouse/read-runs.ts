import { CANARY_APP, OrangeboxError } from "@orangebox/contract"
import type { FoldedKind, RunStatus, StepStatus } from "@orangebox/runs"
import { HELD } from "../codes.js"
import { tokensOf } from "../row-values.js"
import { toStepColumns } from "../step-columns.js"
import type { OpenRun, Page, RunQuery, RunRow, StepColumns, StepRow } from "../trace-store.js"
import { type Connection, listOf, quote, type ServerRow } from "./connection.js"
import { monthOf } from "./month-of.js"

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1000

const COLUMNS = `run_id, trace_id, conversation_id, writer_id, app, entrypoint, environment, agent_version, told_status, started_at, ended_at, last_at, first_mono, last_mono,
  duration, input_summary, error_class, error_summary, capture_mode, events, annotations, steps, open_steps, model_calls, tool_calls, errors, prompt_tokens,
  completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, source_run_id, released, is_crashed`

/** A row knows no end of its run; whether the run goes on is for its writer to say. `condition` is asked of the rows themselves, before anything else. */
const runsWhere = (condition: string): string =>
  `(SELECT ${COLUMNS.replace("told_status", "if(status = 'running' AND writers.writer_state != 'running', 'silent', status) AS told_status")}, host
  FROM (SELECT * EXCEPT (sums, contributors) FROM run_rows FINAL WHERE state = 'here' AND ${condition}) AS run
  LEFT JOIN (SELECT key AS writer, JSONExtractString(json, 'state') AS writer_state FROM fact_rows FINAL WHERE kind = 'writer') AS writers ON writers.writer = run.writer_id)`

const RUNS = runsWhere("1")

/** A trace is causally connected, and nothing starts before what caused it. */
export const FIRST_OF_TRACE = `run_id IN (SELECT argMin(run_id, (started_at, run_id)) FROM run_rows FINAL WHERE state = 'here' GROUP BY coalesce(trace_id, run_id))`

export async function listRuns(
  connection: Connection,
  query: RunQuery,
  digestOf: (id: string) => string = (id) => id,
): Promise<Page<RunRow>> {
  const conditions = ["1"]
  const when = (condition: string, value: unknown): void => {
    if (value !== undefined) conditions.push(condition)
  }
  const { conversationId, traceId, status, app, since, until, model, text, host } = query
  when(`conversation_id IN (${listOf([conversationId ?? "", digestOf(conversationId ?? "")])})`, conversationId)
  when(`trace_id = ${quote(traceId ?? "")}`, traceId)
  when(`told_status = ${quote(status ?? "")}`, status)
  when(`app = ${quote(app ?? "")}`, app)
  when(`host = ${quote(host ?? "")}`, host)
  when(`started_at >= ${Number(since)}`, since)
  when(`started_at < ${Number(until)}`, until)
  when(`run_id IN (SELECT run_id FROM step_rows FINAL WHERE kind = 'model' AND name = ${quote(model ?? "")})`, model)
  when(
    `positionCaseInsensitiveUTF8(concat(coalesce(input_summary, ''), ' ', coalesce(entrypoint, ''), ' ', run_id), ${quote(text ?? "")}) > 0`,
    text,
  )
  if (query.isFirstOfTrace) conditions.push(FIRST_OF_TRACE)
  if (query.isNoCanary) conditions.push(`coalesce(app, '') != ${quote(CANARY_APP)}`)
  const total = await connection.value(`SELECT count() FROM ${RUNS} WHERE ${conditions.join(" AND ")}`)
  if (query.cursor !== undefined) {
    const [startedAt, runId] = readCursor(query.cursor)
    conditions.push(`(started_at, run_id) < (${startedAt}, ${quote(runId)})`)
  }
  const limit = Math.max(1, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT))
  const rows = await connection.rows(
    `SELECT ${COLUMNS} FROM ${RUNS} WHERE ${conditions.join(" AND ")} ORDER BY started_at DESC, run_id DESC LIMIT ${limit + 1} OFFSET ${Math.max(0, Math.floor(query.offset ?? 0))}`,
  )
  const last = rows[limit - 1]
  const page = rows.slice(0, limit).map(toRunRow)
  return rows.length > limit && last !== undefined
    ? { rows: page, total, cursor: `${Number(last["started_at"])}.${String(last["run_id"])}` }
    : { rows: page, total }
}

function readCursor(cursor: string): [number, string] {
  const match = /^(-?\d+)\.(.+)$/s.exec(cursor)
  if (match) return [Number(match[1]), match[2]!]
  throw new OrangeboxError("STORE_CURSOR", {
    what: "this cursor does not come from a list of runs",
    next: "Start again without one",
  })
}

const inMonth = (runId: string): string => `month = ${quote(monthOf(runId))} AND run_id = ${quote(runId)}`

async function runRow(connection: Connection, runId: string): Promise<ServerRow | undefined> {
  const [row] = await connection.rows(`SELECT ${COLUMNS} FROM ${runsWhere(inMonth(runId))}`)
  return row
}

export async function getRun(connection: Connection, runId: string): Promise<RunRow | undefined> {
  const row = await runRow(connection, runId)
  return row && toRunRow(row)
}

/** A run that was folded anew may have had more steps once, never fewer: what is left of those is not shown. */
async function stepRows(connection: Connection, runId: string, steps: number, rest = ""): Promise<ServerRow[]> {
  return connection.rows(`SELECT * FROM step_rows FINAL WHERE ${inMonth(runId)} AND no <= ${steps} ${rest} ORDER BY no`)
}

export async function stepsOf(connection: Connection, runId: string): Promise<StepRow[]> {
  const run = await runRow(connection, runId)
  if (run === undefined) return []
  const rows = await stepRows(connection, runId, Number(run["steps"]))
  const ids = new Map(rows.map((row) => [Number(row["no"]), String(row["step_id"])]))
  const isCrashed = run["told_status"] === "crashed"
  return rows.map((row) => {
    const duration = number(row["duration"])
    const parentNo = number(row["parent"])
    const status = String(row["status"]) as StepStatus
    return {
      runId,
      stepId: String(row["step_id"]),
      no: Number(row["no"]),
      parentNo,
      parentStepId: parentNo === null ? null : (ids.get(parentNo) ?? null),
      kind: String(row["kind"]) as FoldedKind,
      name: text(row["name"]) || null,
      provider: text(row["provider"]),
      status: status === "open" && isCrashed ? "crashed" : status,
      openedAtMs: Number(row["opened_at"]),
      durationMs: duration === null ? null : duration / 1000,
      attemptNo: number(row["attempt"]),
      errorClass: text(row["error_class"]),
      workKind: text(row["work_kind"]),
      source: text(row["source"]),
      inferredBy: text(row["inferred_by"]),
      tokens: tokensOf(row as never),
      openedBy: text(row["opened_by"]),
      closedBy: text(row["closed_by"]),
    }
  })
}

export async function stepColumns(
  connection: Connection,
  runId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<StepColumns | undefined> {
  const row = await runRow(connection, runId)
  if (row === undefined) return undefined
  const run = toRunRow(row)
  const rows = await connection.rows(
    `SELECT * FROM step_rows FINAL WHERE ${inMonth(runId)} AND no <= ${run.steps} AND no >= ${Math.floor(from)} ORDER BY no LIMIT ${Math.floor(limit)}`,
  )
  return toStepColumns(
    { ...run, firstMono: number(row["first_mono"]) },
    rows.map((step) => ({
      n: Number(step["no"]),
      parent: number(step["parent"]),
      kind: String(step["kind"]),
      workKind: text(step["work_kind"]),
      name: text(step["name"]),
      provider: text(step["provider"]),
      status: String(step["status"]) as StepStatus,
      mode: text(step["mode"]),
      lane: text(step["lane"]),
      inferredBy: text(step["inferred_by"]),
      attempt: number(step["attempt"]),
      errorClass: text(step["error_class"]),
      openedAtMs: Number(step["opened_at"]),
      openedMono: number(step["opened_mono"]),
      duration: number(step["duration"]),
      prompt: number(step["prompt_tokens"]),
      completion: number(step["completion_tokens"]),
      cacheRead: number(step["cache_read_tokens"]),
      cacheWrite: number(step["cache_write_tokens"]),
    })),
  )
}

export async function openRunsOf(connection: Connection, writerId: string): Promise<OpenRun[]> {
  const rows = await connection.rows(
    `SELECT ${COLUMNS} FROM ${runsWhere(`writer_id = ${quote(writerId)}`)} WHERE told_status IN ('running', 'crashed', 'silent') ORDER BY run_id`,
  )
  if (rows.length === 0) return []
  const steps = await connection.rows(
    `SELECT run_id, argMax(step_id, no) AS last FROM step_rows FINAL WHERE run_id IN (${listOf(rows.map((row) => String(row["run_id"])))}) AND closed_by IS NULL GROUP BY run_id`,
  )
  const lastOpen = new Map(steps.map((row) => [String(row["run_id"]), String(row["last"])]))
  return rows.map((row) => ({
    runId: String(row["run_id"]),
    traceId: text(row["trace_id"]),
    conversationId: text(row["conversation_id"]),
    lastOpenStepId: lastOpen.get(String(row["run_id"])) || null,
    lastAtMs: Number(row["last_at"]),
    lastMonoMicros: Number(row["last_mono"]),
    isMarkedCrashed: Number(row["is_crashed"]) === 1,
  }))
}

function toRunRow(row: ServerRow): RunRow {
  const duration = number(row["duration"])
  return {
    runId: String(row["run_id"]),
    traceId: text(row["trace_id"]),
    conversationId: text(row["conversation_id"]),
    writerId: text(row["writer_id"]),
    app: text(row["app"]),
    entrypoint: text(row["entrypoint"]),
    environment: text(row["environment"]),
    agentVersion: text(row["agent_version"]),
    status: String(row["told_status"]) as RunStatus,
    startedAtMs: Number(row["started_at"]),
    endedAtMs: number(row["ended_at"]),
    lastAtMs: Number(row["last_at"]),
    durationMs: duration === null ? null : duration / 1000,
    inputSummary: text(row["input_summary"]),
    errorClass: text(row["error_class"]),
    errorSummary: text(row["error_summary"]),
    captureMode: text(row["capture_mode"]),
    events: Number(row["events"]),
    annotations: Number(row["annotations"]),
    steps: Number(row["steps"]),
    openSteps: Number(row["open_steps"]),
    modelCalls: Number(row["model_calls"]),
    toolCalls: Number(row["tool_calls"]),
    errors: Number(row["errors"]),
    tokens: tokensOf(row as never),
    sourceRunId: text(row["source_run_id"]),
    bodiesPruned: (Number(row["released"]) & (1 << HELD.body)) !== 0,
  }
}

export const text = (value: unknown): string | null => (value == null ? null : String(value))
export const number = (value: unknown): number | null => (value == null ? null : Number(value))
