import { ORIGINS, STEP_KINDS, STEP_STATUSES } from "../codes.js"
import type { SqliteDatabase } from "./driver.js"
import { OWN_PLACES, PLACES } from "./keys.js"
import { STATUS } from "./read-runs.js"
import { CONTRIBUTOR_ROLLUPS, STEP_ROLLUPS } from "./rollups.js"

/** The documented face of the database: text ids, UTC times, milliseconds. See docs-sql-views.md. */
export function createViews(database: SqliteDatabase): void {
  for (const [name, select] of Object.entries(VIEWS)) {
    database.exec(`DROP VIEW IF EXISTS ${name}`)
    database.exec(`CREATE VIEW ${name} AS ${select}`)
  }
}

const time = (column: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000, 'unixepoch') || printf('.%03dZ', ${column} % 1000)`
const hex = (column: string): string =>
  `CASE typeof(${column}) WHEN 'blob' THEN lower(hex(${column})) ELSE ${column} END`
const uuid = (column: string): string => {
  const part = (from: number, length: number): string => `substr(lower(hex(${column})), ${from}, ${length})`
  const parts = [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)].join(" || '-' || ")
  return `CASE typeof(${column}) WHEN 'blob' THEN ${parts} ELSE ${column} END`
}
const word = (column: string, words: readonly string[]): string =>
  `CASE ${column} ${words.map((text, code) => `WHEN ${code} THEN '${text}'`).join(" ")} END`

const TOKENS = ["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"]
const tokensOf = (table: string): string => TOKENS.map((column) => `${table}.${column}`).join(", ")

// Both forms of the same condition, so that the planner can go from a run to its rows and from a row to its run.
const within = (rows: string): string =>
  `run_rows.key = ${rows}.key / ${PLACES} AND ${rows}.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}`

const eventColumns = (runId: string, sequenceNo: string): string => `
  ${runId} AS run_id, ${sequenceNo} AS sequence_no, ${uuid("event_rows.event_id")} AS event_id, event_types.name AS event_type,
  ${hex("event_rows.step_id")} AS step_id, ${time("event_rows.at")} AS timestamp_utc, event_rows.mono AS mono_us,
  profiles.json ->> '$.source' AS source, profiles.json ->> '$.conversation_id' AS conversation_id, profiles.json ->> '$.lane_id' AS lane_id,
  profiles.json ->> '$.inferred_by' AS inferred_by, event_rows.json -> '$.links' AS links, event_rows.json -> '$.payload' AS payload, event_rows.json -> '$.attributes' AS attributes,
  event_rows.json -> '$.artifact_refs' AS artifact_refs`

const stepColumns = `
  run_rows.run_id, step_rows.key % ${PLACES} AS no, nullif(${hex("step_rows.step_id")}, '') AS step_id, step_rows.parent AS parent_no,
  (SELECT ${hex("above.step_id")} FROM step_rows AS above WHERE above.key = run_rows.key * ${PLACES} + step_rows.parent) AS parent_step_id, ${word("step_rows.kind", STEP_KINDS)} AS kind, step_rows.work_kind, nullif(step_rows.name, '') AS name, step_rows.provider, step_rows.source, step_rows.inferred_by, run_rows.conversation_id,
  CASE WHEN step_rows.status = ${STEP_STATUSES.indexOf("open")} AND run_rows.status = 'crashed' THEN 'crashed' ELSE ${word("step_rows.status", STEP_STATUSES)} END AS status, ${time("step_rows.opened_at")} AS opened_at,
  step_rows.duration / 1000.0 AS duration_ms, step_rows.attempt AS attempt_no, step_rows.error_class, ${tokensOf("step_rows")}`

/** The calls of a tool on the day and by the app whose prompts defined it. */
const toolSteps = (sum: string): string =>
  `SELECT ${sum} FROM (${STEP_ROLLUPS}) AS tool WHERE tool.day = prompt.day AND tool.app = prompt.app AND tool.origin = prompt.origin
   AND tool.kind = ${STEP_KINDS.indexOf("tool")} AND 'tool:' || tool.name = prompt.contributor`

const MODEL_STEPS = `SELECT ${stepColumns}, called.json ->> '$.payload.request_ref' AS request_hash,
    result.json ->> '$.payload.response_ref' AS response_hash, result.json ->> '$.payload.finish_reason' AS finish_reason,
    result.json ->> '$.payload.http_status' AS http_status, result.json ->> '$.payload.first_byte_ms' AS first_byte_ms
    FROM step_rows JOIN run_rows ON ${within("step_rows")}
    LEFT JOIN event_rows AS called ON called.key = step_rows.opened LEFT JOIN event_rows AS result ON result.key = step_rows.closed
    WHERE step_rows.kind = ${STEP_KINDS.indexOf("model")}`

/** A link stands on the event that opened its step, or in an event of its own. */
const LINKS = `SELECT key, step_id, event_id, profile, json -> '$.payload.link' AS link FROM event_rows
    WHERE type = (SELECT key FROM event_types WHERE name = 'link_added')
    UNION ALL SELECT event_rows.key, step_id, event_id, profile, entry.value FROM event_rows, json_each(event_rows.json, '$.links') AS entry
    WHERE json_type(event_rows.json, '$.links') = 'array' AND entry.type = 'object'`

const day = "strftime('%Y-%m-%d', day * 86400, 'unixepoch') AS day"
const named = (...columns: string[]): string => columns.map((column) => `nullif(${column}, '') AS ${column}`).join(", ")

/** Their names, in the order of the help page. */
export const viewNames = (): string[] => Object.keys(VIEWS)

const VIEWS: Readonly<Record<string, string>> = {
  runs: `SELECT run_id, trace_id, conversation_id, app, agent_version, entrypoint, environment, ${STATUS} AS status, ${time("started_at")} AS started_at,
    ${time("ended_at")} AS ended_at, duration / 1000.0 AS duration_ms, events, annotations, steps, open_steps, model_calls,
    tool_calls, errors, ${tokensOf("run_rows")}, input_summary, error_class, error_summary, source_run_id FROM run_rows`,

  steps: `SELECT ${stepColumns} FROM step_rows JOIN run_rows ON ${within("step_rows")}`,

  events: `SELECT ${eventColumns(
    "run_rows.run_id",
    `CASE WHEN event_rows.key % ${PLACES} < ${OWN_PLACES} THEN event_rows.key % ${PLACES} ELSE event_rows.json ->> '$.sequence_no' END`,
  )}
    FROM event_rows JOIN run_rows ON ${within("event_rows")}
    JOIN event_types ON event_types.key = event_rows.type JOIN profiles ON profiles.key = event_rows.profile
    UNION ALL SELECT ${eventColumns("NULL", "NULL")} FROM event_rows
    JOIN event_types ON event_types.key = event_rows.type JOIN profiles ON profiles.key = event_rows.profile WHERE event_rows.key < 0`,

  model_calls: `${MODEL_STEPS} AND step_rows.attempt IS NULL`,

  model_attempts: `${MODEL_STEPS} AND step_rows.attempt IS NOT NULL`,

  tool_calls: `SELECT ${stepColumns}, called.json ->> '$.payload.tool_call_id' AS tool_call_id,
    called.json ->> '$.payload.args_summary' AS args_summary, called.json ->> '$.payload.args_ref' AS args_hash,
    result.json ->> '$.payload.result_ref' AS result_hash, result.json ->> '$.payload.exit_code' AS exit_code
    FROM step_rows JOIN run_rows ON ${within("step_rows")}
    LEFT JOIN event_rows AS called ON called.key = step_rows.opened LEFT JOIN event_rows AS result ON result.key = step_rows.closed
    WHERE step_rows.kind = ${STEP_KINDS.indexOf("tool")}`,

  links: `SELECT run_rows.run_id, ${hex("linking.step_id")} AS step_id, ${uuid("linking.event_id")} AS event_id, link ->> '$.kind' AS kind,
    link ->> '$.run_id' AS to_run_id, link ->> '$.step_id' AS to_step_id, link ->> '$.trace_id' AS to_trace_id,
    profiles.json ->> '$.inferred_by' AS inferred_by FROM (${LINKS}) AS linking
    JOIN run_rows ON ${within("linking")} JOIN profiles ON profiles.key = linking.profile`,

  rollups: `SELECT ${day}, ${named("app", "agent_version")}, ${word("kind", STEP_KINDS)} AS kind, ${named("work_kind", "name", "provider", "source")},
    ${word("status", STEP_STATUSES)} AS status, ${named("error_class")}, ${word("origin", ORIGINS)} AS origin, count, attempts, duration_sum / 1000.0 AS duration_ms_sum,
    duration_max / 1000.0 AS duration_ms_max, durations, first_byte_sum / 1000.0 AS first_byte_ms_sum, first_byte_max / 1000.0 AS first_byte_ms_max,
    first_bytes, generations, ${TOKENS.join(", ")}, without_usage AS calls_without_usage, usd_nano / 1e9 AS usd, unpriced AS unpriced_calls
    FROM (${STEP_ROLLUPS}) WHERE count <> 0`,

  contributor_rollups: `SELECT ${day}, ${named("app")}, contributor, kind, ${word("origin", ORIGINS)} AS origin, sum(prompts) AS prompts, sum(bytes) AS bytes, sum(tokens_est) AS tokens_est,
    sum(usd_nano) / 1e9 AS usd, sum(unpriced) AS unpriced_prompts, sum(uses) AS uses, sum(unheard) AS unheard_prompts, sum(entries) AS entries,
    CASE kind WHEN 'tool-def' THEN coalesce((${toolSteps("sum(count)")}), 0) END AS calls,
    CASE kind WHEN 'tool-def' THEN coalesce((${toolSteps("sum(CASE WHEN tool.status IN (2, 3) THEN count ELSE 0 END)")}), 0) END AS errors
    FROM (${CONTRIBUTOR_ROLLUPS}) AS prompt GROUP BY prompt.day, prompt.app, contributor, kind, prompt.origin`,

  bodies: `SELECT 'sha256:' || lower(hex(hash)) AS hash, byte_size, mime, ${word("state", ["stored", "pruned", "redacted", "awaited"])} AS state,
    ${time("seen_at")} AS first_seen_at, ${time("state_at")} AS state_since FROM body_rows`,
}
