import {
  type ActionType,
  type CaptureMode,
  type Constraint,
  payloadOf,
  textIn,
  type Verdict,
} from "@orangebox/contract"
import { endWords, isFailure, type RunStatus } from "@orangebox/runs"
import { recordedArtifact } from "../artifacts-of.js"
import type { RunEvaluation } from "../checks/evaluate.js"
import { verdictOf, worstVerdict } from "../checks/verdict.js"
import { agentIn, type DecisionOptions, decisionsOfReading } from "../decisions-of.js"
import { headlineOf, type VerdictsOnRecord, verdictsOnRecord } from "../evaluation-on-record.js"
import { rulesHashOf } from "../evaluation-to-keep.js"
import type { DecisionArtifact, DecisionEvaluation, DecisionEvent, HumanOverride, Violation } from "../generated.js"
import { netChanges } from "../net-changes.js"
import { type Observability, observabilityOfReading } from "../observability.js"
import { type RunReading, readRun } from "../read-run.js"
import type { RecordedRun } from "../recorded-run.js"

/** What a run did and whether that was what was asked, as one JSON value. Every other form of the report is made of it. */
export interface RunReport {
  readonly report_version: 1
  readonly run: {
    readonly run_id: string
    readonly trace_id: string
    readonly app_id: string
    readonly agent_id: string
    readonly agent_version: string
    readonly environment: string
    readonly entrypoint: string
    readonly request: string
    readonly status: RunStatus
    /** What ended it where that was an error, or the end of its process; in our words, with recorded text quoted and safe. */
    readonly ended_by: string | null
    readonly error_class: string | null
    readonly error_summary: string | null
    readonly started_at: string | null
    readonly duration_ms: number | null
    readonly capture_mode: CaptureMode | null
    readonly constraints: readonly Constraint[]
  }
  readonly summary: ReportSummary
  readonly violations: readonly ReportViolation[]
  readonly timeline: readonly TimelineEntry[]
  readonly artifacts: readonly ReportArtifact[]
  readonly observability: Observability
  readonly overrides: readonly HumanOverride[]
  /** What was said about the run as a whole and kept, the last word of each evaluator by each set of rules. */
  readonly recorded_evaluations: readonly ReportEvaluation[]
}

export interface ReportEvaluation {
  readonly event_id: string
  readonly timestamp: string
  readonly evaluator: string
  readonly author: string | null
  readonly tool_version: string | null
  readonly rules_hash: string | null
  readonly is_open: boolean
  readonly verdict: Verdict
  readonly alignment: Verdict
  readonly quality: Verdict
  readonly policy: Verdict
  readonly score: number | null
  /** What was computed now is something else, or by other rules; null where nothing was computed. */
  readonly differs: boolean | null
}

export interface ReportSummary {
  /** The worst of the three below; a person's word about the whole run stands over it. */
  readonly verdict: Verdict
  readonly alignment: Verdict
  readonly quality: Verdict
  readonly policy: Verdict
  readonly score: number | null
  readonly decisions: number
  readonly actions: { readonly [type in ActionType]?: number }
  readonly model_calls: number
  readonly failed_model_calls: number
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  /** Null is unknown: what an edit changed was not kept. */
  readonly files_changed: number | null
  readonly lines_added: number | null
  readonly lines_removed: number | null
  readonly commands: number
  readonly failed_commands: number
  readonly test_runs: number
  readonly last_test_outcome: "passed" | "failed" | "unknown" | null
  readonly violations: { readonly fail: number; readonly warn: number }
  readonly observability_failures: number
  readonly bypasses: number
  /** Events of the run that were recorded and are not there; what they would have changed is not known. */
  readonly lost_events: number
}

export interface ReportViolation extends Violation {
  /** How often, and where. */
  readonly count: number
  readonly steps: readonly { readonly step_id: string; readonly step_no: number }[]
}

export interface TimelineEntry {
  readonly event_id: string
  readonly timestamp: string
  readonly offset_ms: number | null
  readonly step_id: string
  readonly step_no: number
  readonly action_type: ActionType
  readonly summary: string
  readonly status: string
  readonly verdict: Verdict
  readonly violations: number
  readonly is_inferred: boolean
}

export type ReportArtifact = DecisionArtifact & { readonly step_no: number }

