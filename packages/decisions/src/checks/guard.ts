import type { Action } from "../action.js"
import type { Violation } from "../generated.js"
import type { CheckedConstraint } from "./constraint.js"
import { type ActionEvaluation, compileConstraints, evaluateAction } from "./evaluate.js"
import type { RuleProblem } from "./parse-rule.js"
import type { CommandMemory } from "./prepared-action.js"
import type { CheckContext } from "./rule.js"
import { ShellFolders } from "./shell-folders.js"

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
  const folders = new Map<string, ShellFolders>()
  const foldersOf = (runId: string): ShellFolders => {
    const known = folders.get(runId) ?? new ShellFolders()
    folders.set(runId, known)
    if (folders.size > MOST_RUNS) folders.delete(folders.keys().next().value!)
    return known
  }
  const judge = (action: Action, runId?: string): GuardDecision => {
    const stands = runId === undefined ? undefined : foldersOf(runId)
    const evaluation = evaluateAction(action, before, context, memory, stands)
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

/** A process that runs agents for months forgets where the first ones stood. */
const MOST_RUNS = 1_000
