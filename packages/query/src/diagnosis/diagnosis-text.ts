import { payloadOf, textIn } from "@orangebox/contract"
import { cutToTokens, plain, plural, recordedText, recordedWord, safeLine, shellWord } from "@orangebox/text"
import { headerOf } from "../format-run.js"
import { inFormat, lastOf, type Page, pageJson, pageOf, rangeWords, roomOf, type ViewOptions } from "../page.js"
import type { RunView } from "../run-view.js"
import type { InvestigatedSource } from "./case-file.js"
import type { Diagnosis, RankedFinding } from "./diagnose.js"
import type { Pointer } from "./finding.js"
import { CONFIDENCES, SEVERITIES } from "./rank.js"

/** The budget is at least `MIN_DIAGNOSIS_BUDGET`, and 800 tokens where none is said. */
export interface DiagnosisOptions extends ViewOptions {
  /** How the reader addressed what is diagnosed, for the commands we suggest. */
  readonly address: string
  readonly cursor?: number
}

type JsonOptions = Omit<DiagnosisOptions, "format" | "color">

const USUAL_BUDGET = 800
export const MIN_DIAGNOSIS_BUDGET = 300

/** A run and what is broken in it. */
export interface DiagnosedRun {
  readonly view: RunView
  readonly diagnosis: Diagnosis
  /** How its steps are written in the commands we suggest. */
  readonly address: string
}

/** Runs that belong together, because an id stands in all of them. */
export interface DiagnosedThread {
  readonly kind: string
  readonly id: string
  readonly runs: readonly DiagnosedRun[]
  /** Runs there are; only so many of them were looked at. */
  readonly total: number
}

/** Findings with what they rest on, the most telling first; what could not be looked for; and what to open next. */
export function diagnosisText(view: RunView, diagnosis: Diagnosis, options: DiagnosisOptions): string {
  return sheetText(runSheet({ view, diagnosis, address: options.address }), options)
}

/** The same of several runs together, each finding once. */
export function threadDiagnosisText(thread: DiagnosedThread, options: DiagnosisOptions): string {
  return sheetText(threadSheet(thread), options)
}

/** The same for programs; print it with `safeJson`. */
export function diagnosisJson(view: RunView, diagnosis: Diagnosis, options: JsonOptions) {
  const page = pageOfSheet(runSheet({ view, diagnosis, address: options.address }), options)
  return {
    ...outcomeJson({ view, diagnosis }),
    findings: page.rows.map(({ finding }) => findingJson(finding)),
    ...pageJson(page),
  }
}

export function threadDiagnosisJson(thread: DiagnosedThread, options: JsonOptions) {
  const page = pageOfSheet(threadSheet(thread), options)
  return {
    of: { kind: thread.kind, id: thread.id },
    runs: thread.runs.map((run) => ({ run_id: run.view.runId ?? null, ...outcomeJson(run) })),
    total_runs: thread.total,
    findings: page.rows.map(({ finding, run }) => ({ run_id: run.view.runId ?? null, ...findingJson(finding) })),
    ...pageJson(page),
  }
}

/** The most telling finding in one line, for where a run is shown: undefined where nothing is worse than a notice. */
export function topFindingLine({ findings }: Diagnosis, address: string): string | undefined {
  const [top] = findings
  if (top === undefined || top.severity === "notice") return undefined
  const more = findings.length === 1 ? "" : ` (1 of ${findings.length})`
  return `${titleOf(top)}${more} · orangebox diagnose ${address}`
}

/** One finding, and the run it is of. */
interface Row {
  readonly finding: RankedFinding
  readonly run: Pick<DiagnosedRun, "view" | "address">
}

/** What a diagnosis says around its findings, whether of one run or of several. */
interface Sheet {
  readonly head: string
  readonly rows: readonly Row[]
  readonly notRun: string | undefined
  readonly said: readonly string[]
  /** Sources that know more about the causes. */
  readonly toAsk: readonly string[]
  /** Whether rows say which run they are of. */
  readonly isMany: boolean
  /** What to type where nothing is found. */
  readonly fallback: string
}

function runSheet(run: DiagnosedRun): Sheet {
  const { view, diagnosis, address } = run
  const { findings, notRun, detectors } = diagnosis
  const skipped = notRun.length === 0 ? "" : ` · ${notRun.length} of ${detectors} detectors could not run`
  return {
    head: `${headerOf(view)} · ${plural(findings.length, "finding")}${skipped}`,
    rows: findings.map((finding) => ({ finding, run })),
    notRun:
      notRun.length === 0
        ? undefined
        : `not run: ${notRun.map(({ detector, why }) => `${detector} (${safeLine(why)})`).join(", ")}`,
    said: saidOf(run),
    toAsk: diagnosis.sourcesToAsk,
    isMany: false,
    fallback: `orangebox show ${address}`,
  }
}

