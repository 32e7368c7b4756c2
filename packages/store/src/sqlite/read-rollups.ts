import { ORIGINS, STEP_KINDS } from "../codes.js"
import type { Row } from "../row-values.js"
import { textOrNull } from "../row-values.js"
import { DAY_MS } from "../sums/step-sums.js"
import {
  contributorSumFilter,
  daysOf,
  milliseconds,
  periodOf,
  type SumFilter,
  stepSumFilter,
  toldContributors,
  toldDurationCounts,
  toldRollups,
} from "../sums/told-rollups.js"
import type {
  ContributorQuery,
  ContributorRollup,
  DurationCounts,
  RollupQuery,
  RollupRow,
  StepDuration,
} from "../trace-store.js"
import type { SqliteDatabase } from "./driver.js"
import { PLACES } from "./keys.js"
import { CONTRIBUTOR_ROLLUPS, STEP_ROLLUPS } from "./rollups.js"

/** Sums by day or week: of the runs that are here, of the steps that are open at this moment, and of what retention took. */
export function readRollups(database: SqliteDatabase, query: RollupQuery): RollupRow[] {
  return toldRollups(sumsIn(database, STEP_ROLLUPS, stepSumFilter(query)), query.by)
}

/** What each contributor put into the prompts of model calls. */
export function readContributors(database: SqliteDatabase, query: ContributorQuery): ContributorRollup[] {
  return toldContributors(sumsIn(database, CONTRIBUTOR_ROLLUPS, contributorSumFilter(query)), query.by)
}

/** The histograms alone: a whole row costs ten times as much to read, and this is asked with every diagnosis. */
export function readDurationCounts(
  database: SqliteDatabase,
  { app, since }: { readonly app: string; readonly since: number },
): DurationCounts[] {
  const rows = database.prepare(
    `SELECT kind, name, durations FROM (${STEP_ROLLUPS}) WHERE day >= ? AND app = ? AND durations IS NOT NULL`,
  )
  return toldDurationCounts(rows.iterate(daysOf(since).from, app))
}

function sumsIn(database: SqliteDatabase, select: string, { from, to, columns }: SumFilter): Iterable<Row> {
  const conditions = ["day >= ?", "day < ?", ...Object.keys(columns).map((name) => `${name} = ?`)]
  const rows = database.prepare(`SELECT * FROM (${select}) WHERE ${conditions.join(" AND ")}`)
  return rows.iterate(from, to, ...Object.values(columns))
}

/** How long each step of the runs took that began in these days, or on the day before and went on. */
export function readDurations(
  database: SqliteDatabase,
  { since, until }: { since?: number; until?: number },
): StepDuration[] {
  const { from, to } = daysOf(since, until)
  const rows = database.prepare(
    `SELECT step_rows.opened_at / ${DAY_MS} AS day, step_rows.kind, work_kind, step_rows.name, provider, source, app, agent_version,
       CASE WHEN writer IS NULL THEN ${ORIGINS.indexOf("imported")} WHEN is_replayed THEN ${ORIGINS.indexOf("replayed")} ELSE ${ORIGINS.indexOf("recorded")} END AS origin,
       step_rows.duration AS took, first_byte
     FROM run_rows JOIN step_rows ON step_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}
     WHERE run_rows.started_at >= ? AND run_rows.started_at < ? AND closed IS NOT NULL AND attempt IS NULL AND step_rows.duration IS NOT NULL
     AND step_rows.opened_at / ${DAY_MS} >= ? AND step_rows.opened_at / ${DAY_MS} < ?`,
  )
  return rows.all((from - 1) * DAY_MS, to * DAY_MS, from, to).map((row) => ({
    period: periodOf(Number(row["day"]), "day"),
    kind: STEP_KINDS[Number(row["kind"])]!,
    workKind: textOrNull(row["work_kind"]),
    name: String(row["name"]),
    provider: textOrNull(row["provider"]),
    source: textOrNull(row["source"]),
    app: textOrNull(row["app"]),
    agentVersion: textOrNull(row["agent_version"]),
    origin: ORIGINS[Number(row["origin"])]!,
    durationMs: Number(row["took"]) / 1000,
    firstByteMs: milliseconds(row["first_byte"]),
  }))
}
