import type { JudgeOutcome } from "@orangebox/decisions"
import type { CaseFile } from "./case-file.js"
import { at, type Finding } from "./finding.js"

/** What a judge answered when it was asked what went wrong. */
export interface JudgeWord {
  readonly judge: string
  readonly outcome: JudgeOutcome
}

/** What became of it. */
export interface JudgedDiagnosis {
  readonly judge: string
  /** How many things it named, and how many of them were dropped: no step of the run, or words that do not stand there. */
  readonly named: number
  readonly dropped: number
  /** Why it gave no verdict. */
  readonly reason: string | null
}

/** A judge's word is at most likely, and counts only where it points at a step, and quotes what stands there. */
export function judgedFindings(
  { view, words }: CaseFile,
  { judge, outcome }: JudgeWord,
): { readonly findings: readonly Finding[]; readonly account: JudgedDiagnosis } {
  if (!outcome.isAnswered) return { findings: [], account: { judge, named: 0, dropped: 0, reason: outcome.reason } }
  const named = outcome.answer.violations ?? []
  const byId = new Map(view.steps.map((step) => [step.id, step]))
  const findings = named.flatMap(({ message, step_id, excerpt }): Finding[] => {
    const step = step_id === undefined ? undefined : byId.get(step_id)
    if (step === undefined) return []
    const { said = "", got = "" } = words.get(step.n) ?? {}
    if (excerpt !== undefined && !stands(excerpt, said) && !stands(excerpt, got)) return []
    return [
      {
        detector: "judge",
        kind: judge,
        severity: "harm",
        confidence: excerpt === undefined ? "possible" : "likely",
        cause: step.n,
        fails: step.n,
        claim: `a judge names #${step.n}${excerpt === undefined ? ", without a quote" : ", and quotes what stands there"}`,
        by: null,
        said: message,
        evidence: [at(step)],
      },
    ]
  })
  return {
    findings,
    account: { judge, named: named.length, dropped: named.length - findings.length, reason: null },
  }
}

/** However its lines are broken. */
const stands = (excerpt: string, text: string): boolean => excerpt.trim() !== "" && flat(text).includes(flat(excerpt))

const flat = (text: string): string => text.replace(/\s+/g, " ").trim()
