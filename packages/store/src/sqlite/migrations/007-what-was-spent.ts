import type { Migration } from "../schema.js"

/**
 * Sums tell what happened here from what a replay was served and from what was imported, and say how often a model asked for what stands in
 * its prompts. Sums of many runs are added up in blocks, so that a question need not read the rows of every run. All runs are folded again:
 * what is new stands in their events only. Of what retention took before, it is unknown where it came from.
 */
export const whatWasSpent: Migration = {
  version: 7,
  title: "what was spent",
  statements: [
    "ALTER TABLE step_rows ADD COLUMN is_replayed INTEGER NOT NULL DEFAULT 0",

    "ALTER TABLE rollup_rows RENAME TO old_rollups",
    ...["rollup_rows", "rollup_blocks"].map(
      (table) => `CREATE TABLE ${table} (
        run INTEGER NOT NULL, day INTEGER NOT NULL, kind INTEGER NOT NULL, work_kind TEXT NOT NULL, name TEXT NOT NULL, provider TEXT NOT NULL,
        source TEXT NOT NULL, status INTEGER NOT NULL, error_class TEXT NOT NULL, origin INTEGER NOT NULL, app TEXT NOT NULL, agent_version TEXT NOT NULL,
        count INTEGER NOT NULL, attempts INTEGER, duration_sum INTEGER, duration_max INTEGER, durations TEXT,
        first_byte_sum INTEGER, first_byte_max INTEGER, first_bytes TEXT, generations TEXT,
        prompt_tokens INTEGER, completion_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
        without_usage INTEGER, usd_nano INTEGER, unpriced INTEGER,
        PRIMARY KEY (run, day, kind, work_kind, name, provider, source, status, error_class, origin, app, agent_version)
      ) WITHOUT ROWID`,
    ),
    `INSERT INTO rollup_rows (run, day, kind, work_kind, name, provider, source, status, error_class, origin, app, agent_version, count, attempts,
        duration_sum, duration_max, durations, first_byte_sum, first_byte_max, first_bytes, generations, prompt_tokens, completion_tokens,
        cache_read_tokens, cache_write_tokens, reasoning_tokens, without_usage, usd_nano, unpriced)
      SELECT run, day, kind, work_kind, name, provider, source, status, error_class, 0, app, agent_version, count, attempts,
        duration_sum, duration_max, durations, first_byte_sum, first_byte_max, first_bytes, generations, prompt_tokens, completion_tokens,
        cache_read_tokens, cache_write_tokens, reasoning_tokens, without_usage, usd_nano, unpriced FROM old_rollups WHERE run = 0`,
    "DROP TABLE old_rollups",

    "ALTER TABLE contributor_rows RENAME TO old_contributors",
    ...["contributor_rows", "contributor_blocks"].map(
      (table) => `CREATE TABLE ${table} (
        run INTEGER NOT NULL, day INTEGER NOT NULL, contributor TEXT NOT NULL, kind TEXT NOT NULL, origin INTEGER NOT NULL, app TEXT NOT NULL,
        prompts INTEGER NOT NULL, bytes INTEGER, tokens_est INTEGER, uncounted INTEGER, usd_nano INTEGER, unpriced INTEGER,
        uses INTEGER, unheard INTEGER, entries INTEGER,
        PRIMARY KEY (run, day, contributor, kind, origin, app)
      ) WITHOUT ROWID`,
    ),
    `INSERT INTO contributor_rows (run, day, contributor, kind, origin, app, prompts, bytes, tokens_est, usd_nano, unpriced)
      SELECT run, day, contributor, kind, 0, app, prompts, bytes, tokens_est, usd_nano, unpriced FROM old_contributors WHERE run = 0`,
    "DROP TABLE old_contributors",

    // The blocks of runs whose sums have to be read run by run, until they are added up.
    "CREATE TABLE open_blocks (block INTEGER PRIMARY KEY)",
    "INSERT OR IGNORE INTO runs_to_fold SELECT key FROM run_rows",
  ],
}
