import { MASK_MIDDLE, type Verdict } from "@orangebox/contract"
import { hasEnded } from "@orangebox/runs"
import { shortLine } from "@orangebox/text"
import type { Action, EvidencePointer, RunActions } from "../action.js"
import type { DecisionEvaluation, Violation } from "../generated.js"
import { type CheckedConstraint, severityOf } from "./constraint.js"
import { EarlierActions } from "./earlier-actions.js"
import { describeRuleProblem, parseRule, type RuleProblem } from "./parse-rule.js"
import { type CommandMemory, type PreparedAction, prepareAction } from "./prepared-action.js"
import type { Answer, CheckContext, Concern, Finding, Rule } from "./rule.js"
import { scoreOf, worstVerdict } from "./verdict.js"

/** A constraint whose rule was read, or that says why it could not be. */
export interface CompiledConstraint {
  readonly constraint: CheckedConstraint
  readonly concerns: readonly Concern[]
  readonly rule?: Rule
  readonly problem?: RuleProblem
  /** The one result of everything it has nothing against: most actions break nothing, and a run may have very many. */
  readonly passed: ConstraintResult
}

/** How one constraint fared. */
export interface ConstraintResult {
  readonly constraint: CheckedConstraint
  readonly concerns: readonly Concern[]
  readonly status: Verdict
  readonly violations: readonly Violation[]
  /** Why it could not be judged, or not wholly. */
  readonly unknown?: string
}

export interface ActionEvaluation {
  readonly eventId: string
  readonly stepId: string
  readonly results: readonly ConstraintResult[]
  readonly evaluation: DecisionEvaluation
}

export interface RunEvaluation {
  readonly runId: string
  /** The run has not ended, or its writer died: what is said holds for what there is. */
  readonly isOpen: boolean
  readonly results: readonly ConstraintResult[]
  readonly evaluation: DecisionEvaluation
  readonly actions: readonly ActionEvaluation[]
  readonly problems: readonly RuleProblem[]
}

export const CHECKS_EVALUATOR = "orangebox.checks"

/** Reads the rules of constraints once, for any number of evaluations. */
export function compileConstraints(constraints: readonly CheckedConstraint[]): readonly CompiledConstraint[] {
  return constraints.map((constraint) => {
    const reading = parseRule(constraint.rule, constraint.id)
    const concerns = concernsOf(constraint, "rule" in reading ? reading.rule.concerns : ["alignment"])
    const passed: ConstraintResult = Object.freeze({ constraint, concerns, status: "pass", violations: [] })
    return { constraint, concerns, passed, ...reading }
  })
}

/**
 * What a constraint speaks about: alignment always, unless it is one of safety, which is policy whatever its rule; and quality or policy
 * where its rule is of that kind.
 */
function concernsOf({ type }: CheckedConstraint, ofRule: readonly Concern[]): readonly Concern[] {
  if (type !== "safety") return ofRule
  return [...new Set<Concern>(["policy", ...ofRule.filter((concern) => concern !== "alignment")])]
}

/** Judges one action by the rules that can be judged on it alone. */
export function evaluateAction(
  action: Action,
  constraints: readonly CompiledConstraint[],
  context: CheckContext = {},
  memory?: CommandMemory,
  earlier?: EarlierActions,
): ActionEvaluation {
  return evaluatePrepared(prepareAction(action, memory, earlier), constraints, context)
}

function evaluatePrepared(
  prepared: PreparedAction,
  constraints: readonly CompiledConstraint[],
  context: CheckContext,
): ActionEvaluation {
  const results: ConstraintResult[] = []
  for (const compiled of constraints) {
    const answer = answerOnAction(compiled, prepared, context)
    if (answer !== undefined) results.push(resultOf(compiled, answer, context))
  }
  const { eventId, stepId } = prepared.action
  return { eventId, stepId, results, evaluation: evaluationOf(results) }
}

/** Undefined where the rule says nothing about such an action. A rule that breaks has judged nothing. */
function answerOnAction(
  { rule, problem }: CompiledConstraint,
  prepared: PreparedAction,
  context: CheckContext,
): Answer | undefined {
  if (problem !== undefined) return { findings: [], unknown: describeRuleProblem(problem) }
  return guarded(() => rule?.onAction?.(prepared, context))
}

function guarded<T extends Answer | undefined>(judge: () => T): T | Answer {
  try {
    return judge()
  } catch (error) {
    return {
      findings: [],
      unknown: `the check broke: ${error instanceof Error ? error.message.slice(0, 200) : "for no stated reason"}`,
    }
  }
}

/** Judges a whole run: every action, and what only the run as a whole tells. */
export function evaluateRun(
  run: RunActions,
  constraints: readonly CheckedConstraint[],
  context: CheckContext = {},
): RunEvaluation {
  const compiled = compileConstraints(constraints)
  const memory: CommandMemory = new Map()
  const earlier = new EarlierActions(context)
  // Preparing an action for rules searches it for secrets; where there is no rule, that is not needed.
  const prepared = compiled.length === 0 ? [] : run.actions.map((action) => prepareAction(action, memory, earlier))
  const actions =
    compiled.length === 0
      ? run.actions.map(({ eventId, stepId }) => ({ eventId, stepId, results: [], evaluation: evaluationOf([]) }))
      : prepared.map((one) => evaluatePrepared(one, compiled, context))
  const ofConstraint = new Map<CheckedConstraint, ConstraintResult[]>()
  for (const action of actions) {
    for (const result of action.results) {
      const kept = ofConstraint.get(result.constraint)
      if (kept === undefined) ofConstraint.set(result.constraint, [result])
      else kept.push(result)
    }
  }
  const results = compiled.map((one): ConstraintResult => {
    const { rule, problem } = one
    const results = ofConstraint.get(one.constraint) ?? []
    if (problem !== undefined) return resultOf(one, { findings: [], unknown: describeRuleProblem(problem) }, context)
    if (rule?.onRun !== undefined) {
      const { onRun } = rule
      results.push(
        resultOf(
          one,
          guarded(() => onRun(run, prepared, context)),
          context,
        ),
      )
    }
    return joinedResult(one, results, run)
  })
  return {
    runId: run.runId,
    isOpen: !hasEnded(run.status),
    results,
    evaluation: evaluationOf(results),
    actions,
    problems: compiled.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
  }
}

