import type {
  ContributorQuery,
  ContributorRollup,
  DurationCounts,
  RollupQuery,
  RollupRow,
  StepDuration,
} from "../trace-store.js"
import { ORIGINS, STEP_KINDS, STEP_STATUSES } from "./codes.js"
import type { SqliteDatabase, SqliteRow, SqliteValue } from "./driver.js"
import { PLACES } from "./keys.js"
import { CONTRIBUTOR_ROLLUPS, DAY_MS, ROLLUP_SHAPES, STEP_ROLLUPS } from "./rollups.js"
import { numberOrNull, textOrNull, tokensOf } from "./run-rows.js"
import { countsOf, RowSum, type SumShape } from "./sum-table.js"

/** Sums by day or week: of the runs that are here, of the steps that are open at this moment, and of what retention took. */
export function readRollups(database: SqliteDatabase, query: RollupQuery): RollupRow[] {
  const { kind, workKind: work_kind, name, app, source } = query
  const where = { kind: kind && STEP_KINDS.indexOf(kind), work_kind, name, app, source, origin: originCode(query) }
  const rows = sumsOf(database, STEP_ROLLUPS, ROLLUP_SHAPES.steps, query, where)
  return rows.map(({ period, row, byStatus, errorClasses }) => ({
    period,
    kind: STEP_KINDS[Number(row["kind"])]!,
    workKind: String(row["work_kind"]) || null,
    name: String(row["name"]),
    provider: String(row["provider"]) || null,
    source: String(row["source"]) || null,
    app: String(row["app"]) || null,
    agentVersion: String(row["agent_version"]) || null,
    origin: ORIGINS[Number(row["origin"])]!,
    count: Number(row["count"]),
    successes: byStatus.get("success") ?? 0,
    errors: byStatus.get("error") ?? 0,
    timeouts: byStatus.get("timeout") ?? 0,
    open: byStatus.get("open") ?? 0,
    errorClasses: Object.fromEntries([...errorClasses].sort(([one], [other]) => (one < other ? -1 : 1))),
    attempts: numberOrNull(row["attempts"]),
    durationMsSum: Number(row["duration_sum"] ?? 0) / 1000,
    durationMsMax: Number(row["duration_max"] ?? 0) / 1000,
    durations: countsOf(row["durations"] ?? null),
    firstByteMsSum: milliseconds(row["first_byte_sum"]),
    firstByteMsMax: milliseconds(row["first_byte_max"]),
    firstBytes: countsOf(row["first_bytes"] ?? null),
    generations: countsOf(row["generations"] ?? null),
    tokens: tokensOf(row),
    callsWithoutUsage: numberOrNull(row["without_usage"]),
    usd: dollars(row["usd_nano"]),
    unpricedCalls: numberOrNull(row["unpriced"]),
  }))
}

/** What each contributor put into the prompts of model calls. */
export function readContributors(database: SqliteDatabase, query: ContributorQuery): ContributorRollup[] {
  const { contributor, app } = query
  const rows = sumsOf(database, CONTRIBUTOR_ROLLUPS, ROLLUP_SHAPES.contributors, query, {
    contributor,
    app,
    origin: originCode(query),
  })
  return rows.map(({ period, row }) => ({
    period,
    contributor: String(row["contributor"]),
    kind: String(row["kind"]),
    app: String(row["app"]) || null,
    origin: ORIGINS[Number(row["origin"])]!,
    prompts: Number(row["prompts"]),
    bytes: Number(row["bytes"]),
    tokensEstimated: numberOrNull(row["tokens_est"]),
    uncountedPrompts: Number(row["uncounted"] ?? 0),
    usd: dollars(row["usd_nano"]),
    unpricedPrompts: Number(row["unpriced"] ?? 0),
    uses: numberOrNull(row["uses"]),
    unheardPrompts: Number(row["unheard"] ?? 0),
    entries: Number(row["entries"] ?? 0),
  }))
}

