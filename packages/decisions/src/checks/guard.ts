import type { Action } from "../action.js"
import type { Violation } from "../generated.js"
import type { CheckedConstraint } from "./constraint.js"
import { EarlierActions } from "./earlier-actions.js"
import { type ActionEvaluation, compileConstraints, evaluateAction } from "./evaluate.js"
import type { RuleProblem } from "./parse-rule.js"
import type { CommandMemory } from "./prepared-action.js"
import type { CheckContext } from "./rule.js"

export interface GuardDecision {
  readonly decision: "allow" | "warn" | "block"
  readonly violations: readonly Violation[]
  /** Why rules could not be judged on this action. */
  readonly unknown: readonly string[]
  /** Ids of constraints that wait for the action's outcome or the run's end. */
  readonly pending: readonly string[]
  readonly evaluation: ActionEvaluation
}

export interface GuardOptions {
  /** What to do with an action a rule cannot judge, such as a command that only running would tell. */
  readonly onUnknown?: "allow" | "warn" | "block"
}

export interface Guard {
  /** Calls of one run are judged in their order: a `cd` may count for those behind it. Left out, the call is judged by itself. */
  (action: Action, runId?: string): GuardDecision
  /** Rules that could not be read; they are `unknown` on every action. */
  readonly problems: readonly RuleProblem[]
}

/**
 * A guard for the boundary before a tool runs: only rules that an action alone decides count (paths, commands, tools, network, secrets, the
 * size of an edit); all others are pending. It is the same code that judges stored runs, so both agree.
 */
export function createGuard(
  constraints: readonly CheckedConstraint[],
  context: CheckContext = {},
  { onUnknown = "warn" }: GuardOptions = {},
): Guard {
  const compiled = compileConstraints(constraints)
  const before = compiled.filter(({ rule }) => rule?.judged === "before")
  const pending = compiled
    .filter(({ rule }) => rule !== undefined && rule.judged !== "before")
    .map(({ constraint }) => constraint.id)
  const problems = compiled.flatMap(({ problem }) => (problem === undefined ? [] : [problem]))
  const memory: CommandMemory = new Map()
  const ofRuns = new Map<string, EarlierActions>()
  const earlierOf = (runId: string): EarlierActions => {
    const known = ofRuns.get(runId) ?? new EarlierActions(context)
    ofRuns.set(runId, known)
    if (ofRuns.size > MOST_RUNS) ofRuns.delete(ofRuns.keys().next().value!)
    return known
  }
  const judge = (action: Action, runId?: string): GuardDecision => {
    const earlier = runId === undefined ? undefined : earlierOf(runId)
    const evaluation = evaluateAction(action, before, context, memory, earlier)
    const violations = evaluation.results.flatMap((result) => result.violations)
    const unknown = [
      ...new Set(evaluation.results.flatMap((result) => (result.unknown === undefined ? [] : [result.unknown]))),
    ]
    const decision = violations.some(({ severity }) => severity === "fail")
      ? "block"
      : violations.length > 0
        ? unknown.length > 0 && onUnknown === "block"
          ? "block"
          : "warn"
        : unknown.length > 0
          ? onUnknown
          : "allow"
    return { decision, violations, unknown, pending, evaluation }
  }
  return Object.assign(judge, { problems })
}

/** A process that runs agents for months forgets what the first ones did. */
const MOST_RUNS = 1_000