function joinedResult(
  { constraint, concerns }: CompiledConstraint,
  results: readonly ConstraintResult[],
  run: RunActions,
): ConstraintResult {
  const unknown = results.find((result) => result.unknown !== undefined)?.unknown
  if (results.length === 0) {
    const nothing = !hasEnded(run.status) ? "nothing to judge yet" : "the run holds nothing to judge"
    return { constraint, concerns, status: "unknown", violations: [], unknown: nothing }
  }
  return {
    constraint,
    concerns,
    status: worstVerdict(results.map((result) => result.status)),
    violations: results.flatMap((result) => result.violations),
    ...(unknown !== undefined && { unknown }),
  }
}

/** Findings about one action that are listed one by one; the last one says how many more there are. */
const MAX_TOLD = 20

function resultOf(compiled: CompiledConstraint, answer: Answer, context: CheckContext): ConstraintResult {
  const { constraint, concerns } = compiled
  if (answer.findings.length === 0 && answer.unknown === undefined) return compiled.passed
  const told = answer.findings.slice(0, MAX_TOLD)
  const more = answer.findings.length - told.length
  const violations = told.map((finding, index) =>
    violationOf(constraint, finding, context, index === MAX_TOLD - 1 ? more : 0),
  )
  const statuses: Verdict[] = [
    ...answer.findings.map((finding) => weightOf(constraint, finding)),
    ...(answer.unknown === undefined ? [] : ["unknown" as const]),
  ]
  return {
    constraint,
    concerns,
    status: worstVerdict(statuses),
    violations,
    ...(answer.unknown !== undefined && { unknown: answer.unknown }),
  }
}

const weightOf = (constraint: CheckedConstraint, finding: Finding): "warn" | "fail" =>
  finding.certainty === "possible" ? "warn" : severityOf(constraint)

function violationOf(constraint: CheckedConstraint, finding: Finding, context: CheckContext, more: number): Violation {
  const message = safeMessage(finding.message, context)
  return {
    id: constraint.id.startsWith("constraint.") ? constraint.id : `constraint.${constraint.id}`,
    severity: weightOf(constraint, finding),
    message: more > 0 ? `${message} (and ${more} more)` : message,
    evidence: finding.excerpt === null ? null : safeExcerpt(finding.excerpt, context),
    rule: constraint.rule,
    pointers: finding.pointers.map(pointerOf),
    ...(constraint.source === "inferred" && { is_inferred: true }),
  }
}

// Messages quote paths, hosts and names from recorded text, so they get the same treatment; they may be somewhat longer.
const safeMessage = (message: string, context: CheckContext): string => {
  const parts = message.match(/[\s\S]{1,110}/g)?.slice(0, 4) ?? [""]
  return parts.length === 1 ? safeExcerpt(message, context) : parts.map((part) => safeExcerpt(part, context)).join("")
}

const pointerOf = ({ stepId, ref, start, end }: EvidencePointer): NonNullable<Violation["pointers"]>[number] => ({
  step_id: stepId,
  ref,
  ...(start !== undefined && { start }),
  ...(end !== undefined && { end }),
})

/** The three verdicts of seed 002 from the results of constraints. */
function evaluationOf(results: readonly ConstraintResult[]): DecisionEvaluation {
  const statuses: Record<Concern, Verdict[]> = { alignment: [], quality: [], policy: [] }
  const checks: Record<Concern, DecisionEvaluation["quality"]["checks"]> = { alignment: [], quality: [], policy: [] }
  const violations: Violation[] = []
  for (const { constraint, concerns, status, violations: broken, unknown } of results) {
    for (const concern of concerns) {
      statuses[concern].push(status)
      if (concern === "alignment") violations.push(...broken)
      else
        checks[concern].push({
          id: constraint.id,
          status,
          message: broken[0]?.message ?? unknown ?? null,
          rule: constraint.rule,
        })
    }
  }
  return {
    alignment: { status: worstVerdict(statuses.alignment), score: scoreOf(statuses.alignment), violations },
    quality: { status: worstVerdict(statuses.quality), checks: checks.quality },
    policy: { status: worstVerdict(statuses.policy), checks: checks.policy },
    evaluator: CHECKS_EVALUATOR,
  }
}

const MAX_EXCERPT = 120

/** A bit of recorded text that may be shown: short, on one line, without secrets, control characters or direction tricks. */
function safeExcerpt(text: string, context: Pick<CheckContext, "findSecrets">): string {
  const head = text.slice(0, MAX_EXCERPT * 8)
  const shown = shortLine(maskSecrets(head, context), MAX_EXCERPT)
  return head.length < text.length && !shown.endsWith("…") ? `${shown}…` : shown
}

function maskSecrets(text: string, { findSecrets }: Pick<CheckContext, "findSecrets">): string {
  if (findSecrets === undefined) return text
  let masked = ""
  let at = 0
  for (const { start, end } of findSecrets(text)) {
    if (start < at) continue
    masked += text.slice(at, start) + MASK_MIDDLE
    at = end
  }
  return masked + text.slice(at)
}
