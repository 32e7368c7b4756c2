import { STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { numberOrNull } from "../row-values.js"
import { toStepColumns } from "../step-columns.js"
import type { StepColumns } from "../trace-store.js"
import type { SqliteDatabase, SqliteValue } from "./driver.js"
import { eventKey, firstKey, lastKey, placeOf } from "./keys.js"
import { getRun, runKeyOfId } from "./read-runs.js"

export function stepColumns(
  database: SqliteDatabase,
  runId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): StepColumns | undefined {
  const runKey = runKeyOfId(database, runId)
  const run = runKey === undefined ? undefined : getRun(database, runId)
  if (runKey === undefined || run === undefined) return undefined
  const firstMono = numberOrNull(
    database.prepare("SELECT first_mono FROM run_rows WHERE key = ?").get(runKey)?.["first_mono"],
  )
  const rows = database
    .prepare(
      `SELECT step_rows.key, step_rows.parent, step_rows.kind, step_rows.work_kind, step_rows.name, step_rows.provider, step_rows.status,
         step_rows.opened_at, step_rows.duration, step_rows.attempt, step_rows.error_class, step_rows.inferred_by, step_rows.prompt_tokens,
         step_rows.completion_tokens, step_rows.cache_read_tokens, step_rows.cache_write_tokens, opener.mono, opener.profile
       FROM step_rows LEFT JOIN event_rows AS opener ON opener.key = step_rows.opened
       WHERE step_rows.key BETWEEN ? AND ? ORDER BY step_rows.key LIMIT ?`,
    )
    .all(Math.max(firstKey(runKey), eventKey(runKey, from)), lastKey(runKey), limit)
  const profiles = new Profiles(database)
  return toStepColumns(
    { ...run, firstMono },
    rows.map((row) => {
      const { mode, lane } = profiles.of(row["profile"])
      return {
        n: placeOf(Number(row["key"])),
        parent: numberOrNull(row["parent"]),
        kind: STEP_KINDS[Number(row["kind"])]!,
        workKind: row["work_kind"]!,
        name: row["name"]!,
        provider: row["provider"]!,
        status: STEP_STATUSES[Number(row["status"])]!,
        mode,
        lane,
        inferredBy: row["inferred_by"]!,
        attempt: numberOrNull(row["attempt"]),
        errorClass: row["error_class"]!,
        openedAtMs: Number(row["opened_at"]),
        openedMono: numberOrNull(row["mono"]),
        duration: numberOrNull(row["duration"]),
        prompt: numberOrNull(row["prompt_tokens"]),
        completion: numberOrNull(row["completion_tokens"]),
        cacheRead: numberOrNull(row["cache_read_tokens"]),
        cacheWrite: numberOrNull(row["cache_write_tokens"]),
      }
    }),
  )
}

interface Profile {
  readonly mode: string | null
  readonly lane: string | null
}

const UNKNOWN: Profile = { mode: null, lane: null }

/** What the envelopes of thousands of events share, read once each. */
class Profiles {
  readonly #known = new Map<number, Profile>()
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  of(key: SqliteValue | undefined): Profile {
    if (key == null) return UNKNOWN
    const known = this.#known.get(Number(key))
    if (known !== undefined) return known
    const text = this.#database.prepare("SELECT json FROM profiles WHERE key = ?").get(Number(key))?.["json"]
    const { determinism_mode = null, lane_id = null } = text == null ? {} : JSON.parse(String(text))
    const profile = { mode: determinism_mode, lane: lane_id }
    this.#known.set(Number(key), profile)
    return profile
  }
}
