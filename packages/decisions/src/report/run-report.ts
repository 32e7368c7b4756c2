import type { ActionType, CaptureMode, Constraint, Verdict } from "@orangebox/contract"
import type { z } from "zod"
import type { Action } from "../action.js"
import type {
  DecisionArtifact,
  DecisionEvaluation,
  DecisionEvent,
  HumanOverride,
  Violation,
} from "../decision-event.js"
import { decisionsOfReading } from "../decisions-of.js"
import { verdictsOnRecord } from "../evaluation-on-record.js"
import { type Observability, observabilityOfReading } from "../observability.js"
import { numberIn, payloadOf, textIn } from "../payload.js"
import { type ReadOptions, type RunReading, readRun } from "../read-run.js"
import type { RecordedRun } from "../recorded-run.js"
import { statusOf } from "../tool-action.js"

export interface ReportOptions extends ReadOptions {
  readonly constraints?: readonly Constraint[] | undefined
  /** What checks say about each action, and about the run as a whole. */
  readonly evaluationOf?: ((action: Action) => DecisionEvaluation | undefined) | undefined
  readonly runEvaluation?: DecisionEvaluation | undefined
}

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
    readonly status: "completed" | "failed" | "open"
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
  readonly overrides: readonly z.infer<typeof HumanOverride>[]
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
  readonly files_changed: number
  readonly lines_added: number
  readonly lines_removed: number
  readonly commands: number
  readonly failed_commands: number
  readonly test_runs: number
  readonly last_test_outcome: "passed" | "failed" | "unknown" | null
  readonly violations: { readonly fail: number; readonly warn: number }
  readonly observability_failures: number
  readonly bypasses: number
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

export function runReport(run: RecordedRun, options: ReportOptions = {}): RunReport {
  const reading = readRun(run, options)
  const decisions = decisionsOfReading(reading, options)
  const observability = observabilityOfReading(reading)
  const onRecord = verdictsOnRecord(reading)
  const whole = options.runEvaluation ?? onRecord.ofRun
  const overrides = [...onRecord.overridesOfRun, ...[...onRecord.overridesOf.values()].flat()]
  const violations = violationsOf(reading.run.actions, decisions, whole)
  const artifacts = decisions.flatMap(({ agent_action }) =>
    agent_action.artifacts.map((artifact) => ({ ...artifact, step_no: agent_action.step_no })),
  )
  return {
    report_version: 1,
    run: factsOf(reading, decisions, options.constraints ?? []),
    summary: summaryOf(reading, decisions, {
      whole,
      violations,
      observability,
      artifacts,
      word: onRecord.overridesOfRun.at(-1)?.verdict,
    }),
    violations,
    timeline: timelineOf(reading, decisions),
    artifacts,
    observability,
    overrides,
  }
}

const WORST: readonly Verdict[] = ["fail", "warn", "unknown", "pass"]
const worst = (verdicts: readonly Verdict[]): Verdict =>
  WORST.find((verdict) => verdicts.includes(verdict)) ?? "unknown"

/** Statuses that say something come first: one judged action among many that no rule concerns is not unknown. */
function joined(verdicts: readonly Verdict[]): Verdict {
  const judged = verdicts.filter((verdict) => verdict !== "unknown")
  return judged.length > 0 ? worst(judged) : "unknown"
}

function summaryOf(
  { run, calls }: RunReading,
  decisions: readonly DecisionEvent[],
  found: {
    readonly whole: DecisionEvaluation | undefined
    readonly violations: readonly ReportViolation[]
    readonly observability: Observability
    readonly artifacts: readonly ReportArtifact[]
    readonly word: Verdict | undefined
  },
): ReportSummary {
  const { whole, violations, observability } = found
  const part = (name: "alignment" | "quality" | "policy"): Verdict =>
    whole?.[name].status ?? joined(decisions.map(({ evaluation }) => evaluation[name].status))
  const [alignment, quality, policy] = [part("alignment"), part("quality"), part("policy")]
  const actions: { [type in ActionType]?: number } = {}
  for (const { type } of run.actions) actions[type] = (actions[type] ?? 0) + 1
  const edits = found.artifacts.filter(({ type }) => type === "file_edit" || type === "diff")
  const commands = found.artifacts.filter(({ type }) => type === "command")
  const tests = run.actions.flatMap(({ testRuns }) => testRuns)
  const total = (of: (usage: { prompt: number | null; completion: number | null }) => number | null): number | null => {
    const counts = run.modelCalls.flatMap(({ usage }) => (usage ? (of(usage) ?? []) : []))
    return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0)
  }
  const count = (severity: Violation["severity"]): number =>
    violations.filter((one) => one.severity === severity).reduce((sum, one) => sum + one.count, 0)
  return {
    verdict: found.word ?? joined([alignment, quality, policy]),
    alignment,
    quality,
    policy,
    score: whole?.alignment.score ?? null,
    decisions: decisions.length,
    actions,
    model_calls: calls.length,
    failed_model_calls: calls.filter(({ step }) => ["error", "timeout"].includes(statusOf(step))).length,
    input_tokens: total((usage) => usage.prompt),
    output_tokens: total((usage) => usage.completion),
    files_changed: new Set(edits.flatMap(({ metadata }) => metadata.path ?? [])).size,
    lines_added: edits.reduce((sum, { metadata }) => sum + (metadata.lines_added ?? 0), 0),
    lines_removed: edits.reduce((sum, { metadata }) => sum + (metadata.lines_removed ?? 0), 0),
    commands: commands.length,
    failed_commands: commands.filter(({ metadata }) => (metadata.exit_code ?? 0) !== 0).length,
    test_runs: tests.length,
    last_test_outcome: tests.at(-1)?.outcome ?? null,
    violations: { fail: count("fail"), warn: count("warn") },
    observability_failures: observability.failures.length,
    bypasses: observability.bypasses.filter(({ certainty }) => certainty === "certain").length,
  }
}