function threadSheet({ kind, id, runs, total }: DiagnosedThread): Sheet {
  const rows = rowsOf(runs)
  const looked = total > runs.length ? ` (the last ${runs.length} looked at)` : ""
  const ended = runs.filter(({ view }) => view.status === "failed" || view.status === "crashed").length
  return {
    head: `${kind} ${recordedWord(id, 60)} · ${plural(total, "run")}${looked}, ${ended} ended badly · ${plural(rows.length, "finding")}`,
    rows,
    notRun: undefined,
    said: runs.flatMap((run) => saidOf(run).map((line) => `${runWord(run)}: ${line.trim()}`)),
    toAsk: [...new Set(runs.flatMap(({ diagnosis }) => diagnosis.sourcesToAsk))],
    isMany: true,
    fallback: `orangebox show ${runs.at(-1)?.address ?? "last"}`,
  }
}

/** What two runs both show, such as a message that came to each of them, is one finding. */
function rowsOf(runs: readonly DiagnosedRun[]): readonly Row[] {
  const seen = new Set<string>()
  const rows = runs.flatMap((run) => run.diagnosis.findings.map((finding): Row => ({ finding, run })))
  const fresh = rows.filter(({ finding, run }) => {
    const facts = finding.evidence.map(({ runId, ...rest }) => JSON.stringify([runId ?? run.view.runId, rest])).sort()
    const key = [finding.detector, finding.kind, ...facts].join("\0")
    return !seen.has(key) && seen.add(key)
  })
  const order = ({ severity, confidence }: RankedFinding): number =>
    SEVERITIES.indexOf(severity) * CONFIDENCES.length + CONFIDENCES.indexOf(confidence)
  return fresh
    .sort((a, b) => order(a.finding) - order(b.finding))
    .map(({ finding, run }, index) => ({ finding: { ...finding, rank: index + 1, symptomOf: null }, run }))
}

const runWord = ({ view }: Pick<DiagnosedRun, "view">): string => recordedWord(view.runId ?? "run", 40)

/** What is said beside the findings: nothing broken, nothing that explains it, what a judge did, where to begin reading. */
function saidOf({ view, address, diagnosis }: DiagnosedRun): string[] {
  const { findings, isUnexplained, suspects, judged, source } = diagnosis
  return [
    ...(source === undefined ? [] : sourceLines(source)),
    ...reportedLines(view, address),
    ...(findings.length === 0
      ? ["nothing that can be looked for is broken; whether the answer is right, rules cannot tell"]
      : []),
    ...(isUnexplained ? ["it came out badly and no finding explains it"] : []),
    ...(judged === undefined ? [] : [judgeWords(judged)]),
    ...(suspects.length === 0
      ? []
      : [
          "where to begin reading (an order, not findings):",
          ...suspects.map(({ n, why }) => `  #${n} ${why.join("; ")}`),
        ]),
  ]
}

/** What the source that is investigated says about itself. Its words are recorded text like all others. */
function sourceLines({ name, notes, detectors, problems }: InvestigatedSource): string[] {
  const word = recordedWord(name, 40)
  return [
    ...(notes.length === 0 ? [] : [`notes of ${word}: ${notes.map((note) => recordedText(note, 200)).join(" · ")}`]),
    ...(problems.length === 0
      ? []
      : [`rules of ${word}: ${detectors.length} can be used; not: ${problems.join(", ")}`]),
  ]
}

/** What was reported about the run, the last word first. */
function reportedLines({ steps }: RunView, address: string): string[] {
  const reports = (steps[0]?.notes ?? []).filter(({ kind }) => kind === "findings")
  const last = payloadOf(reports.at(-1)?.event)
  if (reports.length === 0) return []
  const [author, verdict, summary] = ["author", "verdict", "summary"].map((field) => textIn(last, field) ?? "")
  const claim = summary === "" ? "" : ` ${recordedText(summary!, 100)}`
  const more = reports.length === 1 ? "" : ` (${reports.length} reports)`
  return [
    `said by ${recordedWord(author!, 40)}: ${recordedWord(verdict!, 16)}${claim}${more} · orangebox findings ${address}`,
  ]
}

function judgeWords({ judge, named, dropped, reason }: NonNullable<Diagnosis["judged"]>): string {
  const name = `judge ${recordedWord(judge, 32)}`
  if (reason !== null) return `${name} gave no verdict: ${safeLine(reason)}`
  const left = dropped === 0 ? "" : `, ${dropped} dropped: no step of the run, or words that do not stand there`
  return `${name} named ${plural(named, "cause")}${left}`
}

function sheetText(sheet: Sheet, options: DiagnosisOptions): string {
  const paint = options.color ?? plain
  const page = pageOfSheet(sheet, options)
  const frame = frameOf(sheet, options)
  const lines = [paint(frame.head, "heading")]
  page.rows.forEach(({ finding }, index) => {
    const isBad = finding.severity === "fatal" || finding.severity === "harm"
    lines.push(isBad ? paint(page.texts[index]!, "bad") : page.texts[index]!)
  })
  const range = page.total > 0 && page.to - page.from < page.total ? [rangeWords("findings", page)] : []
  lines.push(...[...frame.beside, ...range, nextOf(sheet, page, options)].map((line) => paint(line, "dim")))
  return inFormat(lines.join("\n"), options)
}

