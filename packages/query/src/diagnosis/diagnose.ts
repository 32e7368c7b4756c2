import type { StepView } from "../run-view.js"
import { bodiesOf } from "../step-facts.js"
import { attemptsOf, type CaseFile, type InvestigatedSource, isBadOutcome, stillGoing } from "./case-file.js"
import { badToolArgs } from "./detectors/bad-tool-args.js"
import { cacheBust } from "./detectors/cache-bust.js"
import { callFailed } from "./detectors/call-failed.js"
import { contextOverflow, orphanToolCall, outputCut, retryStorm, streamBroken, unknownTool } from "./detectors/calls.js"
import { corruptedHistory } from "./detectors/corrupted-history.js"
import { crash } from "./detectors/crash.js"
import { excludedEvidence } from "./detectors/excluded-evidence.js"
import { latencyOutlier } from "./detectors/latency-outlier.js"
import { loop } from "./detectors/loop.js"
import { lostInstruction } from "./detectors/lost-instruction.js"
import { doubleDelivery, misroute } from "./detectors/messages.js"
import { constraintViolation, falseSuccess, ignoredToolError, schemaRepairFailure } from "./detectors/outcome.js"
import { siblingDivergence } from "./detectors/sibling-divergence.js"
import { sourceRules } from "./detectors/source-rules.js"
import { bypass, contextIncomplete, contextInjected, contextRefused, observabilityGap } from "./detectors/trail.js"
import { at, type Detected, type Finding, findingId, isNotRun, type Pointer } from "./finding.js"
import { type JudgedDiagnosis, type JudgeWord, judgedFindings } from "./judged-findings.js"
import { ranked } from "./rank.js"
import { type Suspect, suspectsIn } from "./suspects.js"

/** What is looked for, each by itself and from recorded facts alone. */
export const DETECTORS: Readonly<Record<string, (file: CaseFile) => Detected>> = {
  crash,
  corrupted_history: corruptedHistory,
  double_delivery: doubleDelivery,
  misroute,
  cache_bust: cacheBust,
  orphan_tool_call: orphanToolCall,
  bypass,
  loop,
  false_success: falseSuccess,
  ignored_tool_error: ignoredToolError,
  context_overflow: contextOverflow,
  output_cut: outputCut,
  lost_instruction: lostInstruction,
  excluded_evidence: excludedEvidence,
  retry_storm: retryStorm,
  schema_repair_failure: schemaRepairFailure,
  bad_tool_args: badToolArgs,
  unknown_tool: unknownTool,
  constraint_violation: constraintViolation,
  context_injected: contextInjected,
  context_incomplete: contextIncomplete,
  context_refused: contextRefused,
  stream_broken: streamBroken,
  call_failed: callFailed,
  sibling_divergence: siblingDivergence,
  latency_outlier: latencyOutlier,
  observability_gap: observabilityGap,
}

/** Looked for only where a source is investigated. */
const OF_SOURCE = { source_rule: sourceRules }

export interface RankedFinding extends Finding {
  readonly findingId: string
  /** From 1; the first to read. */
  readonly rank: number
  /** The rank of the finding that this one follows from. */
  readonly symptomOf: number | null
}

export interface Diagnosis {
  readonly findings: readonly RankedFinding[]
  readonly detectors: number
  /** What could not be looked for, and why. */
  readonly notRun: readonly { readonly detector: string; readonly why: string }[]
  /** The run came out badly and nothing above explains it. */
  readonly isUnexplained: boolean
  /** Only then: at most three steps to read first. A reading order, no findings. */
  readonly suspects: readonly Suspect[]
  /** What became of a judge's word, where one was asked. */
  readonly judged?: JudgedDiagnosis
  /** The source that was investigated, with its notes. */
  readonly source: InvestigatedSource | undefined
  /** Sources of causes that know more about their steps than was asked. */
  readonly sourcesToAsk: readonly string[]
}

