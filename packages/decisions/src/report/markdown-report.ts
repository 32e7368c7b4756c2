import { hasEnded } from "@orangebox/runs"
import { fenced, safeMarkdown, shortBlock, shortLine } from "@orangebox/text"
import { durationWords, hasFailed, holesIn, STATUS_WORDS, stepWord, summaryRows } from "./format-report.js"
import type { ReportArtifact, RunReport } from "./run-report.js"

const MOST = { timeline: 200, diffs: 30, violations: 50, holes: 50, diffLines: 200, columns: 500 }

/** The report as Markdown, for a pull request or a file beside the code. */
export function reportMarkdown(report: RunReport): string {
  const { run, summary } = report
  const parts = [
    `# ${summary.verdict}: ${cell(`${run.agent_id} · ${run.entrypoint}`, 120)}`,
    `Run \`${run.run_id}\`${hasEnded(run.status) ? "" : `, ${STATUS_WORDS[run.status]}`}. Alignment ${summary.alignment}, quality ${summary.quality}, policy ${summary.policy}.`,
    quoted(run.request),
    table(
      ["", ""],
      summaryRows(report).map(([name, value]) => [name, cell(value, 200)]),
    ),
    ...section("Violations", violationRows(report)),
    ...section("Holes in the trail", holeRows(report)),
    ...section("Timeline", timelineRows(report)),
    ...section(
      "Changes",
      report.artifacts.filter(({ type }) => type === "file_edit" || type === "diff").map(diffBlock),
      MOST.diffs,
    ),
  ]
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`
}

function section(title: string, blocks: readonly string[], most = blocks.length): string[] {
  if (blocks.length === 0) return []
  const rest = blocks.length > most ? [`… ${blocks.length - most} of ${blocks.length} left out`] : []
  return [`## ${title}`, ...blocks.slice(0, most), ...rest]
}

function violationRows({ violations }: RunReport): string[] {
  if (violations.length === 0) return []
  const rows = violations.slice(0, MOST.violations).map((violation) => [
    violation.severity,
    cell(violation.id, 80),
    String(violation.count),
    violation.steps
      .slice(0, 5)
      .map(({ step_no }) => stepWord(step_no))
      .join(" "),
    cell(violation.message, 240),
    violation.evidence === null ? "" : code(violation.evidence, 120),
  ])
  return [
    table(["severity", "id", "times", "steps", "what", "evidence"], rows),
    ...rest(violations.length, MOST.violations),
  ]
}

function holeRows(report: RunReport): string[] {
  const rows = holesIn(report).map(({ words, stepNo, detail }) => [stepWord(stepNo), words, cell(detail, 240)])
  if (rows.length === 0) return []
  return [table(["step", "hole", "detail"], rows.slice(0, MOST.holes)), ...rest(rows.length, MOST.holes)]
}

function timelineRows({ timeline }: RunReport): string[] {
  if (timeline.length === 0) return []
  const rows = timeline
    .slice(0, MOST.timeline)
    .map((entry) => [
      durationWords(entry.offset_ms),
      stepWord(entry.step_no),
      entry.action_type,
      hasFailed(entry) ? "failed" : entry.verdict,
      `${cell(entry.summary, 160)}${entry.is_inferred ? " (inferred)" : ""}`,
    ])
  return [table(["after", "step", "action", "verdict", "what"], rows), ...rest(timeline.length, MOST.timeline)]
}

const rest = (count: number, most: number): string[] => (count > most ? [`… ${count - most} of ${count} left out`] : [])

function diffBlock({ content, summary, step_no, content_form }: ReportArtifact): string {
  const title = `**${stepWord(step_no)}** ${cell(summary, 200)}`
  if (content === null || content_form === "hash") return title
  const lines = shortBlock(content, { lines: MOST.diffLines, columns: MOST.columns })
  return `${title}\n\n${fenced(lines.join("\n"), "diff")}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}

const cell = (text: string, longest: number): string => safeMarkdown(shortLine(text, longest))

function code(text: string, longest: number): string {
  const line = shortLine(text, longest).replaceAll("|", "\\|")
  const ticks = "`".repeat(Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)) + 1)
  return `${ticks} ${line} ${ticks}`
}

function quoted(text: string): string {
  if (text === "") return ""
  return shortBlock(text, { lines: 10, columns: 300 })
    .map((line) => `> ${cell(line, 300)}`)
    .join("\n")
}
