import type { ContributorQuery, ContributorRollup, RollupQuery, RollupRow } from "../trace-store.js"
import { STEP_KINDS, STEP_STATUSES } from "./codes.js"
import type { SqliteDatabase, SqliteRow, SqliteValue } from "./driver.js"
import { CONTRIBUTOR_ROLLUPS, DAY_MS, ROLLUP_SHAPES, STEP_ROLLUPS } from "./rollups.js"
import { numberOrNull, tokensOf } from "./run-rows.js"
import { addRow, countsOf, type SumShape } from "./sum-table.js"

/** Sums by day or week: of the runs that are here, of the steps that are open at this moment, and of what retention took. */
export function readRollups(database: SqliteDatabase, query: RollupQuery): RollupRow[] {
  const { kind, workKind: work_kind, name, app, source } = query
  const where = { kind: kind && STEP_KINDS.indexOf(kind), work_kind, name, app, source }
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
    count: Number(row["count"]),
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
  const rows = sumsOf(database, CONTRIBUTOR_ROLLUPS, ROLLUP_SHAPES.contributors, query, { contributor, app })
  return rows.map(({ period, row }) => ({
    period,
    contributor: String(row["contributor"]),
    kind: String(row["kind"]),
    app: String(row["app"]) || null,
    prompts: Number(row["prompts"]),
    bytes: Number(row["bytes"]),
    tokensEstimated: numberOrNull(row["tokens_est"]),
    usd: dollars(row["usd_nano"]),
    unpricedPrompts: Number(row["unpriced"]),
  }))
}

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
  const values: SqliteValue[] = [
    Math.floor((since ?? 0) / DAY_MS),
    until === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(until / DAY_MS),
  ]
  for (const [column, value] of Object.entries(where)) {
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    values.push(value)
  }
  const told = shape.key.filter((column) => !NOT_TOLD_APART.has(column))
  const sums = new Map<string, PeriodSum>()
  const rows = database.prepare(`SELECT * FROM (${select}) WHERE ${conditions.join(" AND ")}`)
  for (const row of rows.iterate(...values)) {
    const period = periodOf(Number(row["day"]), by)
    const key = [period, ...told.map((column) => wordOf(column, row))].join("\n")
    let sum = sums.get(key)
    if (sum === undefined) {
      sum = { period, row: { ...row }, byStatus: new Map(), errorClasses: new Map() }
      sums.set(key, sum)
    } else addRow(sum.row, row, shape)
    countUnder(sum.byStatus, STEP_STATUSES[Number(row["status"])], row)
    countUnder(sum.errorClasses, row["error_class"], row)
  }
  return [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

const NOT_TOLD_APART: ReadonlySet<string> = new Set(["run", "day", "status", "error_class"])

function countUnder(counts: Map<string, number>, name: SqliteValue | undefined, row: SqliteRow): void {
  if (typeof name === "string" && name !== "") counts.set(name, (counts.get(name) ?? 0) + Number(row["count"]))
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
