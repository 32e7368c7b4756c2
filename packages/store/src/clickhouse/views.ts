import { ORIGINS, STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { ROLLUP_SHAPES } from "../sums/step-sums.js"
import { sumsOfRuns } from "./read-sums.js"

/** The documented face of the database, with the names and columns it has on every engine; functions and operators are the server's own. */
export function viewStatements(database: string): string[] {
  return Object.entries(VIEWS).map(([name, select]) => `CREATE OR REPLACE VIEW ${database}.${name} {on} AS ${select}`)
}

const time = (column: string): string =>
  `if(${column} IS NULL, NULL, concat(formatDateTime(fromUnixTimestamp64Milli(assumeNotNull(${column}), 'UTC'), '%FT%T'), '.', leftPad(toString(${column} % 1000), 3, '0'), 'Z'))`
const said = (column: string, ...path: string[]): string =>
  `nullIf(JSONExtractString(${column}, ${path.map((part) => `'${part}'`).join(", ")}), '')`
const raw = (column: string, name: string): string => `nullIf(JSONExtractRaw(${column}, '${name}'), '')`
const count = (column: string, ...path: string[]): string =>
  `JSONExtract(${column}, ${path.map((part) => `'${part}'`).join(", ")}, 'Nullable(Float64)')`
const word = (column: string, words: readonly string[]): string =>
  `[${words.map((text) => `'${text}'`).join(", ")}][${column} + 1]`
const named = (...columns: string[]): string => columns.map((name) => `nullIf(sums.${name}, '') AS ${name}`).join(", ")

const TOKENS = ["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"]
const tokensOf = (table: string): string => TOKENS.map((column) => `${table}.${column} AS ${column}`).join(", ")

const WRITERS =
  "(SELECT key AS writer_id, JSONExtractString(json, 'state') AS state FROM fact_rows FINAL WHERE kind = 'writer')"
const HERE = "(SELECT * FROM run_rows FINAL WHERE state = 'here')"

const stepColumns = `step.run_id AS run_id, step.no AS no, nullIf(step.step_id, '') AS step_id, step.parent AS parent_no, above.step_id AS parent_step_id, step.kind AS kind,
  step.work_kind AS work_kind, nullIf(step.name, '') AS name, step.provider AS provider, step.source AS source, step.inferred_by AS inferred_by, run.conversation_id AS conversation_id,
  if(step.status = 'open' AND run.status = 'crashed', 'crashed', step.status) AS status, ${time("step.opened_at")} AS opened_at, step.duration / 1000 AS duration_ms,
  step.attempt AS attempt_no, step.error_class AS error_class, ${tokensOf("step")}`

const STEPS = `(SELECT * FROM step_rows FINAL) AS step JOIN ${HERE} AS run ON run.run_id = step.run_id
  LEFT JOIN (SELECT run_id, toNullable(no) AS no, toNullable(step_id) AS step_id FROM step_rows FINAL) AS above ON above.run_id = step.run_id AND above.no = step.parent`

const event = (alias: string): string =>
  `LEFT JOIN (SELECT run_id, toNullable(event_id) AS event_id, json FROM event_rows FINAL WHERE is_conflict = 0) AS ${alias}`

const CALLS = `FROM ${STEPS} ${event("called")} ON called.run_id = step.run_id AND called.event_id = step.opened_by
  ${event("result")} ON result.run_id = step.run_id AND result.event_id = step.closed_by`

const MODEL_STEPS = `SELECT ${stepColumns}, ${said("called.json", "payload", "request_ref")} AS request_hash, ${said("result.json", "payload", "response_ref")} AS response_hash,
  ${said("result.json", "payload", "finish_reason")} AS finish_reason, ${count("result.json", "payload", "http_status")} AS http_status,
  ${count("result.json", "payload", "first_byte_ms")} AS first_byte_ms ${CALLS} WHERE step.kind = 'model'`

const LINKS = `SELECT run_id, step_id, event_id, json, JSONExtractRaw(json, 'payload', 'link') AS link FROM event_rows FINAL WHERE event_type = 'link_added' AND is_conflict = 0
  UNION ALL SELECT run_id, step_id, event_id, json, arrayJoin(JSONExtractArrayRaw(json, 'links')) AS link FROM event_rows FINAL WHERE is_conflict = 0`

const day = "toString(toDate(sums.day)) AS day"

const VIEWS: Readonly<Record<string, string>> = {
  runs: `SELECT run.run_id AS run_id, trace_id, conversation_id, app, agent_version, entrypoint, environment,
    if(status = 'running' AND writers.state != 'running', 'silent', status) AS status, ${time("run.started_at")} AS started_at, ${time("run.ended_at")} AS ended_at,
    duration / 1000 AS duration_ms, events, annotations, steps, open_steps, model_calls, tool_calls, errors, ${tokensOf("run")}, input_summary, error_class,
    error_summary, source_run_id FROM ${HERE} AS run LEFT JOIN ${WRITERS} AS writers ON writers.writer_id = run.writer_id`,

  steps: `SELECT ${stepColumns} FROM ${STEPS}`,

  events: `SELECT if(startsWith(event.run_id, '~'), NULL, event.run_id) AS run_id, JSONExtract(event.json, 'sequence_no', 'Nullable(Int64)') AS sequence_no, event.event_id AS event_id,
    event.event_type AS event_type, event.step_id AS step_id, ${time("event.at")} AS timestamp_utc, event.mono AS mono_us, ${said("event.json", "source")} AS source,
    ${said("event.json", "conversation_id")} AS conversation_id, ${said("event.json", "lane_id")} AS lane_id, ${said("event.json", "inferred_by")} AS inferred_by,
    ${raw("event.json", "links")} AS links, ${raw("event.json", "payload")} AS payload, ${raw("event.json", "attributes")} AS attributes,
    if(JSONLength(event.json, 'artifact_refs') = 0, NULL, ${raw("event.json", "artifact_refs")}) AS artifact_refs
    FROM (SELECT * FROM event_rows FINAL WHERE is_conflict = 0) AS event`,

  model_calls: `${MODEL_STEPS} AND step.attempt IS NULL`,

  model_attempts: `${MODEL_STEPS} AND step.attempt IS NOT NULL`,

  tool_calls: `SELECT ${stepColumns}, ${said("called.json", "payload", "tool_call_id")} AS tool_call_id, ${said("called.json", "payload", "args_summary")} AS args_summary,
    ${said("called.json", "payload", "args_ref")} AS args_hash, ${said("result.json", "payload", "result_ref")} AS result_hash, ${count("result.json", "payload", "exit_code")} AS exit_code
    ${CALLS} WHERE step.kind = 'tool'`,

  links: `SELECT linking.run_id AS run_id, linking.step_id AS step_id, linking.event_id AS event_id, ${said("linking.link", "kind")} AS kind, ${said("linking.link", "run_id")} AS to_run_id,
    ${said("linking.link", "step_id")} AS to_step_id, ${said("linking.link", "trace_id")} AS to_trace_id, ${said("linking.json", "inferred_by")} AS inferred_by
    FROM (${LINKS}) AS linking JOIN (SELECT run_id FROM ${HERE}) AS run ON run.run_id = linking.run_id`,

  rollups: `SELECT ${day}, ${named("app", "agent_version")}, ${word("sums.kind", STEP_KINDS)} AS kind, ${named("work_kind", "name", "provider", "source")},
    ${word("sums.status", STEP_STATUSES)} AS status, ${named("error_class")}, ${word("sums.origin", ORIGINS)} AS origin, sums.count AS count, sums.attempts AS attempts, sums.duration_sum / 1000 AS duration_ms_sum,
    sums.duration_max / 1000 AS duration_ms_max, if(empty(sums.durations), NULL, toJSONString(sums.durations)) AS durations, sums.first_byte_sum / 1000 AS first_byte_ms_sum, sums.first_byte_max / 1000 AS first_byte_ms_max,
    if(empty(sums.first_bytes), NULL, toJSONString(sums.first_bytes)) AS first_bytes, if(empty(sums.generations), NULL, toJSONString(sums.generations)) AS generations, ${TOKENS.map((name) => `sums.${name} AS ${name}`).join(", ")}, sums.without_usage AS calls_without_usage, sums.usd_nano / 1e9 AS usd,
    sums.unpriced AS unpriced_calls FROM (${sumsOfRuns(ROLLUP_SHAPES.steps, "sums")}) AS sums WHERE sums.count != 0`,

  contributor_rollups: `SELECT toString(toDate(sums.day)) AS day, nullIf(sums.app, '') AS app, sums.contributor AS contributor, sums.kind AS kind, ${word("sums.origin", ORIGINS)} AS origin, sums.prompts AS prompts, sums.bytes AS bytes, sums.tokens_est AS tokens_est,
    sums.usd_nano / 1e9 AS usd, sums.unpriced AS unpriced_prompts, sums.uses AS uses, sums.unheard AS unheard_prompts, sums.entries AS entries,
    if(sums.kind = 'tool-def', coalesce(tools.calls, 0), NULL) AS calls, if(sums.kind = 'tool-def', coalesce(tools.errors, 0), NULL) AS errors
    FROM (${sumsOfRuns(ROLLUP_SHAPES.contributors, "contributors")}) AS sums
    LEFT JOIN (SELECT day, app, origin, concat('tool:', name) AS contributor, sum(count) AS calls, sumIf(count, status IN (2, 3)) AS errors FROM (${sumsOfRuns(ROLLUP_SHAPES.steps, "sums")})
      WHERE kind = ${STEP_KINDS.indexOf("tool")} GROUP BY day, app, origin, name) AS tools
    ON tools.day = sums.day AND tools.app = sums.app AND tools.origin = sums.origin AND tools.contributor = sums.contributor`,

  bodies: `SELECT hash, byte_size, mime, ['stored', 'pruned', 'redacted', 'awaited'][state + 1] AS state, ${time("body.seen_at")} AS first_seen_at, ${time("body.state_at")} AS state_since
    FROM (SELECT * FROM body_rows FINAL) AS body`,
}
