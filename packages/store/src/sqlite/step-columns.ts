import { STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { numberOrNull } from "../row-values.js"
import type { StepColumns } from "../trace-store.js"
import type { SqliteDatabase, SqliteValue } from "./driver.js"
import { eventKey, firstKey, lastKey, placeOf } from "./keys.js"
import { getRun, runKeyOfId } from "./read-runs.js"

/**
 * The steps of a run as columns, without reading an event: what a list of ten thousand of them is painted from. Names stand once each, and
 * the columns hold their places.
 */
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
  const words = new Words()
  const profiles = new Profiles(database)
  const columns: { -readonly [Name in keyof StepColumns["columns"]]: (number | null)[] } = {
    n: [],
    parent: [],
    kind: [],
    work_kind: [],
    name: [],
    provider: [],
    status: [],
    mode: [],
    lane: [],
    inferred_by: [],
    attempt_no: [],
    error_class: [],
    started_us: [],
    duration_us: [],
    input_tokens: [],
    output_tokens: [],
    cache_read_tokens: [],
    cache_write_tokens: [],
  }
  for (const row of rows) {
    const status = STEP_STATUSES[Number(row["status"])]!
    const mono = numberOrNull(row["mono"])
    const profile = profiles.of(row["profile"])
    columns.n.push(placeOf(Number(row["key"])))
    columns.parent.push(numberOrNull(row["parent"]))
    columns.kind.push(words.of(STEP_KINDS[Number(row["kind"])]))
    columns.work_kind.push(words.of(row["work_kind"]))
    columns.name.push(words.of(row["name"] || null))
    columns.provider.push(words.of(row["provider"]))
    columns.status.push(words.of(status === "open" && run.status === "crashed" ? "crashed" : status))
    columns.mode.push(words.of(profile.mode))
    columns.lane.push(words.of(profile.lane))
    columns.inferred_by.push(words.of(row["inferred_by"]))
    columns.attempt_no.push(numberOrNull(row["attempt"]))
    columns.error_class.push(words.of(row["error_class"]))
    // Of a step whose opening was lost the wall clock is all there is.
    columns.started_us.push(
      mono !== null && firstMono !== null ? mono - firstMono : (Number(row["opened_at"]) - run.startedAtMs) * 1000,
    )
    columns.duration_us.push(numberOrNull(row["duration"]))
    columns.input_tokens.push(numberOrNull(row["prompt_tokens"]))
    columns.output_tokens.push(numberOrNull(row["completion_tokens"]))
    columns.cache_read_tokens.push(numberOrNull(row["cache_read_tokens"]))
    columns.cache_write_tokens.push(numberOrNull(row["cache_write_tokens"]))
  }
  return { total: run.steps, words: words.all, columns }
}

class Words {
  readonly all: string[] = []
  readonly #places = new Map<string, number>()

  of(word: SqliteValue | undefined): number | null {
    if (word == null) return null
    const text = String(word)
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.all.length)
    return this.all.push(text) - 1
  }
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