/** What recorded facts of a run break, the most telling first. Nothing is claimed without a step to open. */
export function diagnose(file: CaseFile, judge?: JudgeWord): Diagnosis {
  const judged = judge && judgedFindings(file, judge)
  const findings: Finding[] = [...(judged?.findings ?? [])]
  const notRun: { detector: string; why: string }[] = []
  const detectors = { ...DETECTORS, ...(file.source === undefined ? {} : OF_SOURCE) }
  for (const [detector, detect] of Object.entries(detectors)) {
    const detected = detect(file)
    if (isNotRun(detected)) notRun.push({ detector, why: detected.notRun })
    else findings.push(...detected.map((finding) => resolvable(weighed(finding, file), file)))
  }
  const { view } = file
  const rankedFindings = ranked(findings.filter(isToldOnce(findings)), view, file.told.at).map((finding) => ({
    ...finding,
    findingId: findingId(finding, view.steps[finding.cause - 1]?.events[0]?.event_id ?? ""),
  }))
  const isExplained = rankedFindings.some(isGrave)
  const isUnexplained = isBadOutcome(file) && stillGoing(view) === undefined && !isExplained
  return {
    findings: rankedFindings,
    detectors: Object.keys(detectors).length,
    notRun,
    isUnexplained,
    suspects: suspectsIn(file, rankedFindings),
    ...(judged === undefined ? {} : { judged: judged.account }),
    source: file.source,
    sourcesToAsk: sourcesOfCauses(file, rankedFindings),
  }
}

/** That a call failed is no news where another finding says why. */
const isToldOnce =
  (findings: readonly Finding[]) =>
  ({ detector, cause }: Finding): boolean =>
    detector !== "call_failed" ||
    !findings.some((other) => other.detector !== "call_failed" && other.fails === cause && isGrave(other))

const isGrave = ({ severity }: Finding): boolean => severity === "fatal" || severity === "harm"

/** The sources of the causes that have rules or notes of their own, the first finding's first. */
function sourcesOfCauses({ view, source, sourcesToAsk }: CaseFile, findings: readonly Finding[]): readonly string[] {
  const names = findings.flatMap(({ cause }) => {
    const step = view.steps[cause - 1]
    return (step?.opened ?? step?.events[0])?.source ?? []
  })
  return [...new Set(names)].filter((name) => name !== source?.name && sourcesToAsk.has(name))
}

/** A pointer that names a body opens it: the one of the step, else that of the try that was sent; else the step alone is shown. */
function resolvable(finding: Finding, { view }: CaseFile): Finding {
  const evidence = finding.evidence.map((pointer): Pointer => {
    const step = view.steps[pointer.n - 1]
    if (pointer.runId !== null || pointer.role === null || step === undefined) return pointer
    const holder = [step, ...attemptsOf(view, step).toReversed()].find((one) => holdsBody(one, pointer.role!))
    return holder === undefined ? at(step) : { ...pointer, n: holder.n }
  })
  const seen = new Set<string>()
  return { ...finding, evidence: evidence.filter((pointer) => !seen.has(keyOf(pointer)) && seen.add(keyOf(pointer))) }
}

const keyOf = ({ runId, n, role, from, to }: Pointer): string => [runId, n, role, from, to].join(":")

const holdsBody = (step: StepView, role: string): boolean =>
  bodiesOf(step.events).some((body) => body.role === role) || step.partials.some((partial) => partial.role === role)

/** What rests on a step that was itself deduced is at most likely, and what a replay made up is evidence of nothing. */
function weighed(finding: Finding, { view }: CaseFile): Finding {
  const step = view.steps[finding.cause - 1]
  return step?.inferredBy !== undefined &&
    step.inferredBy !== "recorder" &&
    finding.confidence === "proven" &&
    step.kind === "tool"
    ? { ...finding, confidence: "likely" }
    : finding
}
