import { cutToTokens, plain, plural, safeLine } from "@orangebox/text"
import { headerOf } from "../format-run.js"
import { inFormat, lastOf, type Page, pageJson, pageOf, rangeWords, roomOf, type ViewOptions } from "../page.js"
import type { RunView } from "../run-view.js"
import type { Diagnosis, RankedFinding } from "./diagnose.js"
import type { Pointer } from "./finding.js"

/** The budget is at least `MIN_DIAGNOSIS_BUDGET`, and 800 tokens where none is said. */
export interface DiagnosisOptions extends ViewOptions {
  /** How the reader addressed the run, for the commands we suggest. */
  readonly address: string
  readonly cursor?: number
}

const USUAL_BUDGET = 800
export const MIN_DIAGNOSIS_BUDGET = 300

/** Findings with what they rest on, the most telling first; what could not be looked for; and what to open next. */
export function diagnosisText(view: RunView, diagnosis: Diagnosis, options: DiagnosisOptions): string {
  const paint = options.color ?? plain
  const page = diagnosisPage(view, diagnosis, options)
  const lines = [paint(headOf(view, diagnosis), "heading")]
  page.rows.forEach((finding, index) => {
    const isBad = finding.severity === "fatal" || finding.severity === "harm"
    lines.push(isBad ? paint(page.texts[index]!, "bad") : page.texts[index]!)
  })
  lines.push(...tailOf(diagnosis, page, options).map((line) => paint(line, "dim")))
  return inFormat(lines.join("\n"), options)
}

/** The same for programs; print it with `safeJson`. */
export function diagnosisJson(
  view: RunView,
  diagnosis: Diagnosis,
  options: Omit<DiagnosisOptions, "format" | "color">,
) {
  const page = diagnosisPage(view, diagnosis, options)
  return {
    status: view.status,
    detectors: diagnosis.detectors,
    not_run: diagnosis.notRun,
    is_unexplained: diagnosis.isUnexplained,
    findings: page.rows.map(findingJson),
    ...pageJson(page),
  }
}

function diagnosisPage(
  view: RunView,
  diagnosis: Diagnosis,
  options: Omit<DiagnosisOptions, "format" | "color">,
): Page<RankedFinding> {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_DIAGNOSIS_BUDGET)
  const last = lastOf(diagnosis.findings.length)
  const tail = tailOf(diagnosis, { ...last, rows: diagnosis.findings.slice(0, 1), texts: [] }, options)
  const frame = count(headOf(view, diagnosis)) + tail.reduce((sum, line) => sum + count(line) + 1, 0) + 4
  const textOf = (finding: RankedFinding, most: number): string => {
    const lines = linesOf(finding)
    const each = Math.max(24, Math.floor(most / lines.length))
    return lines.map((line) => cutToTokens(line, each, count)).join("\n")
  }
  return pageOf(diagnosis.findings, options.cursor, { budget: budget - frame, count }, { textOf })
}

function headOf(view: RunView, { findings, notRun, detectors }: Diagnosis): string {
  const skipped = notRun.length === 0 ? "" : ` · ${notRun.length} of ${detectors} detectors could not run`
  return `${headerOf(view)} · ${plural(findings.length, "finding")}${skipped}`
}

function linesOf(finding: RankedFinding): string[] {
  const { rank, confidence, severity, detector, kind, cause, fails, claim, by, evidence, symptomOf } = finding
  const places = [`cause #${cause}`, ...(fails === null || fails === cause ? [] : [`shows in #${fails}`])]
  const follows = symptomOf === null ? [] : [`follows from ${symptomOf}`]
  return [
    `${rank} ${confidence.toUpperCase()} ${[detector, ...(kind === null ? [] : [kind])].join(" ")}  ${[severity, ...places, ...follows].join(" · ")}`,
    `  ${safeLine(claim)}`,
    ...(by === null ? [] : [`  by   ${safeLine(by)}`]),
    `  see  ${evidence.map(pointerWords).join(" · ")}`,
  ]
}

const pointerWords = ({ runId, n, role, from, to }: Pointer): string =>
  [
    `${runId ?? ""}#${n}`,
    ...(role === null ? [] : [role]),
    ...(from === null || to === null ? [] : [`${from}..${to}`]),
  ].join(" ")

function tailOf(
  diagnosis: Diagnosis,
  page: Page<RankedFinding>,
  { address }: Pick<DiagnosisOptions, "address">,
): string[] {
  const { findings, notRun, isUnexplained } = diagnosis
  const first = page.rows[0] ?? findings[0]
  const next = [
    ...(first === undefined ? [] : [`orangebox step ${address}#${first.cause} --brief`]),
    ...(page.to < page.total ? [`orangebox diagnose ${address} --cursor ${page.to}`] : []),
    ...(first === undefined ? [`orangebox show ${address}`] : []),
  ]
  return [
    ...(findings.length === 0
      ? ["nothing that can be looked for is broken; whether the answer is right, rules cannot tell"]
      : []),
    ...(isUnexplained ? ["it ended badly and no finding explains it"] : []),
    ...(notRun.length === 0
      ? []
      : [`not run: ${notRun.map(({ detector, why }) => `${detector} (${safeLine(why)})`).join(", ")}`]),
    ...(page.total > 0 && page.to - page.from < page.total ? [`findings ${rangeWords(page)}`] : []),
    `next: ${next.join(" · ")}`,
  ]
}

function findingJson(finding: RankedFinding) {
  return {
    finding_id: finding.findingId,
    rank: finding.rank,
    detector: finding.detector,
    kind: finding.kind,
    severity: finding.severity,
    confidence: finding.confidence,
    cause_step: finding.cause,
    fails_step: finding.fails,
    symptom_of: finding.symptomOf,
    claim: finding.claim,
    by: finding.by,
    evidence: finding.evidence.map(({ runId, n, role, from, to }) => ({ run_id: runId, step_no: n, role, from, to })),
  }
}
