import type { Migration } from "../schema.js"

/** How much of a stream had come when its writer died, and could not be judged yet. */
export const withheldBytes: Migration = {
  version: 6,
  title: "withheld bytes",
  statements: ["ALTER TABLE stream_rows ADD COLUMN withheld_bytes INTEGER NOT NULL DEFAULT 0"],
}
