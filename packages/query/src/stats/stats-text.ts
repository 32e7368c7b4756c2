import {
  type Column,
  formatCount,
  formatDuration,
  formatPercent,
  formatTable,
  type Painter,
  plain,
  plural,
  recordedWord,
  shareBar,
} from "@orangebox/text"
import type { Figures } from "./figures.js"
import type { Percentile, Spread } from "./spread.js"
import { type GroupFigures, type Grouping, type Stats, type StatsGroup, type StatsOverview, stepsIn } from "./stats.js"

export interface StatsTextOptions {
  readonly width?: number
  readonly paint?: Painter
  /** How many groups of a table are shown. */
  readonly limit?: number
  /** The command to read on with. */
  readonly next?: string
}

/** One grouping as a table, with what it adds up to above and what is not in it below. */
export function statsText(stats: Stats, options: StatsTextOptions = {}): string {
  if (stats.groups.length === 0) return [nothingWords(stats), ...notCountedLines(stats)].join("\n")
  return [summaryLines(stats).join("\n"), table(stats, options, stats.by), footLines([stats]).join("\n")]
    .filter((part) => part !== "")
    .join("\n\n")
}

/** What a person wants to see first: the sum, then models, tools and days. */
export function statsOverviewText({ model, tool, day }: StatsOverview, options: StatsTextOptions = {}): string {
  if (day.groups.length === 0) return [nothingWords(day), ...notCountedLines(day)].join("\n")
  const tables = [model, tool, day]
    .filter(({ groups }) => groups.length > 0)
    .map((stats) => table(stats, options, stats.by))
  const next = options.next === undefined ? [] : [`next: ${options.next}`]
  return [summaryLines(day).join("\n"), ...tables, [...footLines([model, tool, day]), ...next].join("\n")].join("\n\n")
}

const nothingWords = (stats: Stats): string =>
  stats.notCounted.length > 0 ? "nothing that was recorded here and for real" : "nothing recorded"

// ── The sum ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function summaryLines({ firstDay, lastDay, total }: Stats): string[] {
  const { runs, modelCalls, toolCalls } = total
  const days = firstDay === lastDay ? firstDay! : `${firstDay} … ${lastDay}`
  return [
    `${days}, whole days in UTC`,
    ...(runs ? [line("runs", runWords(runs))] : []),
    ...(modelCalls ? [line("spend", spendWords(modelCalls)), line("tokens", tokenWords(modelCalls))] : []),
    ...(modelCalls ? [line("model", `${callWords(modelCalls)} · ${spreadWords(modelCalls.duration)}`)] : []),
    ...(modelCalls?.firstByte.p50 ? [line("", `${spreadWords(modelCalls.firstByte)} until the first byte`)] : []),
    ...(toolCalls ? [line("tools", `${callWords(toolCalls)} · ${spreadWords(toolCalls.duration)}`)] : []),
  ]
}

const line = (name: string, words: string): string => `${name.padEnd(7)} ${words}`

function runWords({ count, successes, errors, timeouts, open, duration }: Figures): string {
  const ends = [
    [successes, "completed"],
    [errors + timeouts, "failed"],
    [open, "without an end"],
  ] as const
  const told = ends.filter(([of]) => of > 0).map(([of, how]) => `${of} ${how}`)
  return `${count}: ${told.join(", ")} · ${spreadWords(duration)}`
}

/** Unknown is not zero: what has no price, or did not say what it used, is counted beside the money. */
function spendWords(calls: Figures): string {
  const { usd, unpricedCalls, count, open, callsWithoutUsage } = calls
  const ended = count - open
  if (ended === 0) return "none ended"
  const why = [
    ...(unlistedCalls(calls) > 0 ? [`${unlistedCalls(calls)} have no price`] : []),
    ...(callsWithoutUsage > 0 ? [`${callsWithoutUsage} told no usage`] : []),
  ].join(", ")
  if (usd === null) return `unknown: of ${plural(ended, "call")}, ${why}`
  return unpricedCalls === 0 ? dollars(usd) : `${dollars(usd)} for ${ended - unpricedCalls} of ${ended} calls; ${why}`
}

/** A call that says what it used and has no price is one of an unlisted model. */
const unlistedCalls = ({ unpricedCalls, callsWithoutUsage }: Figures): number =>
  Math.max(0, unpricedCalls - callsWithoutUsage)

function tokenWords({ tokens }: Figures): string {
  const { prompt, completion, cacheRead } = tokens
  const cached =
    cacheRead === null || prompt === null || prompt === 0
      ? ""
      : `, ${formatPercent(cacheRead, prompt)} of it from the cache`
  return `${formatCount(prompt)} in${cached}, ${formatCount(completion)} out`
}

function callWords({ count, errors, timeouts, open, attempts }: Figures): string {
  const failures = errors + timeouts
  return [
    plural(count, "call"),
    ...(failures > 0 ? [`${failures} failed (${formatPercent(failures, count)})`] : []),
    ...(open > 0 ? [`${open} without an end`] : []),
    ...(attempts !== null && attempts > count - open ? [plural(attempts, "try", "tries")] : []),
  ].join(", ")
}

