import { ORIGINS, STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { numberOrNull, type Row, type RowValue, tokensOf } from "../row-values.js"
import type { ContributorQuery, ContributorRollup, DurationCounts, RollupQuery, RollupRow } from "../trace-store.js"
import { DAY_MS, ROLLUP_SHAPES } from "./step-sums.js"
import { countsOf, RowSum, type SumShape } from "./sum-shape.js"

/** Which rows of sums a question is about: their days, and the columns that must have a value. */
export interface SumFilter {
  readonly from: number
  readonly to: number
  readonly columns: Readonly<Record<string, number | string>>
}

export function stepSumFilter(query: RollupQuery): SumFilter {
  const { kind, workKind: work_kind, name, app, source } = query
  return filterOf(query, { kind: kind && STEP_KINDS.indexOf(kind), work_kind, name, app, source })
}

export function contributorSumFilter(query: ContributorQuery): SumFilter {
  return filterOf(query, { contributor: query.contributor, app: query.app })
}

function filterOf(
  { since, until, origin }: Pick<RollupQuery, "since" | "until" | "origin">,
  columns: Readonly<Record<string, number | string | undefined>>,
): SumFilter {
  const wanted = { ...columns, origin: origin && ORIGINS.indexOf(origin) }
  const given = Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...daysOf(since, until), columns: Object.fromEntries(given) }
}

/** Rows of sums as a question about steps is answered, by day or week. */
export function toldRollups(sums: Iterable<Row>, by: RollupQuery["by"]): RollupRow[] {
  const rows = addUp(sums, ROLLUP_SHAPES.steps, by)
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

/** The same about what each contributor put into prompts. */
export function toldContributors(sums: Iterable<Row>, by: ContributorQuery["by"]): ContributorRollup[] {
  const rows = addUp(sums, ROLLUP_SHAPES.contributors, by)
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

/** The histograms alone, of all days together. */
export function toldDurationCounts(sums: Iterable<Row>): DurationCounts[] {
  const added = new Map<
    string,
    { readonly kind: number; readonly name: string; readonly counts: Map<string, number> }
  >()
  for (const row of sums) {
    const [kind, name] = [Number(row["kind"]), String(row["name"])]
    const key = `${kind}\n${name}`
    const sum = added.get(key) ?? { kind, name, counts: new Map<string, number>() }
    added.set(key, sum)
    for (const [bucket, count] of Object.entries(countsOf(row["durations"] ?? null)))
      sum.counts.set(bucket, (sum.counts.get(bucket) ?? 0) + count)
  }
  return [...added.values()].map(({ kind, name, counts }) => ({
    ...{ kind: STEP_KINDS[kind]!, name, durations: Object.fromEntries(counts) },
  }))
}

/** The days that a span of time touches: sums are of whole ones. */
export const daysOf = (since = 0, until = LAST_DAY * DAY_MS): { from: number; to: number } => ({
  from: Math.floor(since / DAY_MS),
  to: Math.ceil(until / DAY_MS),
})

const LAST_DAY = Math.floor(Number.MAX_SAFE_INTEGER / DAY_MS)

interface PeriodSum {
  readonly period: string
  readonly row: Row
  readonly byStatus: Map<string, number>
  readonly errorClasses: Map<string, number>
}

function addUp(rows: Iterable<Row>, shape: SumShape, by: "day" | "week"): PeriodSum[] {
  const told = shape.key.filter((column) => !NOT_TOLD_APART.has(column))
  const sums = new Map<string, Omit<PeriodSum, "row"> & { readonly sum: RowSum }>()
  for (const row of rows) {
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

function countUnder(counts: Map<string, number>, name: RowValue | undefined, count: number): void {
  if (typeof name === "string" && name !== "") counts.set(name, (counts.get(name) ?? 0) + count)
}

const dollars = (nano: RowValue | undefined): number | null => (nano == null ? null : Number(nano) / 1e9)
export const milliseconds = (micros: RowValue | undefined): number | null =>
  micros == null ? null : Number(micros) / 1000

const wordOf = (column: string, row: Row): RowValue | undefined =>
  column === "kind" ? (STEP_KINDS[Number(row[column])] ?? row[column]) : row[column]

/** The day itself, or the Monday of its week; 1970-01-01 was a Thursday. */
export function periodOf(day: number, by: "day" | "week"): string {
  const first = by === "day" ? day : day - ((((day + 3) % 7) + 7) % 7)
  return new Date(first * DAY_MS).toISOString().slice(0, 10)
}
