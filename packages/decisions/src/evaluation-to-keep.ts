import { type BodyHash, canonicalHash, type Event, type Verdict } from "@orangebox/contract"
import { type CheckedConstraint, severityOf } from "./checks/constraint.js"
import { CHECKS_EVALUATOR, type RunEvaluation } from "./checks/evaluate.js"
import { verdictOf } from "./checks/verdict.js"

/** A later evaluation as it goes on record: an `evaluation` event about the whole run, without what only its writer knows. */
export interface EvaluationToKeep {
  readonly payload: Omit<Event<"evaluation">["payload"], "evaluation_ref">
  /** The three verdicts with every violation, as the JSON of the event's body. */
  readonly detail: string
  readonly attributes: EvaluationAttributes
}

/** By what was judged and how it came out, so that two evaluations can be told the same without their bodies. */
export type EvaluationAttributes = {
  readonly verdict: Verdict
  readonly rules_hash: BodyHash
  readonly result_hash: BodyHash
  /** The run had not ended: what is said holds for what there was. */
  readonly is_open: boolean
}

export function evaluationToKeep(judged: RunEvaluation): EvaluationToKeep {
  const { alignment, quality, policy } = judged.evaluation
  return {
    payload: {
      evaluator: CHECKS_EVALUATOR,
      subject_step_id: null,
      alignment: alignment.status,
      quality: quality.status,
      policy: policy.status,
      score: alignment.score,
    },
    detail: JSON.stringify(judged.evaluation),
    attributes: {
      verdict: verdictOf(judged),
      rules_hash: rulesHashOf(judged.results.map(({ constraint }) => constraint)),
      result_hash: resultHashOf(judged),
      is_open: judged.isOpen,
    },
  }
}

/** The evaluation on record that already says this, by the same rules; undefined where none does, or a later one says otherwise. */
export function keptAlready(annotations: readonly Event[], { attributes }: EvaluationToKeep): Event | undefined {
  const last = annotations.findLast(
    (event) => event.event_type === "evaluation" && event.attributes?.["rules_hash"] === attributes.rules_hash,
  )
  return last?.attributes?.["result_hash"] === attributes.result_hash ? last : undefined
}

/** Equal for the same rules with the same weight, in whatever order they were given. */
export function rulesHashOf(constraints: readonly CheckedConstraint[]): BodyHash {
  const rules = constraints.map((constraint) => [
    constraint.id,
    constraint.type,
    constraint.rule,
    severityOf(constraint),
    constraint.source ?? "config",
  ])
  return canonicalHash(rules.map((rule) => JSON.stringify(rule)).sort())
}

/**
 * Equal where the same rules came out the same at the same steps. Words do not count: a judge that is a model finds new ones every time, and
 * that is no new result.
 */
function resultHashOf({ isOpen, results }: RunEvaluation): BodyHash {
  const told = results.map(({ constraint, status, violations }) =>
    JSON.stringify([
      constraint.id,
      status,
      violations.map(({ severity, pointers }) => `${severity} ${pointers?.[0]?.step_id ?? ""}`),
    ]),
  )
  return canonicalHash({ is_open: isOpen, results: told.sort() })
}