/** Everything but the findings and the last two lines, so short that at least one finding has room beside it. */
function frameOf(sheet: Sheet, options: JsonOptions): { readonly head: string; readonly beside: readonly string[] } {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_DIAGNOSIS_BUDGET)
  const said = sheet.said.slice(0, MOST_SAID).map((line) => cutToTokens(line, Math.floor(budget * 0.1), count))
  const notRun = sheet.notRun === undefined ? [] : [cutToTokens(sheet.notRun, Math.floor(budget * 0.22), count)]
  return { head: cutToTokens(sheet.head, Math.floor(budget * 0.22), count), beside: [...said, ...notRun] }
}

const MOST_SAID = 6

function pageOfSheet(sheet: Sheet, options: JsonOptions): Page<Row> {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_DIAGNOSIS_BUDGET)
  const { head, beside } = frameOf(sheet, options)
  const last = lastOf(sheet.rows.length)
  const longest = nextOf(sheet, { ...last, rows: sheet.rows.slice(0, 1), texts: [] }, options)
  const frame = [head, ...beside, rangeWords("findings", last), longest].reduce((sum, line) => sum + count(line) + 1, 2)
  const textOf = ({ finding, run }: Row, most: number): string => {
    const lines = linesOf(finding, sheet.isMany ? `${runWord(run)}` : "")
    const each = Math.max(16, Math.floor(most / lines.length) - 1)
    return lines.map((line) => cutToTokens(line, each, count)).join("\n")
  }
  return pageOf(sheet.rows, options.cursor, { budget: budget - frame, count }, { textOf })
}

function nextOf(sheet: Sheet, page: Page<Row>, { address }: Pick<DiagnosisOptions, "address">): string {
  const first = page.rows[0] ?? sheet.rows[0]
  const next = [
    ...(first === undefined ? [] : [`orangebox step ${first.run.address}#${first.finding.cause} --brief`]),
    ...(first === undefined ? [] : sliceCommand(first)),
    ...(page.to < page.total ? [`orangebox diagnose ${address} --cursor ${page.to}`] : []),
    ...sheet.toAsk.slice(0, 1).map((name) => `orangebox diagnose ${address} --source ${shellWord(safeLine(name))}`),
    ...(first === undefined ? [sheet.fallback] : []),
  ]
  return `next: ${next.join(" · ")}`
}

/** The bytes that the finding points at; of two places that differ, the later one. */
function sliceCommand({ finding, run }: Row): string[] {
  const place = finding.evidence.findLast(({ runId, role, from }) => runId === null && role !== null && from !== null)
  if (place === undefined) return []
  return [
    `orangebox step ${run.address}#${place.n} --body ${place.role} --from ${place.from} --bytes ${place.to! - place.from!}`,
  ]
}

const titleOf = ({ confidence, detector, kind, severity, cause }: RankedFinding): string =>
  `${confidence.toUpperCase()} ${[detector, ...(kind === null ? [] : [recordedWord(kind, 40)])].join(" ")}, ${severity}, cause #${cause}`

function linesOf(finding: RankedFinding, run: string): string[] {
  const { rank, confidence, severity, detector, kind, cause, fails, claim, by, said, evidence, symptomOf } = finding
  const places = [`cause ${run}#${cause}`, ...(fails === null || fails === cause ? [] : [`shows in #${fails}`])]
  const follows = symptomOf === null ? [] : [`follows from ${symptomOf}`]
  const name = [detector, ...(kind === null ? [] : [recordedWord(kind, 40)])].join(" ")
  return [
    `${rank} ${confidence.toUpperCase()} ${name}  ${[severity, ...places, ...follows].join(" · ")}`,
    `  ${safeLine(claim)}`,
    ...(said === undefined ? [] : [`  said ${recordedText(said, 200)}`]),
    ...(by === null ? [] : [`  by   ${safeLine(by)}`]),
    `  see  ${evidence.map(pointerWords).join(" · ")}`,
  ]
}

const pointerWords = ({ runId, n, role, from, to }: Pointer): string =>
  [
    `${runId === null ? "" : recordedWord(runId, 40)}#${n}`,
    ...(role === null ? [] : [role]),
    ...(from === null || to === null ? [] : [`${from}..${to}`]),
  ].join(" ")

function outcomeJson({ view, diagnosis }: Pick<DiagnosedRun, "view" | "diagnosis">) {
  const { detectors, notRun, isUnexplained, suspects, judged, source, sourcesToAsk } = diagnosis
  return {
    status: view.status,
    detectors,
    not_run: notRun,
    is_unexplained: isUnexplained,
    suspects: suspects.map(({ n, why }) => ({ step_no: n, why })),
    judged: judged ?? null,
    source: source === undefined ? null : sourceJson(source),
    sources_to_ask: sourcesToAsk,
  }
}

const sourceJson = ({ name, notes, detectors, problems }: InvestigatedSource) => ({
  ...{ name, notes, rules: detectors.length, problems },
})

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
    said: finding.said ?? null,
    by: finding.by,
    evidence: finding.evidence.map(({ runId, n, role, from, to }) => ({ run_id: runId, step_no: n, role, from, to })),
  }
}
