import type { CommandVerdict } from "@orangebox/proxy"
import { type Money, moneyDetail } from "@orangebox/query"
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  type Painter,
  plural,
  safeText,
  snakeJson,
} from "@orangebox/text"
import { shellWord } from "../next-command.js"
import { type EndedCommand, endWords } from "../replaying/format-replay.js"

export interface RecordedCommand extends EndedCommand {
  readonly verdict: CommandVerdict
  /** The run to read as it is in the store; undefined when none could be read back. */
  readonly read:
    | {
        readonly runId: string
        readonly digest: string
        readonly money: Money
        /** What is broken most in it, in a line; undefined where nothing is. */
        readonly finding: string | undefined
        /** The agent's own recording, which the command's run points at. */
        readonly isAgentsOwn: boolean
      }
    | undefined
}

/** One screen about a command that ended: what it asked of models, what that cost, and whether anything is missing. */
export function verdictText(ended: RecordedCommand, dataFolder: string, paint: Painter): string {
  const { verdict } = ended
  const { stats } = verdict
  const runId = ended.read?.runId ?? verdict.runIds.at(-1)
  const heading = `orangebox: ${endWords(ended)} after ${formatDuration(verdict.durationMs * 1000)}`
  const rows: [string, string][] = []
  if (verdict.nothingBecause === null) {
    rows.push(
      ["calls", callWords(ended)],
      ...(ended.read?.isAgentsOwn ? [] : [["tokens", tokenWords(stats)] as [string, string]]),
      ...moneyRows(ended.read?.money),
    )
  }
  if (stats.unseenTurns > 0)
    rows.push([
      "missing",
      `${plural(stats.unseenTurns, "turn")} of the model in the recorded history that nobody recorded: past the proxy, or written by the client`,
    ])
  rows.push([
    "recorded",
    `${formatBytes(stats.bytesRecorded)} of traffic · lost: ${verdict.lost}${restartWords(verdict.restarts)}`,
  ])
  if (ended.read?.finding !== undefined) rows.push(["finding", ended.read.finding])
  if (runId !== undefined) rows.push(["show", `orangebox show ${runId} --data ${shellWord(dataFolder)}`])
  if (ended.read) rows.push(["digest", ended.read.digest])
  const lines = [
    paint(heading, "heading"),
    ...rows.map(([name, value]) => `  ${paint(name.padEnd(9), "dim")} ${value}`),
  ]
  if (verdict.nothingBecause !== null) {
    lines.push("", paint(`  NOTHING WAS CAPTURED: ${safeText(verdict.nothingBecause)}`, "bad"))
    for (const { name, url } of verdict.variables) lines.push(`  ${name}=${url}`)
  }
  return lines.join("\n")
}

function moneyRows(money: Money | undefined): [string, string][] {
  if (!money) return [["money", "unknown"]]
  return moneyDetail(money).map((line, index) => [index === 0 ? "money" : "", line])
}

function callWords({ verdict: { stats }, read }: RecordedCommand): string {
  return [
    plural(stats.modelCalls, "model call"),
    ...(stats.linkedCalls > 0
      ? [`${stats.linkedCalls} recorded by the agent itself${read?.isAgentsOwn ? `, in ${read.runId}` : ""}`]
      : []),
    ...(stats.otherRequests > 0 ? [plural(stats.otherRequests, "other request")] : []),
    plural(stats.errors, "error"),
    ...(stats.failedAttempts > 0 ? [plural(stats.failedAttempts, "failed attempt")] : []),
    ...(stats.clientAborts > 0 ? [`${stats.clientAborts} left by the client`] : []),
    ...(stats.refused > 0 ? [`${stats.refused} refused`] : []),
    ...(stats.unrecorded > 0 ? [`${stats.unrecorded} NOT RECORDED`] : []),
  ].join(" · ")
}

function tokenWords(stats: CommandVerdict["stats"]): string {
  const answered = stats.modelCalls - stats.callsWithoutUsage
  if (answered <= 0 || !hasTokens(stats)) return "unknown"
  const cached =
    stats.cacheableTokens > 0 ? ` (${formatPercent(stats.cacheReadTokens, stats.cacheableTokens)} from cache)` : ""
  const unknown = stats.callsWithoutUsage > 0 ? ` + ${plural(stats.callsWithoutUsage, "call")} unknown` : ""
  return `${formatCount(stats.inputTokens)} in${cached} → ${formatCount(stats.outputTokens)} out${unknown}`
}

/** A call that a model answered has some; where all of them failed nothing is known, and that is no zero. */
const hasTokens = ({ inputTokens, outputTokens }: CommandVerdict["stats"]): boolean => inputTokens + outputTokens > 0

const restartWords = (restarts: number): string =>
  restarts === 0 ? "" : ` · the proxy died and was started again ${plural(restarts, "time")}`

export function verdictJson({ name, exitCode, signal, verdict, read }: RecordedCommand, dataFolder: string) {
  const { stats, durationMs, variables, runIds, lost, restarts, nothingBecause } = verdict
  const { cacheableTokens: _, ...counts } = stats
  return {
    ...snakeJson({ command: name, exitCode, signal, dataFolder, runIds, lost, restarts, nothingBecause, ...counts }),
    ...(hasTokens(stats) ? {} : { input_tokens: null, output_tokens: null }),
    digest: read?.digest ?? null,
    finding: read?.finding ?? null,
    agent_run_id: read?.isAgentsOwn ? read.runId : null,
    duration_ms: Math.round(durationMs),
    usd: read?.money.usd ?? null,
    unpriced_calls: read?.money.unpricedCalls ?? stats.unpricedCalls,
    prices: read
      ? { version: read.money.tableVersion, source: read.money.tableSource, unlisted_models: read.money.unlistedModels }
      : null,
    variables: Object.fromEntries(variables.map(({ name, url }) => [name, url])),
  }
}
