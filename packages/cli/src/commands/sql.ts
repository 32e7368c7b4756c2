import { given } from "@orangebox/contract"
import { answerSql, checkSql, DEFAULT_SQL_ROWS } from "@orangebox/reader"
import type { Command } from "commander"
import { parseDuration, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

interface SqlOptions {
  readonly timeout?: number
  readonly limit?: number
}

export function define(command: Command, session: Session): void {
  command
    .description("Ask the store in SQL, read-only, in a process with a time limit.")
    .argument("<query>", "one SELECT")
    .option("--timeout <time>", "stop the query after this; default 10s", parseDuration)
    .option("--limit <n>", `at most so many rows; default ${DEFAULT_SQL_ROWS}`, parsePositive)
    .addHelpText("after", prose(session, VIEWS))
  bindShell<SqlOptions>(command, session, sql, [
    ["orangebox sql 'SELECT status, count(*) FROM runs GROUP BY status'", "how runs ended"],
    ["orangebox sql 'SELECT name, avg(duration_ms) FROM tool_calls GROUP BY name'", "which tools are slow"],
    ["orangebox sql 'SELECT day, sum(usd), sum(unpriced_calls) FROM rollups GROUP BY day'", "what the days cost"],
    ["orangebox sql \"SELECT * FROM events WHERE event_type = 'log' LIMIT 5\" --json", "for a script"],
  ])
}

const VIEWS = `Views, which stay as they are while the tables below them may change:
  runs         run_id, trace_id, conversation_id, app, agent_version, entrypoint, environment, status, started_at, ended_at, duration_ms, events, annotations, steps, open_steps, model_calls, tool_calls, errors, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_summary, error_class, error_summary, source_run_id
  steps        run_id, no, step_id, parent_no, parent_step_id, kind, work_kind, name, provider, source, inferred_by, conversation_id, status, opened_at, duration_ms, attempt_no, error_class and the token columns
  events       run_id, sequence_no, event_id, event_type, step_id, timestamp_utc, mono_us, source, conversation_id, lane_id, inferred_by, links, payload, attributes, artifact_refs; payload, attributes and artifact_refs are JSON: payload ->> '$.tool_name'
  model_calls  the columns of steps, and request_hash, response_hash, finish_reason, http_status, first_byte_ms; one row per call, however often it was tried
  model_attempts  the same for the tries of calls; parent_no is their call, attempt_no which try
  tool_calls   the columns of steps, and tool_call_id, args_summary, args_hash, result_hash, exit_code
  links        run_id, step_id, event_id, kind, to_run_id, to_step_id, to_trace_id, inferred_by
  rollups      day, app, agent_version, kind, work_kind, name, provider, source, status, error_class, origin, count, attempts, durations, tokens, usd, unpriced_calls and more: what stays when runs are pruned
  contributor_rollups  day, app, contributor, kind, origin, prompts, bytes, tokens_est, usd, unpriced_prompts, uses, calls, errors
  bodies       hash, byte_size, mime, state, first_seen_at, state_since`

function sql(session: Session, options: SqlOptions & GlobalOptions, query = ""): Promise<number | undefined> {
  checkSql(query)
  const { limit, timeout: timeoutMs } = options
  return withReading(session, options, async (reading) =>
    tell(
      session,
      options,
      await answerSql(reading, { query, ...given({ limit, timeoutMs }) }, viewOptions(session, {})),
    ),
  )
}
