import type { Verdict } from "@orangebox/contract"
import type { RunEvaluation } from "./evaluate.js"

const ORDER: readonly Verdict[] = ["fail", "warn", "unknown", "pass"]

/** The worst of several verdicts: fail, then warn, then unknown, then pass. Nothing judged is unknown, not a pass. */
export function worstVerdict(verdicts: Iterable<Verdict>): Verdict {
  const seen = new Set(verdicts)
  return ORDER.find((verdict) => seen.has(verdict)) ?? "unknown"
}

/** Mean of what was judged: a pass counts 1, a warning a half, a failure nothing. Null when nothing was. */
export function scoreOf(verdicts: readonly Verdict[]): number | null {
  const points = verdicts.flatMap((verdict) =>
    verdict === "unknown" ? [] : [verdict === "pass" ? 1 : verdict === "warn" ? 0.5 : 0],
  )
  if (points.length === 0) return null
  const sum = points.reduce<number>((total, point) => total + point, 0)
  return Math.round((sum / points.length) * 1000) / 1000
}

/** From which verdict on a gate closes. */
export type GateLevel = "fail" | "warn" | "unknown"

/** One verdict for a run: the worst of its constraints. */
export const verdictOf = (evaluation: RunEvaluation): Verdict =>
  worstVerdict(evaluation.results.map((result) => result.status))

/**
 * The exit code of a gate: 0 fine, 1 a violation, 2 a rule that cannot be read. A rule that cannot be read is bad input and wins: a gate that
 * does not know its rules has not judged.
 */
export function gateExitCode(evaluations: readonly RunEvaluation[], failOn: GateLevel = "fail"): 0 | 1 | 2 {
  if (evaluations.some((evaluation) => evaluation.problems.length > 0)) return 2
  const closes: readonly Verdict[] =
    failOn === "fail" ? ["fail"] : failOn === "warn" ? ["fail", "warn"] : ["fail", "warn", "unknown"]
  return evaluations.some((evaluation) => evaluation.results.some((result) => closes.includes(result.status))) ? 1 : 0
}
