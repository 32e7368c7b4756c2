import type { Migration } from "../schema.js"

/** Events that were redacted after they were recorded, with what they may say. A text over 64 KiB lies in several parts. */
export const redactedEvents: Migration = {
  version: 2,
  title: "redacted events",
  statements: [
    `CREATE TABLE redacted_events (
      event_id BLOB NOT NULL, part INTEGER NOT NULL, run_id TEXT, redacted_at INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (event_id, part)
    ) WITHOUT ROWID`,
    "CREATE INDEX redacted_by_run ON redacted_events (run_id) WHERE part = 0",
  ],
}