export function runReport(run: RecordedRun, options: DecisionOptions = {}): RunReport {
  const { evaluation } = options
  const reading = readRun(run, options)
  const decisions = decisionsOfReading(reading, options)
  const observability = observabilityOfReading(reading)
  const onRecord = verdictsOnRecord(reading)
  const made = decisions.flatMap(({ agent_action }) =>
    agent_action.artifacts.map((artifact) => ({ ...artifact, step_no: agent_action.step_no })),
  )
  const artifacts = [...made, ...changesOfNobody(reading, made)]
  const recorded = verdictsRecorded(decisions, onRecord.ofRun)
  const now = evaluation && knowsLess(evaluation, recorded.verdict, onRecord.ofRun) ? undefined : evaluation
  const verdicts = now ? { ...statusesOf(now.evaluation), verdict: verdictOf(now) } : recorded
  const violations = now
    ? violationsNow(reading, now)
    : violationsOnRecord(reading, decisions, onRecord.ofRun?.evaluation)
  return {
    report_version: 1,
    run: factsOf(reading, decisions),
    summary: {
      ...verdicts,
      verdict: onRecord.overridesOfRun.at(-1)?.verdict ?? verdicts.verdict,
      ...figuresOf(reading, decisions),
      violations: { fail: countOf(violations, "fail"), warn: countOf(violations, "warn") },
      observability_failures: observability.failures.length,
      bypasses: observability.bypasses.filter(({ certainty }) => certainty === "certain").length,
      lost_events: reading.index.totals.lost,
    },
    violations,
    timeline: timelineOf(reading, decisions, now, violations),
    artifacts,
    observability,
    overrides: [...onRecord.overridesOfRun, ...[...onRecord.overridesOf.values()].flat()],
    recorded_evaluations: recordedEvaluations(reading, evaluation),
  }
}

/**
 * A verdict that was reached when the text was there stands; a later look without it knows less. That is so where it cannot tell at all, and
 * where the same rules found something worse and now cannot tell wholly.
 */
function knowsLess(evaluation: RunEvaluation, recorded: Verdict, ofRun: VerdictsOnRecord["ofRun"]): boolean {
  const verdict = verdictOf(evaluation)
  if (verdict === "unknown") return recorded !== "unknown"
  const isPartial = evaluation.results.some(({ unknown }) => unknown !== undefined)
  const areOtherRules = ofRun !== undefined && ofRun.rulesHash !== rulesHashOf(constraintsIn(evaluation))
  if (!isPartial || areOtherRules) return false
  return worstVerdict([verdict, recorded]) !== verdict
}

const constraintsIn = ({ results }: RunEvaluation) => results.map(({ constraint }) => constraint)

/** What stands on record about the whole run, beside what was computed now. */
export function recordedEvaluations(
  reading: Pick<RunReading, "index" | "bodies">,
  now: RunEvaluation | undefined,
): ReportEvaluation[] {
  const rulesNow = now && rulesHashOf(constraintsIn(now))
  return verdictsOnRecord(reading).allOfRun.map((one) => {
    const statuses = statusesOf(one.evaluation)
    const isSame = (name: "alignment" | "quality" | "policy"): boolean =>
      statuses[name] === now?.evaluation[name].status
    const areSameRules = one.rulesHash === null || one.rulesHash === rulesNow
    return {
      event_id: one.eventId,
      timestamp: one.at,
      evaluator: one.evaluation.evaluator ?? "unknown",
      author: one.author,
      tool_version: one.toolVersion,
      rules_hash: one.rulesHash,
      is_open: one.isOpen,
      verdict: one.verdict,
      ...statuses,
      differs: now ? !(areSameRules && isSame("alignment") && isSame("quality") && isSame("policy")) : null,
    }
  })
}

/** Diffs of the workspace that no action owns: what a command changed without saying so. A file that an action edited is listed there. */
function changesOfNobody({ index, bodies }: RunReading, made: readonly ReportArtifact[]): ReportArtifact[] {
  const edited = new Set(made.flatMap(({ type, metadata }) => (type === "file_edit" ? [metadata.path] : [])))
  const owned = new Set(made.map(({ id }) => id))
  return index.events.flatMap((event) => {
    if (event.event_type !== "artifact_recorded" || payloadOf(event)["artifact_type"] !== "diff") return []
    const stepNo = index.stepOf(event.step_id ?? "")?.no ?? 0
    return recordedArtifact(event, bodies)
      .filter(({ id, metadata }) => !owned.has(id) && !isEdited(edited, metadata.path))
      .map((artifact) => ({ ...artifact, step_no: stepNo }))
  })
}

/** Tools are told paths as they please, absolute ones too; a recorded change is relative to the workspace. */
const isEdited = (edited: ReadonlySet<string | null>, path: string | null): boolean =>
  path !== null && [...edited].some((one) => one === path || one?.endsWith(`/${path}`))

