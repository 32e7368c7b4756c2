import type { Verdict } from "@orangebox/contract"
import {
  type ConstraintResult,
  type RuleProblem,
  type RunEvaluation,
  type Violation,
  verdictOf,
} from "@orangebox/decisions"
import { incompleteContexts, injectedContexts } from "@orangebox/query"
import { type HumanWord, type JudgedRun, type KeptEvaluation, openWords, VERDICT_MARK } from "@orangebox/reader"
import { formatMoment, type Painter, plural, recordedText, recordedWord, safeLine, snakeJson } from "@orangebox/text"

export const painted = (verdict: Verdict, text: string, paint: Painter): string => {
  const role = verdict === "fail" ? "bad" : verdict === "warn" ? "warn" : verdict === "unknown" ? "dim" : undefined
  return role === undefined ? text : paint(text, role)
}

const MOST_VIOLATIONS = 5

/** How one run fared, constraint by constraint. */
export function checkText(
  judged: JudgedRun,
  word: HumanWord | undefined,
  kept: KeptEvaluation | undefined,
  paint: Painter,
): string {
  const { run, evaluation } = judged
  const verdict = verdictOf(evaluation)
  const open = openWords(judged)
  const { app, entrypoint } = run.view
  const head = `${painted(verdict, `${VERDICT_MARK[verdict]} ${verdict}`, paint)}  ${run.row.runId}  ${recordedWord(app ?? "?", 40)} · ${recordedWord(entrypoint ?? "?", 40)}`
  const width = Math.max(0, ...evaluation.results.map(({ constraint }) => Math.min(constraint.id.length, 32)))
  return [
    open === undefined ? head : `${head}  (${open})`,
    ...evaluation.results.flatMap((result) => resultLines(judged, result, width, paint)),
    ...injectedContexts(run.view).map(({ n, detail }) => paint(`  ✗ context_injected  #${n}  ${detail}`, "bad")),
    ...incompleteContexts(run.view).map(({ n, detail }) => paint(`  ✗ context_incomplete  #${n}  ${detail}`, "bad")),
    ...(word === undefined
      ? []
      : [`  ${recordedText(word.author, 60)} said ${word.verdict}: ${recordedText(word.reason, 200)}`]),
    `  ${countWords(evaluation)}${keptWords(kept)}`,
  ].join("\n")
}

function resultLines(judged: JudgedRun, result: ConstraintResult, width: number, paint: Painter): string[] {
  const { constraint, status, violations, unknown } = result
  const origin = constraint.source === "inferred" ? "  (read from the request)" : ""
  const id = recordedWord(constraint.id, 32).padEnd(width)
  const head = `  ${painted(status, `${VERDICT_MARK[status]} ${status.padEnd(7)}`, paint)} ${id}  ${recordedText(constraint.rule, 80)}${origin}`
  const told = violations.slice(0, MOST_VIOLATIONS).flatMap((violation) => violationLines(judged, violation))
  const more = violations.length - MOST_VIOLATIONS
  return [
    head,
    ...told,
    ...(more > 0 ? [`      and ${more} more`] : []),
    ...(unknown === undefined ? [] : [`      unknown: ${unknownWords(result, unknown)}`]),
  ]
}

/** Why a rule of the configuration cannot be used was said before any run was looked at. */
function unknownWords({ constraint }: ConstraintResult, unknown: string): string {
  const isSaid = constraint.source === "config" && /^rule ".*" cannot be used: /s.test(unknown)
  return isSaid ? "the rule cannot be used" : safeLine(unknown.slice(0, 600))
}

function violationLines({ reading }: JudgedRun, { message, evidence, pointers }: Violation): string[] {
  const step = reading.index.stepOf(pointers?.[0]?.step_id ?? "")
  const place = step === undefined ? "" : `#${step.no}  `
  const isSaid = evidence === null || message.includes(evidence)
  return [`      ${place}${safeLine(message)}`, ...(isSaid ? [] : [`          ${recordedText(evidence, 200)}`])]
}

function countWords({ results }: RunEvaluation): string {
  const count = (status: Verdict): number => results.filter((result) => result.status === status).length
  return `${plural(results.length, "constraint")}: ${count("fail")} fail, ${count("warn")} warn, ${count("unknown")} unknown, ${count("pass")} pass`
}

function keptWords(kept: KeptEvaluation | undefined): string {
  if (kept === undefined) return ""
  return kept.isNew ? "; now on record" : `; on record since ${formatMoment(kept.at)}`
}

export function checkJson(judged: JudgedRun, word: HumanWord | undefined, kept: KeptEvaluation | undefined): object {
  const { run, reading, evaluation } = judged
  return {
    run_id: run.row.runId,
    status: run.row.status,
    is_open: evaluation.isOpen,
    verdict: verdictOf(evaluation),
    override: word ?? null,
    recorded: kept === undefined ? null : { event_id: kept.eventId, at: kept.at, is_new: kept.isNew },
    context_injected: injectedContexts(run.view).map(({ n, detail }) => ({ step_no: n, detail })),
    context_incomplete: incompleteContexts(run.view).map(({ n, detail }) => ({ step_no: n, detail })),
    results: evaluation.results.map(({ constraint, concerns, status, violations, unknown }) => ({
      id: constraint.id,
      type: constraint.type,
      rule: constraint.rule,
      source: constraint.source ?? "config",
      concerns,
      status,
      unknown: unknown ?? null,
      violations: violations.map(({ severity, message, evidence, pointers = [] }) => ({
        ...{ severity, message, evidence },
        step_no: reading.index.stepOf(pointers[0]?.step_id ?? "")?.no ?? null,
        pointers: pointers.map(({ step_id, ref, start, end }) => ({
          ...{ step_id, ref, start: start ?? null, end: end ?? null },
        })),
      })),
    })),
  }
}

export const problemJson = ({ nearest, ...problem }: RuleProblem): object => snakeJson({ ...problem, nearest })
