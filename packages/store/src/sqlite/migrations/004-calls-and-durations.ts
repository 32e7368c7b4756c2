import { PLACES } from "../keys.js"
import type { Migration } from "../schema.js"

/**
 * A run's row says how long it took: as its own step does, else from the first to the last reading of its clock. Runs in which a call did
 * not say what it used, though an attempt of it may, and runs in which something names itself as its parent are folded again. The views are
 * new: attempts stand apart from calls.
 */
export const callsAndDurations: Migration = {
  version: 4,
  title: "calls and durations",
  statements: [
    "ALTER TABLE run_rows ADD COLUMN duration INTEGER",
    `UPDATE run_rows SET first_mono = ${Number.MAX_SAFE_INTEGER} WHERE first_mono = 0 AND last_mono = 0`,
    `UPDATE run_rows SET duration = coalesce(
      (SELECT step_rows.duration FROM step_rows WHERE step_rows.key = run_rows.key * ${PLACES} + 1),
      CASE WHEN last_mono >= first_mono THEN last_mono - first_mono END
    )`,
    `INSERT OR IGNORE INTO runs_to_fold SELECT DISTINCT attempts.key / ${PLACES} FROM step_rows AS attempts
      JOIN step_rows AS calls ON calls.key = attempts.key - attempts.key % ${PLACES} + attempts.parent
      WHERE attempts.attempt IS NOT NULL AND (attempts.prompt_tokens IS NOT NULL OR attempts.completion_tokens IS NOT NULL)
      AND calls.prompt_tokens IS NULL AND calls.completion_tokens IS NULL`,
    `INSERT OR IGNORE INTO runs_to_fold SELECT DISTINCT key / ${PLACES} FROM step_rows WHERE step_id = parent_id`,
  ],
}
