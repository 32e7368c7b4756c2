import { STEP_STATUSES } from "../../codes.js"

const status = (word: (typeof STEP_STATUSES)[number]): number => STEP_STATUSES.indexOf(word)

/** What retention took before: it is unknown what sort of work it was or how its durations were spread. */
const keptAs = (word: (typeof STEP_STATUSES)[number], count: string): string =>
  `INSERT INTO rollup_rows (run, day, kind, work_kind, name, provider, source, status, error_class, app, agent_version, count)
   SELECT 0, day, kind, '', name, provider, '', ${status(word)}, '', app, '', ${count} FROM old_rollups WHERE kept = 1 AND ${count} > 0`

/**
 * Roll-ups belong to a run until retention takes it, so that folding a run again replaces what it had added, and they keep what cannot be
 * told later. All runs are folded again: what their steps now say stands in their events only. A text is linked to a run once for each
 * type of event that holds it. Gaps and problems know when they came.
 */
export const SUMS_THAT_STAY: readonly string[] = [
  "ALTER TABLE run_rows ADD COLUMN agent_version TEXT",
  "ALTER TABLE step_rows ADD COLUMN work_kind TEXT",
  "ALTER TABLE step_rows ADD COLUMN source TEXT",
  "ALTER TABLE step_rows ADD COLUMN inferred_by TEXT",
  "ALTER TABLE step_rows ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE step_rows ADD COLUMN first_byte INTEGER",
  "ALTER TABLE step_rows ADD COLUMN service_tier TEXT",
  "ALTER TABLE step_rows ADD COLUMN cache_write_1h_tokens INTEGER",

  "ALTER TABLE rollup_rows RENAME TO old_rollups",
  // `run` is 0 for the sum over the runs that retention took; app and version of any other run stand in its row.
  `CREATE TABLE rollup_rows (
      run INTEGER NOT NULL, day INTEGER NOT NULL, kind INTEGER NOT NULL, work_kind TEXT NOT NULL, name TEXT NOT NULL, provider TEXT NOT NULL,
      source TEXT NOT NULL, status INTEGER NOT NULL, error_class TEXT NOT NULL, app TEXT NOT NULL, agent_version TEXT NOT NULL,
      count INTEGER NOT NULL, attempts INTEGER, duration_sum INTEGER, duration_max INTEGER, durations TEXT,
      first_byte_sum INTEGER, first_byte_max INTEGER, first_bytes TEXT, generations TEXT,
      prompt_tokens INTEGER, completion_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
      without_usage INTEGER, usd_nano INTEGER, unpriced INTEGER,
      PRIMARY KEY (run, day, kind, work_kind, name, provider, source, status, error_class, app, agent_version)
    ) WITHOUT ROWID`,
  keptAs("error", "errors"),
  keptAs("timeout", "timeouts"),
  keptAs("open", "open"),
  `INSERT INTO rollup_rows (run, day, kind, work_kind, name, provider, source, status, error_class, app, agent_version, count, duration_sum, duration_max,
       prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens)
     SELECT 0, day, kind, '', name, provider, '', ${status("success")}, '', app, '', count - errors - timeouts - open, duration_sum, duration_max,
       prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens FROM old_rollups WHERE kept = 1`,
  "DROP TABLE old_rollups",
  `CREATE TABLE contributor_rows (
      run INTEGER NOT NULL, day INTEGER NOT NULL, contributor TEXT NOT NULL, kind TEXT NOT NULL, app TEXT NOT NULL,
      prompts INTEGER NOT NULL, bytes INTEGER, tokens_est INTEGER, usd_nano INTEGER, unpriced INTEGER,
      PRIMARY KEY (run, day, contributor, kind, app)
    ) WITHOUT ROWID`,
  "INSERT OR IGNORE INTO runs_to_fold SELECT key FROM run_rows",

  "ALTER TABLE text_runs RENAME TO old_texts",
  "DROP INDEX text_runs_by_text",
  `CREATE TABLE text_runs (
      run INTEGER NOT NULL, class INTEGER NOT NULL, text INTEGER NOT NULL, type INTEGER NOT NULL, event INTEGER NOT NULL,
      PRIMARY KEY (run, class, text, type)
    ) WITHOUT ROWID`,
  "INSERT INTO text_runs SELECT run, class, text, coalesce(event_rows.type, 0), event FROM old_texts LEFT JOIN event_rows ON event_rows.key = event",
  "DROP TABLE old_texts",
  "CREATE INDEX text_runs_by_text ON text_runs (text, run)",

  "ALTER TABLE gap_rows ADD COLUMN at INTEGER",
  "ALTER TABLE problem_rows ADD COLUMN at INTEGER",
  ...["gap_rows", "problem_rows"].map(
    (table) => `UPDATE ${table} SET at = coalesce(json ->> '$.atMs', strftime('%s', 'now') * 1000)`,
  ),
]