const spreadWords = ({ p50, p95 }: Spread): string =>
  p50 === null ? "no times" : `p50 ${percentileWords(p50)}, p95 ${percentileWords(p95)}`

export function percentileWords(percentile: Percentile | null): string {
  if (percentile === null) return ""
  const [from, to] = [percentile.fromMs, percentile.toMs].map((ms) => formatDuration(ms * 1000))
  return from === to ? to! : `${from}–${to}`
}

/** `$12.40`, `$0.0042`, `$0`. */
export function dollars(usd: number): string {
  return `$${usd >= 0.1 ? usd.toFixed(2) : usd === 0 ? "0" : usd.toPrecision(2)}`
}

// ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const BAR_WIDTH = 7
const DEFAULT_LIMIT = 10

type Cell = (group: StatsGroup) => string

const number = (title: string, cell: Cell, dropRank?: number): [Column, Cell] => [
  { title, align: "right", ...(dropRank === undefined ? {} : { dropRank }) },
  cell,
]
const name = (title: string): [Column, Cell] => [
  { title, minWidth: 24, maxWidth: 40 },
  ({ key }) => (key === null ? "(not said)" : recordedWord(key)),
]

const CALLS: readonly [Column, Cell][] = [
  number("IN", ({ modelCalls }) => (modelCalls ? formatCount(modelCalls.tokens.prompt) : ""), 3),
  number("CACHED", ({ modelCalls }) => cachedWords(modelCalls), 6),
  number("OUT", ({ modelCalls }) => (modelCalls ? formatCount(modelCalls.tokens.completion) : ""), 4),
  number("SPENT", ({ modelCalls }) => moneyCell(modelCalls)),
]
const times = (of: (group: GroupFigures) => Figures | undefined): readonly [Column, Cell][] => [
  number("P50", (group) => percentileWords(of(group)?.duration.p50 ?? null), 2),
  number("P95", (group) => percentileWords(of(group)?.duration.p95 ?? null), 1),
]
const failed = (of: (group: GroupFigures) => Figures | undefined): [Column, Cell] =>
  number("FAILED", (group) => failedWords(of(group)))

const MIXED = (title: string): readonly [Column, Cell][] => [
  name(title),
  number("RUNS", ({ runs }) => countCell(runs), 5),
  number("MODEL", ({ modelCalls }) => countCell(modelCalls)),
  number("TOOL", ({ toolCalls }) => countCell(toolCalls), 7),
  failed(({ modelCalls, toolCalls }) => sumOf([modelCalls, toolCalls])),
  ...CALLS,
]

const COLUMNS: Readonly<Record<Grouping, readonly [Column, Cell][]>> = {
  model: [
    name("MODEL"),
    number("CALLS", ({ modelCalls }) => countCell(modelCalls)),
    failed((g) => g.modelCalls),
    ...CALLS,
    ...times((g) => g.modelCalls),
  ],
  provider: [
    name("PROVIDER"),
    number("CALLS", ({ modelCalls }) => countCell(modelCalls)),
    failed((g) => g.modelCalls),
    ...CALLS,
    ...times((g) => g.modelCalls),
  ],
  tool: [
    name("TOOL"),
    number("CALLS", ({ toolCalls }) => countCell(toolCalls)),
    failed((g) => g.toolCalls),
    ...times((g) => g.toolCalls),
    number("TOTAL", ({ toolCalls }) => formatDuration((toolCalls?.duration.sumMs ?? 0) * 1000), 4),
  ],
  kind: [
    name("KIND"),
    number("COUNT", (group) => String(together(group)!.count)),
    failed((group) => together(group)),
    ...times((group) => together(group)),
  ],
  source: [
    name("SOURCE"),
    number("STEPS", (group) => String(stepsIn(group))),
    failed((group) => together(group)),
    ...CALLS,
  ],
  day: MIXED("DAY"),
  week: MIXED("WEEK OF"),
  app: MIXED("APP"),
  version: MIXED("VERSION"),
}

/** What the bar beside a row is a share of: money where there is any, else what there is. */
const WEIGHTS: readonly ((group: GroupFigures) => number)[] = [
  ({ modelCalls }) => modelCalls?.usd ?? 0,
  ({ modelCalls }) => modelCalls?.tokens.prompt ?? 0,
  (group) => stepsIn(group),
]
const BY_TIME = ({ toolCalls }: GroupFigures): number => toolCalls?.duration.sumMs ?? 0
const BY_COUNT = (group: GroupFigures): number => together(group)?.count ?? 0

