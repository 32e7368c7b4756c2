import { given } from "@orangebox/contract"
import type { Page, RunQuery, RunRow } from "@orangebox/store"
import {
  type Column,
  formatCount,
  formatDuration,
  formatMoment,
  formatTable,
  plain,
  plural,
  snakeJson,
} from "@orangebox/text"
import type { StoreReading } from "../open/open-reading.js"
import { type Answer, type Shown, verbatim } from "./answer.js"

export interface RunsAsked extends Omit<RunQuery, "conversationId" | "traceId" | "isFirstOfTrace" | "isNoCanary"> {
  readonly conversation?: string
  readonly trace?: string
  /** Also those that another run started. */
  readonly all?: boolean
}

/** How a run stands. */
export const RUN_STATUSES = ["running", "completed", "failed", "crashed", "silent"] as const

/** Recorded runs, newest first. */
export async function answerRuns(
  { store, freshness }: StoreReading,
  asked: RunsAsked,
  looks: Shown,
  /** How the command is typed that asks this again, without a cursor. */
  command = "orangebox runs",
): Promise<Answer> {
  const { conversation, trace, all, ...query } = asked
  // A filter means every run that has it.
  const isFirstOfTrace = !(all || trace || conversation || query.app || query.status || query.host)
  const page = await store.listRuns({
    ...query,
    isFirstOfTrace,
    isNoCanary: isFirstOfTrace,
    ...given({ conversationId: conversation, traceId: trace }),
  })
  return verbatim(
    () => pageText(page, looks, command),
    () => ({ ...pageJson(page), ...freshness }),
  )
}

/** On a narrow terminal the counts go first, then the input and the times: which run, how it ended and what it was stay. */
const columnsFor = (width: number): readonly Column[] => [
  { title: "RUN" },
  { title: "STARTED", dropRank: 0 },
  { title: "STATUS" },
  { title: "TIME", align: "right", dropRank: 1 },
  { title: "STEPS", align: "right", dropRank: 5 },
  { title: "MODEL", align: "right", dropRank: 6 },
  { title: "TOOL", align: "right", dropRank: 7 },
  { title: "ERR", align: "right", dropRank: 3 },
  { title: "TOKENS", dropRank: 4 },
  { title: "ENTRYPOINT · APP", maxWidth: 36, minWidth: width < 70 ? 16 : 24 },
  { title: "INPUT", maxWidth: 48, minWidth: 20, dropRank: 2 },
]

function pageText(
  { rows, total, cursor }: Page<RunRow>,
  { width: columns, color: paint = plain }: Shown,
  command: string,
): string {
  if (total === 0) return "0 runs"
  const isNarrow = columns !== undefined && columns < NARROW
  const cells = rows.map((row) => cellsOf(row, isNarrow))
  const table = formatTable(columnsFor(columns ?? NARROW), cells, {
    ...(columns === undefined ? {} : { width: columns }),
    paint: (cell, row, title) => (title === "STATUS" && wentWrong(rows[row]!) ? paint(cell, "bad") : cell),
  })
  const count = rows.length === total ? plural(total, "run") : `${rows.length} of ${plural(total, "run")}`
  const next = cursor === undefined ? "" : ` · next: ${command} --cursor ${cursor}`
  return `${table}\n${count}${next}`
}

const wentWrong = ({ status }: RunRow): boolean => status === "failed" || status === "crashed"

/** A terminal with fewer columns than this gets the time without year and seconds. */
const NARROW = 120

function cellsOf(row: RunRow, isNarrow: boolean): string[] {
  const started = formatMoment(row.startedAtMs)
  return [
    row.runId,
    isNarrow ? started.slice(5, 16) : started,
    row.status,
    formatDuration(row.durationMs === null ? undefined : row.durationMs * 1000),
    String(row.steps),
    String(row.modelCalls),
    String(row.toolCalls),
    row.errors === 0 ? "" : String(row.errors),
    row.modelCalls === 0 ? "" : `${formatCount(row.tokens.prompt)} → ${formatCount(row.tokens.completion)}`,
    // What kind of run it is stands first, and then what tells it from others of its application: no cut takes them away.
    [...(row.sourceRunId === null ? [] : ["replay"]), ...(isImported(row) ? ["imported"] : []), nameOf(row)].join(" "),
    row.inputSummary ?? "",
  ]
}

const nameOf = ({ app, entrypoint }: RunRow): string => [entrypoint, app].filter((name) => name !== null).join(" · ")

/** No process of this machine wrote it. */
const isImported = ({ writerId }: RunRow): boolean => writerId === null

function pageJson({ rows, total, cursor }: Page<RunRow>) {
  return { runs: rows.map(runRowJson), total, cursor: cursor ?? null }
}

function runRowJson({ startedAtMs, endedAtMs, writerId, lastAtMs: _last, captureMode: _mode, ...row }: RunRow) {
  return {
    ...snakeJson(row),
    imported: writerId === null,
    started_at: new Date(startedAtMs).toISOString(),
    ended_at: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
  }
}
