// Constraints and the rule language

export { JudgeAnswer, JudgeQuestion } from "../generated.js"
export type { CheckedConstraint, ConstraintSource } from "./constraint.js"
// Evaluating
export {
  type ActionEvaluation,
  CHECKS_EVALUATOR,
  type CompiledConstraint,
  type ConstraintResult,
  compileConstraints,
  evaluateRun,
  type RunEvaluation,
} from "./evaluate.js"
export { createGuard, type Guard, type GuardDecision, type GuardOptions } from "./guard.js"
export { type InferredConstraint, inferConstraints } from "./infer-constraints.js"
// Judges
export { askJudge, JUDGE_PROTOCOL, type Judge, type JudgeOutcome, judgeQuestions, readJudgeAnswer } from "./judge.js"
export { describeRuleProblem, parseRule, type RuleProblem, type RuleReading } from "./parse-rule.js"
export { followLinks, type PathPlace } from "./paths/located-path.js"
export { renderJunit } from "./render/junit.js"
export { renderSarif } from "./render/sarif.js"
export type { CheckContext, Concern, FoundSecret, Rule, RuleDefinition } from "./rule.js"
export { RULE_NAMES, RULES } from "./rules.js"
// Gate and reports for CI
export { type GateLevel, gateExitCode, verdictOf, worstVerdict } from "./verdict.js"
