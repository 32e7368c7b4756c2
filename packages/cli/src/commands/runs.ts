import { given } from "@orangebox/contract"
import type { Page, RunQuery, RunRow } from "@orangebox/store"
import {
  type Column,
  formatCount,
  formatDuration,
  formatMoment,
  formatTable,
  plural,
  safeJson,
  snakeJson,
} from "@orangebox/text"
import type { Command } from "commander"
import { choiceParser, momentParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import type { Terminal } from "../terminal.js"

interface RunsOptions extends RunQuery {
  readonly conversation?: string
  readonly trace?: string
  readonly all?: boolean
}

export function define(command: Command, session: Session): void {
  const moment = momentParser(Date.now)
  command
    .description("List recorded runs, newest first.")
    .option("--limit <n>", "how many", parsePositive, 20)
    .option("--cursor <cursor>", "where the page before ended")
    .option("--status <status>", "only running, completed, failed, crashed or silent runs", choiceParser(STATUSES))
    .option("--app <name>", "only runs of this application")
    .option("--conversation <id>", "only runs of this conversation")
    .option("--trace <id>", "only runs of this trace: an agent and its sub-agents")
    .option("--since <when>", "started at or after: 2026-01-31, or how long ago: 2h, 3d", moment)
    .option("--until <when>", "started before", moment)
    .option(
      "--all",
      "also those that another run started; by default only with --trace, --app, --status or --conversation",
    )
  bindShell<RunsOptions>(command, session, listRuns, [
    ["orangebox runs", "the last twenty"],
    ["orangebox runs --status crashed --since 7d", "what crashed this week"],
    ["orangebox runs --json | jq -r '.runs[].run_id'", "their ids, for a script"],
  ])
}

const STATUSES = ["running", "completed", "failed", "crashed", "silent"] as const

function listRuns(session: Session, options: RunsOptions & GlobalOptions): Promise<undefined> {
  return withReading(session, options, async ({ store, freshness }) => {
    const { conversation, trace, json, data: _data, all, ...query } = options
    // Whoever asks for something special means every run that has it.
    const isFirstOfTrace = !(all || trace || conversation || query.app || query.status)
    const page = await store.listRuns({
      ...query,
      isFirstOfTrace,
      ...given({ conversationId: conversation, traceId: trace }),
    })
    session.terminal.outVerbatim(
      json ? safeJson({ ...pageJson(page), ...freshness }, 2) : pageText(page, session.terminal),
    )
    return undefined
  })
}

/** On a narrow terminal the counts go first, then the input: which run, when, how it ended and whose it was stay. */
const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "STARTED" },
  { title: "STATUS" },
  { title: "TIME", align: "right" },
  { title: "STEPS", align: "right", dropRank: 4 },
  { title: "MODEL", align: "right", dropRank: 5 },
  { title: "TOOL", align: "right", dropRank: 6 },
  { title: "ERR", align: "right", dropRank: 2 },
  { title: "TOKENS", dropRank: 3 },
  { title: "APP · ENTRYPOINT", maxWidth: 36, minWidth: 14 },
  { title: "INPUT", maxWidth: 48, minWidth: 12, dropRank: 1 },
]

function pageText({ rows, total, cursor }: Page<RunRow>, { columns, paint }: Terminal): string {
  if (total === 0) return "0 runs"
  const isNarrow = columns !== undefined && columns < NARROW
  const cells = rows.map((row) => cellsOf(row, isNarrow))
  const table = formatTable(COLUMNS, cells, {
    ...(columns === undefined ? {} : { width: columns }),
    paint: (cell, row, title) => (title === "STATUS" && wentWrong(rows[row]!) ? paint(cell, "bad") : cell),
  })
  const count = rows.length === total ? plural(total, "run") : `${rows.length} of ${plural(total, "run")}`
  const next = cursor === undefined ? "" : ` · more with: --cursor ${cursor}`
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
    [row.app, row.entrypoint, row.sourceRunId === null ? null : "replay", isImported(row) ? "imported" : null]
      .filter((name) => name !== null)
      .join(" · "),
    row.inputSummary ?? "",
  ]
}

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
