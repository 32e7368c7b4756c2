import { OrangeboxError, type Problem } from "@orangebox/contract"
import type { Candidate, Considered } from "./candidate.js"
import { plainJson } from "./plain-json.js"
import type { Evaluation, Stage } from "./stage.js"

/** Tier 1 of a step's results: how they were judged, then the stage's key metrics. Other results are logged as left out. */
export function resultCandidates(
  stage: Stage,
  results: Readonly<Record<string, unknown>>,
  runNumber: number,
  considered: Considered,
): { candidates: Candidate[]; problems: Problem[] } {
  const candidates: Candidate[] = []
  const problems: Problem[] = []
  const consider = (section: "evaluation_summary" | "inputs_summary", key: string, value: unknown): void => {
    const id = `${section}.${key}`
    const sourceRef = `results#${key}`
    const plain = plainJson(value)
    if (plain === undefined) {
      problems.push(resultProblem(key, "has no JSON form"))
      const excluded_reason = "unreadable"
      considered.exclude({ item_id: id, item_type: "tool_output", source_ref: sourceRef, excluded_reason })
      return
    }
    candidates.push({
      id: considered.admit(id),
      type: "tool_output",
      sourceRef,
      reason: "plan_dependency",
      placed: { section, value: { key, value: plain } },
    })
  }

  const evaluation = evaluate(stage, results, runNumber)
  for (const name of EVALUATED) consider("evaluation_summary", name, evaluation[name])
  for (const metric of metricOrder(stage.keyMetrics)) {
    if (resultOf(results, metric) !== undefined) consider("inputs_summary", metric, resultOf(results, metric))
  }
  const summarised = new Set<string>([...EVALUATED, ...stage.keyMetrics])
  for (const key of Object.keys(results)) {
    if (summarised.has(key)) continue
    const source_ref = `results#${key}`
    considered.exclude({
      item_id: source_ref,
      item_type: "tool_output",
      source_ref,
      excluded_reason: "not_a_key_metric",
    })
  }
  return { candidates, problems }
}

const EVALUATED = ["success", "confidence", "interpretation"] as const

function evaluate(stage: Stage, results: Readonly<Record<string, unknown>>, runNumber: number): Evaluation {
  if (!stage.evaluate) return reportedEvaluation(stage, results, runNumber)
  try {
    return stage.evaluate(results, { stage, runNumber })
  } catch (cause) {
    throw new OrangeboxError("CONTEXT_EVALUATE", {
      what: `the evaluation of stage ${String(stage.id)} threw: ${String(cause)}`,
      where: "stage.evaluate",
      cause,
    })
  }
}

/** What the results say about themselves; what they do not say stays unknown. */
export function reportedEvaluation(
  stage: Stage,
  results: Readonly<Record<string, unknown>>,
  runNumber: number,
): Evaluation {
  const success = resultOf(results, "success")
  const confidence = resultOf(results, "confidence")
  const interpretation = resultOf(results, "interpretation")
  return {
    success: typeof success === "boolean" ? success : null,
    confidence: typeof confidence === "number" && Number.isFinite(confidence) ? confidence : null,
    interpretation: `Run ${runNumber}: ${typeof interpretation === "string" ? interpretation : coverage(stage, results)}`,
  }
}

function coverage(stage: Stage, results: Readonly<Record<string, unknown>>): string {
  const missing = stage.keyMetrics.filter((metric) => resultOf(results, metric) === undefined)
  const count = `${stage.keyMetrics.length - missing.length} of ${stage.keyMetrics.length} key metrics reported`
  return missing.length === 0 ? count : `${count}, missing: ${missing.join(", ")}`
}

const resultOf = (results: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(results, key) ? results[key] : undefined

// The order in which an object keeps its keys: names that look like whole numbers come first, whatever the order they were given in.
const metricOrder = (metrics: readonly string[]): string[] =>
  Object.keys(Object.fromEntries(metrics.map((metric) => [metric, true])))

const resultProblem = (key: string, reason: string): Problem => ({
  code: "result_unreadable",
  severity: "error",
  subject: "results",
  field: key,
  reason,
})