/** The same breach in many steps is one entry with its places; failures before warnings, frequent before rare. */
function violationsOf(
  actions: readonly Action[],
  decisions: readonly DecisionEvent[],
  whole: DecisionEvaluation | undefined,
): ReportViolation[] {
  const found = new Map<string, { first: Violation; count: number; steps: ReportViolation["steps"][number][] }>()
  const add = (violation: Violation, step: ReportViolation["steps"][number] | undefined): void => {
    const key = `${violation.severity}\0${violation.id}\0${violation.message}`
    const entry = found.get(key) ?? { first: violation, count: 0, steps: [] }
    entry.count++
    if (step) entry.steps.push(step)
    found.set(key, entry)
  }
  decisions.forEach((decision, at) => {
    const { stepId, stepNo } = actions[at]!
    for (const violation of decision.evaluation.alignment.violations) {
      add(violation, { step_id: stepId, step_no: stepNo })
    }
  })
  const told = new Set([...found.values()].map(({ first }) => `${first.id}\0${first.message}`))
  for (const violation of whole?.alignment.violations ?? []) {
    if (!told.has(`${violation.id}\0${violation.message}`)) add(violation, undefined)
  }
  return [...found.values()]
    .map(({ first, count, steps }) => ({ ...first, count, steps }))
    .sort((a, b) => (a.severity === b.severity ? b.count - a.count : a.severity === "fail" ? -1 : 1))
}

function timelineOf({ index, run }: RunReading, decisions: readonly DecisionEvent[]): TimelineEntry[] {
  const start = Date.parse(index.root?.opened?.timestamp_utc ?? "")
  return decisions.map((decision, at) => {
    const action = run.actions[at]!
    const { evaluation } = decision
    const offset = Date.parse(decision.timestamp) - start
    const said = evaluation.overrides?.at(-1)?.verdict
    return {
      event_id: decision.event_id,
      timestamp: decision.timestamp,
      offset_ms: Number.isFinite(offset) ? offset : null,
      step_id: action.stepId,
      step_no: action.stepNo,
      action_type: action.type,
      summary: action.summary,
      status: action.status,
      verdict: said ?? joined([evaluation.alignment.status, evaluation.quality.status, evaluation.policy.status]),
      violations: evaluation.alignment.violations.length,
      is_inferred: action.inferredBy !== null,
    }
  })
}

function factsOf(
  { index, run }: RunReading,
  decisions: readonly DecisionEvent[],
  constraints: readonly Constraint[],
): RunReport["run"] {
  const started = payloadOf(index.root?.opened)
  const ended = payloadOf(index.root?.closed)
  const [first] = decisions
  return {
    run_id: index.runId,
    trace_id: index.traceId,
    app_id: textIn(started, "app_id") ?? "unknown",
    agent_id: first?.session.agent_id ?? textIn(started, "agent_id") ?? "unknown",
    agent_version: first?.session.agent_version ?? textIn(started, "agent_version") ?? "unknown",
    environment: textIn(started, "environment") ?? "unknown",
    entrypoint: textIn(started, "entrypoint_name") ?? "unknown",
    request: run.request.text ?? run.request.ref ?? "",
    status: run.status,
    started_at: index.root?.opened?.timestamp_utc ?? null,
    duration_ms: numberIn(ended, "total_latency_ms") ?? null,
    capture_mode: run.capture,
    constraints: first?.request.constraints ?? constraints.map(({ id, type, rule }) => ({ id, type, rule })),
  }
}
