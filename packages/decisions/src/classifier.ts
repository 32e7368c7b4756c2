import type { CheckedConstraint } from "./checks/constraint.js"
import { CHECKS_EVALUATOR, compileConstraints, evaluateAction } from "./checks/evaluate.js"
import type { CommandMemory } from "./checks/prepared-action.js"
import type { CheckContext } from "./checks/rule.js"
import { actionAhead, type ToolCallAhead } from "./live-action.js"
import type { ReadOptions } from "./read-run.js"

/**
 * What of a tool call outlives its text: `Recorder.open({ capture: "hashed", classify: classifier(constraints) })`. The kind of action it is,
 * and how it fares by the rules that can be judged on it alone; both are on record before the arguments are dropped, and stand.
 */
export function classifier(
  constraints: readonly CheckedConstraint[] = [],
  context: CheckContext = {},
  options: ReadOptions = {},
) {
  const before = compileConstraints(constraints).filter(({ rule }) => rule?.judged === "before")
  const memory: CommandMemory = new Map()
  return (call: ToolCallAhead) => {
    const action = actionAhead(call, options)
    const { results, evaluation } = evaluateAction(action, before, context, memory)
    if (results.length === 0) return { actionType: action.type }
    const { alignment, quality, policy } = evaluation
    return {
      actionType: action.type,
      evaluation: {
        evaluator: CHECKS_EVALUATOR,
        alignment: alignment.status,
        quality: quality.status,
        policy: policy.status,
        score: alignment.score,
        detail: evaluation,
      },
    }
  }
}
