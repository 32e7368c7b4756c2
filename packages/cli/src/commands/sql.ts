import { InputError } from "@orangebox/contract"
import { runSql, type SqlTable } from "@orangebox/reader"
import { formatTable, plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { parseDuration, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"

interface SqlOptions {
  readonly timeout?: number
  readonly limit?: number
}

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_LIMIT = 1000

export function define(command: Command, session: Session): void {
  command
    .description("Ask the store in SQL, read-only, in a process with a time limit.")
    .argument("<query>", "one SELECT")
    .option("--timeout <time>", "stop the query after this; default 10s", parseDuration)
    .option("--limit <n>", `at most so many rows; default ${DEFAULT_LIMIT}`, parsePositive)
    .addHelpText("after", VIEWS)
  bindShell<SqlOptions>(command, session, sql, [
    ["orangebox sql 'SELECT status, count(*) FROM runs GROUP BY status'", "how runs ended"],
    ["orangebox sql 'SELECT name, avg(duration_ms) FROM tool_calls GROUP BY name'", "which tools are slow"],
    ["orangebox sql \"SELECT * FROM events WHERE event_type = 'log' LIMIT 5\" --json", "for a script"],
  ])
}

const VIEWS = `
Views, which stay as they are while the tables below them may change:
  runs         run_id, trace_id, conversation_id, app, entrypoint, environment, status, started_at, ended_at, duration_ms,
               events, annotations, steps, open_steps, model_calls, tool_calls, errors, prompt_tokens, completion_tokens, cache_read_tokens,
               cache_write_tokens, reasoning_tokens, input_summary, error_class, error_summary, source_run_id
  steps        run_id, no, step_id, parent_no, parent_step_id, kind, name, provider, status, opened_at, duration_ms, attempt_no,
               error_class and the token columns
  events       run_id, sequence_no, event_id, event_type, step_id, timestamp_utc, mono_us, source, payload, attributes,
               artifact_refs; payload, attributes and artifact_refs are JSON: payload ->> '$.tool_name'
  model_calls  the columns of steps, and request_hash, response_hash, finish_reason, http_status, first_byte_ms; one row per call,
               however often it was tried
  model_attempts  the same for the tries of calls; parent_no is their call, attempt_no which try
  tool_calls   the columns of steps, and tool_call_id, args_summary, args_hash, result_hash, exit_code
  bodies       hash, byte_size, mime, state, first_seen_at, state_since`

function sql(session: Session, options: SqlOptions & GlobalOptions, query = ""): Promise<undefined> {
  if (query.trim() === "")
    throw new InputError("SQL_INVALID", { what: "the query is empty", next: "See: orangebox sql --help" })
  return withReading(session, options, async ({ folder, freshness }) => {
    const maxRows = options.limit ?? DEFAULT_LIMIT
    const question = { storeFolder: folder.storeFolder, sql: query, maxRows }
    const table = await runSql(question, options.timeout ?? DEFAULT_TIMEOUT_MS)
    session.terminal.outVerbatim(options.json ? safeJson({ ...tableJson(table), ...freshness }, 2) : tableText(table))
    return undefined
  })
}

const MOST_CELL_COLUMNS = 80

function tableText({ columns, rows, isCut }: SqlTable): string {
  if (rows.length === 0) return "0 rows"
  const cells = rows.map((row) => row.map((value) => (value === null ? "" : String(value))))
  const shape = columns.map((title, index) => ({
    title,
    maxWidth: MOST_CELL_COLUMNS,
    align: rows.every((row) => typeof row[index] !== "string") ? ("right" as const) : ("left" as const),
  }))
  const count = isCut
    ? `the first ${plural(rows.length, "row")}, there are more: raise --limit`
    : plural(rows.length, "row")
  return `${formatTable(shape, cells)}\n${count}`
}

function tableJson({ columns, rows, isCut }: SqlTable) {
  return { columns, rows, is_cut: isCut }
}
