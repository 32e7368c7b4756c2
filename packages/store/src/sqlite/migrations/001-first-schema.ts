import type { Migration } from "../schema.js"

/**
 * Tables end in `_rows` (or are internal); the views without it are what `orangebox sql` documents and what stays stable.
 * Columns exist only for what is queried; everything else of an event is one JSON text.
 */
export const firstSchema: Migration = {
  version: 1,
  title: "first schema",
  statements: [
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE offset_rows (file TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID",

    `CREATE TABLE writer_rows (
      key INTEGER PRIMARY KEY, writer_id TEXT NOT NULL UNIQUE, identity TEXT NOT NULL, state TEXT NOT NULL,
      file TEXT, records INTEGER NOT NULL, last_seen_at INTEGER, exit TEXT
    )`,
    "CREATE TABLE event_types (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    // What is the same in the envelopes of thousands of events, said once.
    "CREATE TABLE profiles (key INTEGER PRIMARY KEY, writer INTEGER, json TEXT NOT NULL, UNIQUE (json, writer))",

    `CREATE TABLE run_rows (
      key INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, trace_id TEXT, conversation_id TEXT, writer INTEGER,
      app TEXT, entrypoint TEXT, environment TEXT, status TEXT NOT NULL,
      started_at INTEGER NOT NULL, ended_at INTEGER, last_at INTEGER NOT NULL, first_mono INTEGER NOT NULL, last_mono INTEGER NOT NULL,
      input_summary TEXT, error_class TEXT, error_summary TEXT, capture_mode TEXT,
      events INTEGER NOT NULL, steps INTEGER NOT NULL, open_steps INTEGER NOT NULL,
      model_calls INTEGER NOT NULL, tool_calls INTEGER NOT NULL, errors INTEGER NOT NULL,
      prompt_tokens INTEGER, completion_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
      source_run_id TEXT, ingested_at INTEGER NOT NULL, released INTEGER NOT NULL, is_crashed INTEGER NOT NULL
    )`,
    "CREATE INDEX runs_by_start ON run_rows (started_at)",
    "CREATE INDEX runs_by_trace ON run_rows (trace_id) WHERE trace_id IS NOT NULL",
    "CREATE INDEX runs_by_conversation ON run_rows (conversation_id) WHERE conversation_id IS NOT NULL",
    "CREATE INDEX runs_open ON run_rows (open_steps) WHERE open_steps > 0",
    // Closing many dead writers asks each for the runs it left open; without this, that is the square of their number.
    "CREATE INDEX runs_left_open ON run_rows (writer) WHERE status IN ('running', 'crashed')",

    `CREATE TABLE event_rows (
      key INTEGER PRIMARY KEY, event_id BLOB NOT NULL, type INTEGER NOT NULL, profile INTEGER NOT NULL,
      step_id BLOB, at INTEGER NOT NULL, mono INTEGER NOT NULL, json TEXT NOT NULL
    )`,
    "CREATE UNIQUE INDEX events_by_id ON event_rows (event_id)",
    `CREATE TABLE conflict_rows (
      key INTEGER PRIMARY KEY, run TEXT, writer_id TEXT, seen_at INTEGER NOT NULL, digest BLOB NOT NULL UNIQUE, json TEXT NOT NULL
    )`,
    "CREATE INDEX conflicts_by_run ON conflict_rows (run)",

    `CREATE TABLE step_rows (
      key INTEGER PRIMARY KEY, step_id BLOB NOT NULL, parent_id BLOB, kind INTEGER NOT NULL, name TEXT NOT NULL, provider TEXT,
      status INTEGER NOT NULL, opened_at INTEGER NOT NULL, opened INTEGER, closed INTEGER, duration INTEGER, attempt INTEGER,
      error_class TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
      reasoning_tokens INTEGER
    )`,
    "CREATE INDEX steps_by_id ON step_rows (step_id)",

    // Ids that stand inside events: tool calls, provider requests, messages.
    `CREATE TABLE id_rows (
      id TEXT NOT NULL, kind INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (id, kind, event)
    ) WITHOUT ROWID`,

    `CREATE TABLE body_rows (
      key INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, byte_size INTEGER NOT NULL, mime TEXT, state INTEGER NOT NULL,
      seen_at INTEGER NOT NULL, state_at INTEGER, recipe BLOB
    )`,
    `CREATE TABLE body_refs (
      body INTEGER NOT NULL, event INTEGER NOT NULL, class INTEGER NOT NULL, PRIMARY KEY (body, event, class)
    ) WITHOUT ROWID`,
    "CREATE INDEX refs_by_event ON body_refs (event, class)",
    "CREATE TABLE chunk_rows (hash BLOB PRIMARY KEY, chunk INTEGER NOT NULL) WITHOUT ROWID",
    `CREATE TABLE block_rows (
      first_chunk INTEGER PRIMARY KEY, pack INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL,
      lengths BLOB NOT NULL, is_settled INTEGER NOT NULL
    )`,
    "CREATE INDEX blocks_by_pack ON block_rows (is_settled, pack, start, size)",

    `CREATE TABLE stream_rows (
      key INTEGER PRIMARY KEY, stream_id TEXT NOT NULL UNIQUE, run_id TEXT, step_id TEXT, role TEXT NOT NULL, mime TEXT,
      state INTEGER NOT NULL, chunks INTEGER NOT NULL, byte_size INTEGER NOT NULL, last_micros INTEGER NOT NULL, is_unbroken INTEGER NOT NULL DEFAULT 1, body INTEGER
    )`,
    "CREATE INDEX streams_by_run ON stream_rows (run_id)",
    // A piece over 64 KiB lies in several rows; each says where it begins.
    `CREATE TABLE stream_chunks (
      stream INTEGER NOT NULL, offset INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (stream, offset)
    ) WITHOUT ROWID`,

    "CREATE TABLE gap_rows (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, json TEXT NOT NULL)",
    "CREATE TABLE gap_runs (run_id TEXT NOT NULL, gap INTEGER NOT NULL, PRIMARY KEY (run_id, gap)) WITHOUT ROWID",
    "CREATE TABLE problem_rows (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, json TEXT NOT NULL)",

    // Each distinct piece of text once, and in which runs it occurs: an agent that sends its history again adds nothing to either.
    "CREATE TABLE text_rows (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE)",
    `CREATE TABLE text_runs (
      run INTEGER NOT NULL, class INTEGER NOT NULL, text INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (run, class, text)
    ) WITHOUT ROWID`,
    "CREATE INDEX text_runs_by_text ON text_runs (text, run)",
    "CREATE VIRTUAL TABLE search_index USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram')",
    "CREATE VIRTUAL TABLE search_terms USING fts5vocab (search_index, row)",

    // `kept` is 0 for steps that are still stored and 1 for the sum over those that retention took.
    `CREATE TABLE rollup_rows (
      day INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, provider TEXT NOT NULL, app TEXT NOT NULL, kept INTEGER NOT NULL,
      count INTEGER NOT NULL, errors INTEGER NOT NULL, timeouts INTEGER NOT NULL, open INTEGER NOT NULL,
      duration_sum INTEGER NOT NULL, duration_max INTEGER NOT NULL,
      prompt_tokens INTEGER, completion_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
      PRIMARY KEY (day, kind, name, provider, app, kept)
    ) WITHOUT ROWID`,

    "CREATE TABLE buried_runs (run_id TEXT PRIMARY KEY, buried_at INTEGER NOT NULL) WITHOUT ROWID",
    // Runs that are no longer there but whose rows are still being removed.
    "CREATE TABLE leaving_runs (run INTEGER PRIMARY KEY, run_id TEXT NOT NULL)",
  ],
}