type Verdicts = Pick<ReportSummary, "verdict" | "alignment" | "quality" | "policy" | "score">

function statusesOf({ alignment, quality, policy }: DecisionEvaluation): Omit<Verdicts, "verdict"> {
  return { alignment: alignment.status, quality: quality.status, policy: policy.status, score: alignment.score }
}

/** From evaluations on record. Where the actions have them, actions without a judgement do not count. */
function verdictsRecorded(decisions: readonly DecisionEvent[], whole: VerdictsOnRecord["ofRun"]): Verdicts {
  if (whole && whole.verdict !== "unknown") return { ...statusesOf(whole.evaluation), verdict: whole.verdict }
  const judged = decisions.map(({ evaluation }) => evaluation).filter(({ evaluator }) => evaluator !== undefined)
  const [alignment, quality, policy] = (["alignment", "quality", "policy"] as const).map((part) =>
    worstVerdict(judged.map((evaluation) => evaluation[part].status)),
  ) as [Verdict, Verdict, Verdict]
  return {
    alignment,
    quality,
    policy,
    score: null,
    verdict: headlineOf({ alignment: { status: alignment }, quality: { status: quality }, policy: { status: policy } }),
  }
}

const countOf = (violations: readonly ReportViolation[], severity: Violation["severity"]): number =>
  violations.filter((one) => one.severity === severity).reduce((sum, one) => sum + one.count, 0)

type Figures = Omit<
  ReportSummary,
  keyof Verdicts | "violations" | "observability_failures" | "bypasses" | "lost_events"
>

function figuresOf({ index, run, calls }: RunReading, decisions: readonly DecisionEvent[]): Figures {
  const actions: { [type in ActionType]?: number } = {}
  for (const { type } of run.actions) actions[type] = (actions[type] ?? 0) + 1
  const changes = netChanges(run)
  const areChangesKnown = run.workTree !== undefined || !run.actions.some(isUnreadEdit)
  const commands = decisions.flatMap(({ agent_action: { artifacts, status, action_type } }) => {
    const known = artifacts.flatMap(({ type, metadata }) =>
      type === "command" ? [{ status, exitCode: metadata.exit_code }] : [],
    )
    // Where its call is lost, a command is still one.
    return known.length === 0 && action_type === "command" ? [{ status, exitCode: null }] : known
  })
  // Tests whose text is not kept ran all the same.
  const tests = run.actions.flatMap(({ testRuns, type }) =>
    testRuns.length === 0 && type === "run_tests" ? ["unknown" as const] : testRuns.map(({ outcome }) => outcome),
  )
  return {
    decisions: decisions.length,
    actions,
    model_calls: index.totals.modelCalls,
    failed_model_calls: calls.filter(({ step }) => isFailure(step.status)).length,
    input_tokens: index.totals.tokens.input,
    output_tokens: index.totals.tokens.output,
    files_changed: areChangesKnown ? changes.length : null,
    lines_added: areChangesKnown ? knownSum(changes.map(({ linesAdded }) => linesAdded)) : null,
    lines_removed: areChangesKnown ? knownSum(changes.map(({ linesRemoved }) => linesRemoved)) : null,
    commands: commands.length,
    failed_commands: commands.filter(({ status, exitCode }) => (exitCode === null ? isFailure(status) : exitCode !== 0))
      .length,
    test_runs: tests.length,
    last_test_outcome: tests.at(-1) ?? null,
  }
}

/** What an edit changed whose text is not kept, and that no classifier read, cannot be told any more. */
const isUnreadEdit = ({ type, status, edits, unread }: RunReading["run"]["actions"][number]): boolean =>
  type === "edit" && !isFailure(status) && edits.length === 0 && unread.includes("args")

/** Null when one of them is. */
const knownSum = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0 as number | null)

type Place = ReportViolation["steps"][number]

/** The same breach in many steps is one entry with its places; failures before warnings, frequent before rare. */
class Violations {
  readonly #found = new Map<string, { first: Violation; count: number; steps: Place[] }>()

  add(violation: Violation, step: Place | undefined): void {
    const key = `${violation.severity}\0${violation.id}\0${violation.message}`
    const entry = this.#found.get(key) ?? { first: violation, count: 0, steps: [] }
    entry.count++
    if (step) entry.steps.push(step)
    this.#found.set(key, entry)
  }