/** The histograms alone: a whole row costs ten times as much to read, and this is asked with every diagnosis. */
export function readDurationCounts(
  database: SqliteDatabase,
  { app, since }: { readonly app: string; readonly since: number },
): DurationCounts[] {
  const sums = new Map<string, { readonly kind: number; readonly name: string; readonly counts: Map<string, number> }>()
  const rows = database.prepare(
    `SELECT kind, name, durations FROM (${STEP_ROLLUPS}) WHERE day >= ? AND app = ? AND durations IS NOT NULL`,
  )
  for (const row of rows.iterate(daysOf(since).from, app)) {
    const [kind, name] = [Number(row["kind"]), String(row["name"])]
    const key = `${kind}\n${name}`
    const sum = sums.get(key) ?? { kind, name, counts: new Map<string, number>() }
    sums.set(key, sum)
    for (const [bucket, count] of Object.entries(countsOf(row["durations"]!)))
      sum.counts.set(bucket, (sum.counts.get(bucket) ?? 0) + count)
  }
  return [...sums.values()].map(({ kind, name, counts }) => ({
    ...{ kind: STEP_KINDS[kind]!, name, durations: Object.fromEntries(counts) },
  }))
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

const originCode = ({ origin }: Pick<RollupQuery, "origin">): number | undefined => origin && ORIGINS.indexOf(origin)

/** The days that a span of time touches: sums are of whole ones. */
const daysOf = (since = 0, until = LAST_DAY * DAY_MS): { from: number; to: number } => ({
  from: Math.floor(since / DAY_MS),
  to: Math.ceil(until / DAY_MS),
})

const LAST_DAY = Math.floor(Number.MAX_SAFE_INTEGER / DAY_MS)

interface PeriodSum {
  readonly period: string
  readonly row: SqliteRow
  readonly byStatus: Map<string, number>
  readonly errorClasses: Map<string, number>
}

function sumsOf(
  database: SqliteDatabase,
  select: string,
  shape: SumShape,
  { by, since, until }: { by: "day" | "week"; since?: number; until?: number },
  where: Readonly<Record<string, SqliteValue | undefined>>,
): PeriodSum[] {
  const conditions = ["day >= ?", "day < ?"]
  const { from, to } = daysOf(since, until)
  const values: SqliteValue[] = [from, to]
  for (const [column, value] of Object.entries(where)) {
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    values.push(value)
  }
  const told = shape.key.filter((column) => !NOT_TOLD_APART.has(column))
  const sums = new Map<string, Omit<PeriodSum, "row"> & { readonly sum: RowSum }>()
  const rows = database.prepare(`SELECT * FROM (${select}) WHERE ${conditions.join(" AND ")}`)
  for (const row of rows.iterate(...values)) {
    const period = periodOf(Number(row["day"]), by)
    const key = [period, ...told.map((column) => wordOf(column, row))].join("\n")
    let group = sums.get(key)
    const count = Number(row["count"])
    if (group === undefined) {
      group = { period, sum: new RowSum(row, shape), byStatus: new Map(), errorClasses: new Map() }
      sums.set(key, group)
    } else group.sum.add(row)
    countUnder(group.byStatus, STEP_STATUSES[Number(row["status"])], count)
    countUnder(group.errorClasses, row["error_class"], count)
  }
  return [...sums.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { sum, ...group }]) => ({ ...group, row: sum.row() }))
}

const NOT_TOLD_APART: ReadonlySet<string> = new Set(["run", "day", "status", "error_class"])

function countUnder(counts: Map<string, number>, name: SqliteValue | undefined, count: number): void {
  if (typeof name === "string" && name !== "") counts.set(name, (counts.get(name) ?? 0) + count)
}

const dollars = (nano: SqliteValue | undefined): number | null => (nano == null ? null : Number(nano) / 1e9)
const milliseconds = (micros: SqliteValue | undefined): number | null => (micros == null ? null : Number(micros) / 1000)

const wordOf = (column: string, row: SqliteRow): SqliteValue | undefined =>
  column === "kind" ? (STEP_KINDS[Number(row[column])] ?? row[column]) : row[column]

/** The day itself, or the Monday of its week; 1970-01-01 was a Thursday. */
function periodOf(day: number, by: "day" | "week"): string {
  const first = by === "day" ? day : day - ((((day + 3) % 7) + 7) % 7)
  return new Date(first * DAY_MS).toISOString().slice(0, 10)
}