function table(
  { groups }: Stats,
  { width, paint = plain, limit = DEFAULT_LIMIT }: StatsTextOptions,
  by: Grouping,
): string {
  const isTimeline = by === "day" || by === "week"
  const shown = isTimeline ? groups.slice(-limit) : groups.slice(0, limit)
  const weight =
    by === "tool"
      ? BY_TIME
      : by === "kind"
        ? BY_COUNT
        : (WEIGHTS.find((of) => groups.some((group) => of(group) > 0)) ?? BY_COUNT)
  const largest = Math.max(...groups.map(weight))
  const columns: readonly [Column, Cell][] = [
    ...COLUMNS[by],
    [
      { title: "", dropRank: 8 },
      // One bar alone compares nothing.
      (group) => (groups.length === 1 ? "" : shareBar(weight(group) / largest, BAR_WIDTH)),
    ],
  ]
  const text = formatTable(
    columns.map(([column]) => column),
    shown.map((group) => columns.map(([, cell]) => cell(group))),
    {
      ...(width === undefined ? {} : { width }),
      paint: (cell, _row, title) =>
        title === "FAILED" && cell.trim() !== "" ? paint(cell, "bad") : title === "" ? paint(cell, "number") : cell,
    },
  )
  const rest = groups.length - shown.length
  return rest === 0
    ? text
    : `${text}\n${rest} more${isTimeline ? ", earlier" : ""}: --by ${by} --limit ${groups.length}`
}

/** Everything in a group but its runs; where there is nothing else, these. */
const together = ({ modelCalls, toolCalls, steps, runs }: GroupFigures): Figures | undefined =>
  sumOf([modelCalls, toolCalls, steps]) ?? runs

function sumOf(figures: readonly (Figures | undefined)[]): Figures | undefined {
  const parts = figures.filter((part) => part !== undefined)
  if (parts.length <= 1) return parts[0]
  const sum = (of: (figures: Figures) => number): number => parts.reduce((total, figures) => total + of(figures), 0)
  return {
    ...parts[0]!,
    count: sum(({ count }) => count),
    errors: sum(({ errors }) => errors),
    timeouts: sum(({ timeouts }) => timeouts),
    open: sum(({ open }) => open),
  }
}

const countCell = (figures: Figures | undefined): string => (figures ? String(figures.count) : "")

function failedWords(figures: Pick<Figures, "count" | "errors" | "timeouts"> | undefined): string {
  const failures = figures ? figures.errors + figures.timeouts : 0
  return failures === 0 ? "" : `${failures} (${formatPercent(failures, figures!.count)})`
}

function cachedWords(calls: Figures | undefined): string {
  if (!calls || calls.tokens.cacheRead === null || !calls.tokens.prompt) return calls ? "?" : ""
  return formatPercent(calls.tokens.cacheRead, calls.tokens.prompt)
}

/** A `+` says that there are calls beside it without a price. */
function moneyCell(calls: Figures | undefined): string {
  if (!calls || calls.count === calls.open) return ""
  if (calls.usd === null) return "?"
  return dollars(calls.usd) + (calls.unpricedCalls > 0 ? "+" : "")
}

// ── What has to be said ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function footLines(parts: readonly Stats[]): string[] {
  const { total } = parts.at(-1)!
  const all = [total.runs, total.modelCalls, total.toolCalls, total.steps].filter((figures) => figures !== undefined)
  return [
    ...errorLines(all),
    ...(all.some(({ unpricedCalls }) => unpricedCalls > 0) ? [priceWords(all)] : []),
    ...(all.every(({ duration }) => duration.isExact)
      ? []
      : ["p50 and p95 are bounds: what is kept of many steps, or of steps that are gone"]),
    ...notCountedLines(parts.at(-1)!),
  ]
}

const priceWords = (all: readonly Figures[]): string =>
  all.some((figures) => unlistedCalls(figures) > 0)
    ? "+ and ? are calls without a price: see `prices` in orangebox.config.json"
    : "+ and ? are calls that did not say what they used"

const MOST_CLASSES = 5

function errorLines(all: readonly Figures[]): string[] {
  const classes = new Map<string, number>()
  for (const { errorClasses } of all)
    for (const { errorClass, count } of errorClasses) classes.set(errorClass, (classes.get(errorClass) ?? 0) + count)
  if (classes.size === 0) return []
  const sorted = [...classes].sort((one, other) => other[1] - one[1])
  const told = sorted.slice(0, MOST_CLASSES).map(([errorClass, count]) => `${recordedWord(errorClass, 40)} ${count}`)
  const more = sorted.length - told.length
  return [`errors: ${told.join(" · ")}${more > 0 ? ` · ${more} more` : ""}`]
}

/** Replays and imports cost nothing here, and are no use of anything. */
export function notCountedLines({ notCounted }: Pick<Stats, "notCounted">): string[] {
  return notCounted.map(({ origin, runs, steps }) => {
    const what = [...(runs > 0 ? [plural(runs, "run")] : []), ...(steps > 0 ? [plural(steps, "step")] : [])].join(
      " and ",
    )
    return `not counted: ${what} ${ORIGIN_WORDS[origin]} (--origin ${origin})`
  })
}

export const ORIGIN_WORDS = {
  replayed: "replayed or forked, not paid",
  imported: "imported, paid elsewhere",
  recorded: "recorded here",
} as const