  ranked(): ReportViolation[] {
    return [...this.#found.values()]
      .map(({ first, count, steps }) => ({ ...first, count, steps }))
      .sort((a, b) => (a.severity === b.severity ? b.count - a.count : a.severity === "fail" ? -1 : 1))
  }
}

function violationsNow({ index }: RunReading, evaluation: RunEvaluation): ReportViolation[] {
  const found = new Violations()
  const told = new Set<Violation>()
  for (const { stepId, results } of evaluation.actions) {
    const step = { step_id: stepId, step_no: index.stepOf(stepId)?.no ?? 0 }
    for (const violation of results.flatMap((result) => result.violations)) {
      told.add(violation)
      found.add(violation, step)
    }
  }
  // What is left was found only by looking at the run as a whole.
  for (const violation of evaluation.results.flatMap((result) => result.violations)) {
    if (!told.has(violation)) found.add(violation, placeOfPointer(violation, index))
  }
  return found.ranked()
}

function placeOfPointer({ pointers }: Violation, { stepOf }: RunReading["index"]): Place | undefined {
  const step = stepOf(pointers?.[0]?.step_id ?? "")
  return step && { step_id: step.id, step_no: step.no }
}

function violationsOnRecord(
  { run, index }: RunReading,
  decisions: readonly DecisionEvent[],
  whole: DecisionEvaluation | undefined,
): ReportViolation[] {
  const found = new Violations()
  const told = new Set<string>()
  decisions.forEach(({ evaluation }, at) => {
    const { stepId, stepNo } = run.actions[at]!
    for (const violation of evaluation.alignment.violations) {
      told.add(`${violation.id}\0${violation.message}`)
      found.add(violation, { step_id: stepId, step_no: stepNo })
    }
  })
  for (const violation of whole?.alignment.violations ?? []) {
    if (!told.has(`${violation.id}\0${violation.message}`)) found.add(violation, placeOfPointer(violation, index))
  }
  return found.ranked()
}

function timelineOf(
  { index, run }: RunReading,
  decisions: readonly DecisionEvent[],
  evaluation: RunEvaluation | undefined,
  violations: readonly ReportViolation[],
): TimelineEntry[] {
  const severitiesAt = new Map<string, Verdict[]>()
  for (const { severity, steps } of violations) {
    for (const { step_id } of steps) {
      const severities = severitiesAt.get(step_id) ?? []
      severities.push(severity)
      severitiesAt.set(step_id, severities)
    }
  }
  const resultsOf = new Map(evaluation?.actions.map(({ eventId, results }) => [eventId, results]))
  const start = Date.parse(index.steps[0]?.opened?.timestamp_utc ?? "")
  return decisions.map((decision, at) => {
    const action = run.actions[at]!
    const results = resultsOf.get(action.eventId)
    const judged = results ? worstVerdict(results.map(({ status }) => status)) : headlineOf(decision.evaluation)
    // Also what only the run as a whole showed, where it points at this step.
    const broken = severitiesAt.get(action.stepId) ?? []
    const offset = Date.parse(decision.timestamp) - start
    const said = decision.evaluation.overrides?.at(-1)?.verdict
    return {
      event_id: decision.event_id,
      timestamp: decision.timestamp,
      offset_ms: Number.isFinite(offset) ? offset : null,
      step_id: action.stepId,
      step_no: action.stepNo,
      action_type: action.type,
      summary: decision.agent_action.action_summary,
      status: action.status,
      verdict: said ?? worstVerdict([judged, ...broken]),
      violations: broken.length,
      is_inferred: action.inferredBy !== null,
    }
  })
}

function factsOf({ index, run }: RunReading, decisions: readonly DecisionEvent[]): RunReport["run"] {
  const started = payloadOf(index.steps[0]?.opened)
  const [first] = decisions
  return {
    run_id: run.runId,
    trace_id: run.traceId,
    app_id: index.facts.app ?? "unknown",
    agent_id: first?.session.agent_id ?? agentIn(started),
    agent_version: first?.session.agent_version ?? textIn(started, "agent_version") ?? "unknown",
    environment: index.facts.environment ?? "unknown",
    entrypoint: index.facts.entrypoint ?? "unknown",
    request: run.request.text ?? run.request.ref ?? "",
    status: run.status,
    ended_by: endWords(index) ?? null,
    error_class: index.facts.errorClass,
    error_summary: index.facts.errorSummary,
    started_at: (index.steps[0]?.opened ?? index.own[0])?.timestamp_utc ?? null,
    duration_ms: index.durationUs === undefined ? null : index.durationUs / 1000,
    capture_mode: run.capture,
    constraints: first?.request.constraints ?? [],
  }
}
