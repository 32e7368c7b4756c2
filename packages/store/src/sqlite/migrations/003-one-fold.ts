import { OWN_PLACES, PLACES } from "../keys.js"
import type { Migration } from "../schema.js"

const within = (rows: string, from: number, to: number): string =>
  `${rows}.key BETWEEN run_rows.key * ${PLACES} + ${from} AND run_rows.key * ${PLACES} + ${to}`

/**
 * Steps know the number of their parent, annotations are counted apart from a run's own events, and attempts are no errors of their run.
 * Of a run whose events are all there this follows from its rows. Any other run is folded again from its events the next time the store
 * is opened for writing: its steps may have been numbered differently.
 */
export const oneFold: Migration = {
  version: 3,
  title: "one fold",
  statements: [
    "ALTER TABLE step_rows ADD COLUMN parent INTEGER",
    "ALTER TABLE run_rows ADD COLUMN annotations INTEGER NOT NULL DEFAULT 0",
    `UPDATE step_rows SET parent = (
      SELECT min(above.key) % ${PLACES} FROM step_rows AS above
      WHERE above.step_id = step_rows.parent_id AND above.key / ${PLACES} = step_rows.key / ${PLACES} AND above.key < step_rows.key
    )`,
    `UPDATE run_rows SET annotations = (
      SELECT count(*) FROM event_rows WHERE ${within("event_rows", OWN_PLACES, PLACES - 1)} AND event_rows.json ->> '$.sequence_no' IS NULL
    )`,
    "UPDATE run_rows SET events = events - annotations",
    `UPDATE run_rows SET errors = (
      SELECT count(*) FROM step_rows WHERE ${within("step_rows", 2, PLACES - 1)} AND status IN (2, 3) AND attempt IS NULL
    ) WHERE errors > 0`,
    "CREATE TABLE runs_to_fold (run INTEGER PRIMARY KEY)",
    `INSERT INTO runs_to_fold SELECT key FROM run_rows
      WHERE events <> 1 + coalesce((SELECT max(event_rows.key) % ${PLACES} FROM event_rows WHERE ${within("event_rows", 0, OWN_PLACES - 1)}), -1)
      OR EXISTS (SELECT 1 FROM step_rows WHERE ${within("step_rows", 0, PLACES - 1)} AND (opened IS NULL OR (parent IS NULL AND kind <> 0)))
      OR NOT EXISTS (SELECT 1 FROM step_rows WHERE step_rows.key = run_rows.key * ${PLACES} + 1 AND kind = 0)`,
  ],
}
