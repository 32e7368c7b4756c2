import { ORIGINS, type STEP_KINDS } from "../codes.js"
import type { Row } from "../row-values.js"
import { DAY_MS, ROLLUP_SHAPES } from "../sums/step-sums.js"
import type { SumShape } from "../sums/sum-shape.js"
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
import { type Connection, quote, type ServerRow } from "./connection.js"
import { text } from "./read-runs.js"

/** The sums of all runs, pruned ones too, by their key: a run's own stand in its row. */
export function sumsOfRuns(shape: SumShape, column: string): string {
  const key = shape.key.filter((name) => name !== "run")
  const sums = [
    ...shape.added.map((name) => `sum(s.${name}) AS ${name}`),
    ...shape.largest.map((name) => `max(s.${name}) AS ${name}`),
    ...shape.counted.map((name) => `sumMap(s.${name}) AS ${name}`),
  ]
  return `SELECT ${[...key.map((name) => `s.${name} AS ${name}`), ...sums].join(", ")}
    FROM (SELECT arrayJoin(${column}) AS s FROM run_rows FINAL) GROUP BY ${key.map((name) => `s.${name}`).join(", ")}`
}

export async function readRollups(connection: Connection, query: RollupQuery): Promise<RollupRow[]> {
  return toldRollups(await sumsIn(connection, ROLLUP_SHAPES.steps, "sums", stepSumFilter(query)), query.by)
}

export async function readContributors(connection: Connection, query: ContributorQuery): Promise<ContributorRollup[]> {
  const filter = contributorSumFilter(query)
  return toldContributors(await sumsIn(connection, ROLLUP_SHAPES.contributors, "contributors", filter), query.by)
}

export async function readDurationCounts(
  connection: Connection,
  { app, since }: { readonly app: string; readonly since: number },
): Promise<DurationCounts[]> {
  const rows = await connection.rows(
    `SELECT s.kind AS kind, s.name AS name, sumMap(s.durations) AS durations FROM (SELECT arrayJoin(sums) AS s FROM run_rows FINAL)
     WHERE s.day >= ${daysOf(since).from} AND s.app = ${quote(app)} GROUP BY s.kind, s.name`,
  )
  return toldDurationCounts(rows.map((row) => asSum(row, ["durations"])).filter((row) => row["durations"] !== null))
}

async function sumsIn(
  connection: Connection,
  shape: SumShape,
  column: string,
  { from, to, columns }: SumFilter,
): Promise<Row[]> {
  const conditions = [`day >= ${from}`, `day < ${Math.min(to, 2 ** 31 - 1)}`]
  for (const [name, value] of Object.entries(columns))
    conditions.push(`${name} = ${typeof value === "number" ? value : quote(value)}`)
  const rows = await connection.rows(`SELECT * FROM (${sumsOfRuns(shape, column)}) WHERE ${conditions.join(" AND ")}`)
  return rows.map((row) => asSum(row, shape.counted))
}

/** A row as sums are kept: counts by bucket as JSON, and null where there are none. */
function asSum(row: ServerRow, counted: readonly string[]): Row {
  const sum = { ...row } as Row
  for (const name of counted) {
    const counts = (row[name] ?? {}) as Record<string, number>
    sum[name] = Object.keys(counts).length === 0 ? null : JSON.stringify(counts)
  }
  return sum
}

/** How long each step of the runs took that began in these days, or on the day before and went on. */
export async function readDurations(
  connection: Connection,
  { since, until }: { since?: number; until?: number },
): Promise<StepDuration[]> {
  const { from, to } = daysOf(since, until)
  const inDays = (column: string, first: number): string =>
    `${column} >= ${first * DAY_MS} AND ${column} < ${Math.min(to * DAY_MS, Number.MAX_SAFE_INTEGER)}`
  const rows = await connection.rows(
    `SELECT intDiv(opened_at, ${DAY_MS}) AS day, kind, work_kind, name, provider, source, app, agent_version, is_replayed, duration, first_byte, writer_id
     FROM step_rows FINAL JOIN (SELECT run_id, app, agent_version, writer_id FROM run_rows FINAL WHERE state = 'here' AND ${inDays("started_at", from - 1)}) AS runs USING (run_id)
     WHERE closed_by IS NOT NULL AND attempt IS NULL AND duration IS NOT NULL AND ${inDays("opened_at", from)}`,
  )
  return rows.map((row) => ({
    period: periodOf(Number(row["day"]), "day"),
    kind: String(row["kind"]) as (typeof STEP_KINDS)[number],
    workKind: text(row["work_kind"]),
    name: String(row["name"] ?? ""),
    provider: text(row["provider"]),
    source: text(row["source"]),
    app: text(row["app"]),
    agentVersion: text(row["agent_version"]),
    origin: ORIGINS[row["writer_id"] == null ? 2 : Number(row["is_replayed"])]!,
    durationMs: Number(row["duration"]) / 1000,
    firstByteMs: milliseconds(row["first_byte"] as number | null),
  }))
}
