import type { Verdict } from "@orangebox/contract"
import { type Painter, plural, recordedText, recordedWord, shortLine } from "@orangebox/text"
import { durationWords, hasFailed, holesIn, stepWord, summaryRows } from "./format-report.js"
import type { RunReport } from "./run-report.js"

export interface TerminalReportOptions {
  readonly width?: number
  readonly color?: Painter
  /** Most lines of the timeline; all others are counted. */
  readonly rows?: number
}

const MARK: Readonly<Record<Verdict, string>> = { pass: "✓", warn: "!", fail: "✗", unknown: "·" }

/** The report as plain text for a terminal. Recorded text in it cannot move the cursor or begin a line. */
export function reportText(
  report: RunReport,
  { width = 100, rows = 40, color = (text) => text }: TerminalReportOptions = {},
): string {
  const { run, summary } = report
  const head = `${MARK[summary.verdict]} ${summary.verdict}  ${run.run_id}`
  const name = shortLine(`${recordedWord(run.agent_id)} · ${recordedWord(run.entrypoint)}`, width - 4)
  const isBeside = head.length + 2 + name.length <= width
  const lines = [
    `${painted(`${MARK[summary.verdict]} ${summary.verdict}`, summary.verdict, color)}  ${run.run_id}${isBeside ? `  ${name}` : ""}`,
    ...(isBeside ? [] : [`  ${name}`]),
    `  ${run.request === "" ? "no request on record" : recordedText(run.request, width - 4)}`,
    "",
    ...summaryRows(report).map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    "",
    ...violationLines(report, width, color),
    ...holeLines(report, width),
    ...timelineLines(report, width, rows, color),
  ]
  return `${lines.join("\n").trimEnd()}\n`
}

function painted(text: string, verdict: Verdict, color: Painter): string {
  return verdict === "fail" ? color(text, "bad") : verdict === "warn" ? color(text, "warn") : text
}

const MOST_VIOLATIONS = 10

function violationLines({ violations }: RunReport, width: number, color: Painter): string[] {
  if (violations.length === 0) return []
  const shown = violations.slice(0, MOST_VIOLATIONS).flatMap((violation) => {
    const times = violation.count > 1 ? ` ×${violation.count}` : ""
    const steps = violation.steps.slice(0, 5).map(({ step_no }) => stepWord(step_no))
    const more = violation.steps.length > steps.length ? ` and ${violation.steps.length - steps.length} more` : ""
    const mark = painted(`${MARK[violation.severity]} ${violation.severity}`, violation.severity, color)
    const head = `  ${mark} ${shortLine(violation.id, 60)}${times}  ${steps.join(" ")}${more}`
    const evidence = violation.evidence ? [`      ${shortLine(violation.evidence, width - 8)}`] : []
    return [head, `      ${shortLine(violation.message, width - 8)}`, ...evidence]
  })
  return ["violations", ...shown, ...restOf(violations.length, MOST_VIOLATIONS), ""]
}

const MOST_HOLES = 10

function holeLines(report: RunReport, width: number): string[] {
  const holes = holesIn(report)
  if (holes.length === 0) return []
  const shown = holes.slice(0, MOST_HOLES).map(({ words, stepNo, detail }) => {
    const head = `  ${stepWord(stepNo)} ${words}: `
    return head + shortLine(detail, Math.max(20, width - head.length))
  })
  return ["holes in the trail", ...shown, ...restOf(holes.length, MOST_HOLES), ""]
}

function timelineLines({ timeline }: RunReport, width: number, rows: number, color: Painter): string[] {
  if (timeline.length === 0) return []
  const shown = timeline.slice(0, rows).map((entry) => {
    const mark = hasFailed(entry) ? color(MARK.fail, "bad") : painted(MARK[entry.verdict], entry.verdict, color)
    const head = ` ${durationWords(entry.offset_ms).padStart(9)}  ${stepWord(entry.step_no).padEnd(6)} ${entry.action_type.padEnd(9)} `
    return `  ${mark}${head}${shortLine(entry.summary, Math.max(20, width - 3 - head.length))}`
  })
  return [`timeline, ${plural(timeline.length, "decision")}`, ...shown, ...restOf(timeline.length, rows)]
}

const restOf = (count: number, shown: number): string[] =>
  count > shown ? [`  … ${count - shown} of ${count} left out`] : []
