import type { Page, RunQuery, RunRow } from "@orangebox/store"
import { type Column, displayWidth, formatCount, formatDuration, formatTable, plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { choiceParser, momentParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"

interface RunsOptions extends RunQuery {
  readonly conversation?: string
  readonly trace?: string
}

export function define(command: Command, session: Session): void {
  const moment = momentParser(Date.now)
  command
    .description("List recorded runs, newest first.")
    .option("--limit <n>", "how many", parsePositive, 20)
    .option("--cursor <cursor>", "where the page before ended")
    .option("--status <status>", "only running, completed, failed or crashed runs", choiceParser(STATUSES))
    .option("--app <name>", "only runs of this application")
    .option("--conversation <id>", "only runs of this conversation")
    .option("--trace <id>", "only runs of this trace: an agent and its sub-agents")
    .option("--since <when>", "started at or after: 2026-01-31, or how long ago: 2h, 3d", moment)
    .option("--until <when>", "started before", moment)
    .addHelpText(
      "after",
      examples([
        ["orangebox runs", "the last twenty"],
        ["orangebox runs --status crashed --since 7d", "what crashed this week"],
        ["orangebox runs --json | jq -r '.runs[].run_id'", "their ids, for a script"],
      ]),
    )
    .action(shellOf<RunsOptions>(session, listRuns))
}

const STATUSES = ["running", "completed", "failed", "crashed"] as const

function listRuns(session: Session, options: RunsOptions & GlobalOptions): Promise<undefined> {
  return withReading(session, options, async ({ store, freshness }) => {
    const { conversation, trace, json, data: _data, ...query } = options
    const page = await store.listRuns({
      ...query,
      ...(conversation === undefined ? {} : { conversationId: conversation }),
      ...(trace === undefined ? {} : { traceId: trace }),
    })
    const { columns } = session.terminal
    session.terminal.out(json ? safeJson({ ...pageJson(page), ...freshness }, 2) : pageText(page, columns))
    return undefined
  })
}

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "STARTED" },
  { title: "STATUS" },
  { title: "TIME", align: "right" },
  { title: "STEPS", align: "right" },
  { title: "MODEL", align: "right" },
  { title: "TOOL", align: "right" },
  { title: "ERR", align: "right" },
  { title: "TOKENS" },
  { title: "APP · ENTRYPOINT", maxWidth: 36 },
]
const INPUT_WIDTH = 48
/** Less of an input than this says nothing. */
const LEAST_INPUT_WIDTH = 12

function pageText({ rows, total, cursor }: Page<RunRow>, columns: number | undefined): string {
  if (total === 0) return "0 runs"
  const cells = rows.map(cellsOf)
  const room = columns === undefined ? INPUT_WIDTH : columns - widthOf(formatTable(COLUMNS, cells)) - 2
  const maxWidth = Math.min(INPUT_WIDTH, room)
  const table =
    room < LEAST_INPUT_WIDTH
      ? formatTable(COLUMNS, cells)
      : formatTable(
          [...COLUMNS, { title: "INPUT", maxWidth }],
          cells.map((row, index) => [...row, rows[index]?.inputSummary ?? ""]),
        )
  const count = rows.length === total ? plural(total, "run") : `${rows.length} of ${plural(total, "run")}`
  const next = cursor === undefined ? "" : ` · more with: --cursor ${cursor}`
  return `${table}\n${count}${next}`
}

function cellsOf(row: RunRow): string[] {
  return [
    row.runId,
    new Date(row.startedAtMs).toISOString().slice(0, 19).replace("T", " "),
    row.status,
    formatDuration(row.durationMs * 1000),
    String(row.steps),
    String(row.modelCalls),
    String(row.toolCalls),
    row.errors === 0 ? "" : String(row.errors),
    row.modelCalls === 0 ? "" : `${formatCount(row.tokens.prompt)} → ${formatCount(row.tokens.completion)}`,
    [row.app, row.entrypoint, row.sourceRunId === null ? null : "replay"].filter((name) => name !== null).join(" · "),
  ]
}

const widthOf = (table: string): number =>
  table.split("\n").reduce((widest, line) => Math.max(widest, displayWidth(line)), 0)

function pageJson({ rows, total, cursor }: Page<RunRow>) {
  return { runs: rows.map(runRowJson), total, cursor: cursor ?? null }
}

function runRowJson(row: RunRow) {
  return {
    run_id: row.runId,
    trace_id: row.traceId,
    conversation_id: row.conversationId,
    app: row.app,
    entrypoint: row.entrypoint,
    environment: row.environment,
    status: row.status,
    started_at: new Date(row.startedAtMs).toISOString(),
    ended_at: row.endedAtMs === null ? null : new Date(row.endedAtMs).toISOString(),
    duration_ms: row.durationMs,
    input_summary: row.inputSummary,
    error_class: row.errorClass,
    error_summary: row.errorSummary,
    events: row.events,
    steps: row.steps,
    open_steps: row.openSteps,
    model_calls: row.modelCalls,
    tool_calls: row.toolCalls,
    errors: row.errors,
    tokens: {
      prompt: row.tokens.prompt,
      completion: row.tokens.completion,
      cache_read: row.tokens.cacheRead,
      cache_write: row.tokens.cacheWrite,
      reasoning: row.tokens.reasoning,
    },
    source_run_id: row.sourceRunId,
    bodies_pruned: row.bodiesPruned,
  }
}
