import { addTokens, noTokens, type TokenCounts } from "@orangebox/runs"
import type { RollupQuery, RollupRow } from "../trace-store.js"
import { STEP_KINDS } from "./codes.js"
import type { SqliteDatabase, SqliteRow } from "./driver.js"
import { PLACES } from "./keys.js"
import { tokensOf } from "./run-rows.js"

const DAY_MS = 86_400_000

type MutableRollup = { -readonly [K in keyof Omit<RollupRow, "tokens">]: RollupRow[K] } & { tokens: TokenCounts }

/** Sums by day or week: the kept rows, and on top the steps that are open at this moment. */
export function readRollups(database: SqliteDatabase, query: RollupQuery): RollupRow[] {
  const sums = new Map<string, MutableRollup>()
  const take = (row: SqliteRow): void => {
    const period = periodOf(Number(row["day"]), query.by)
    const sum = sumFor(sums, row, period)
    sum.count += Number(row["count"])
    sum.errors += Number(row["errors"])
    sum.timeouts += Number(row["timeouts"])
    sum.open += Number(row["open"])
    sum.durationMsSum += Number(row["duration_sum"]) / 1000
    sum.durationMsMax = Math.max(sum.durationMsMax, Number(row["duration_max"]) / 1000)
    addTokens(sum.tokens, tokensOf(row))
  }
  const since = dayOf(query.since ?? 0)
  const until = query.until === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(query.until / DAY_MS)
  const conditions = ["day >= ?", "day < ?"]
  const values: (string | number)[] = [since, until]
  if (query.kind !== undefined) {
    conditions.push("kind = ?")
    values.push(STEP_KINDS.indexOf(query.kind))
  }
  if (query.name !== undefined) {
    conditions.push("name = ?")
    values.push(query.name)
  }
  if (query.app !== undefined) {
    conditions.push("app = ?")
    values.push(query.app)
  }
  const where = conditions.join(" AND ")
  for (const row of database.prepare(`SELECT * FROM rollup_rows WHERE ${where}`).all(...values)) take(row)
  for (const row of database.prepare(`SELECT * FROM (${OPEN_STEPS}) WHERE ${where}`).all(...values)) take(row)
  return [...sums.values()]
    .filter((sum) => sum.count > 0)
    .sort(
      (one, other) =>
        compare(one.period, other.period) || compare(one.kind, other.kind) || compare(one.name, other.name),
    )
}

const OPEN_STEPS = `
  SELECT opened_at / ${DAY_MS} AS day, kind, step_rows.name AS name, coalesce(provider, '') AS provider, coalesce(app, '') AS app,
    count(*) AS count, 0 AS errors, 0 AS timeouts, count(*) AS open, 0 AS duration_sum, 0 AS duration_max
  FROM run_rows JOIN step_rows ON step_rows.key BETWEEN run_rows.key * ${PLACES} AND run_rows.key * ${PLACES} + ${PLACES - 1}
  WHERE run_rows.open_steps > 0 AND step_rows.closed IS NULL AND step_rows.attempt IS NULL GROUP BY 1, 2, 3, 4, 5`

function sumFor(sums: Map<string, MutableRollup>, row: SqliteRow, period: string): MutableRollup {
  const key = [period, row["kind"], row["name"], row["provider"], row["app"]].join("\n")
  let sum = sums.get(key)
  if (sum === undefined) {
    sum = {
      period,
      kind: STEP_KINDS[Number(row["kind"])]!,
      name: String(row["name"]),
      provider: String(row["provider"]) || null,
      app: String(row["app"]) || null,
      count: 0,
      errors: 0,
      timeouts: 0,
      open: 0,
      durationMsSum: 0,
      durationMsMax: 0,
      tokens: noTokens(),
    }
    sums.set(key, sum)
  }
  return sum
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

/** The day itself, or the Monday of its week; 1970-01-01 was a Thursday. */
function periodOf(day: number, by: "day" | "week"): string {
  const first = by === "day" ? day : day - ((((day + 3) % 7) + 7) % 7)
  return new Date(first * DAY_MS).toISOString().slice(0, 10)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
