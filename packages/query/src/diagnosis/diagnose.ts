import { type CaseFile, isBadEnd, stillGoing } from "./case-file.js"
import { cacheBust } from "./detectors/cache-bust.js"
import {
  contextOverflow,
  loop,
  orphanToolCall,
  outputCut,
  retryStorm,
  streamBroken,
  unknownTool,
} from "./detectors/calls.js"
import { corruptedHistory } from "./detectors/corrupted-history.js"
import { crash } from "./detectors/crash.js"
import { doubleDelivery, misroute } from "./detectors/messages.js"
import { constraintViolation, falseSuccess, ignoredToolError, schemaRepairFailure } from "./detectors/outcome.js"
import { bypass, contextInjected, observabilityGap } from "./detectors/trail.js"
import { type Detected, type Finding, findingId, isNotRun } from "./finding.js"
import { ranked } from "./rank.js"

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
  retry_storm: retryStorm,
  schema_repair_failure: schemaRepairFailure,
  unknown_tool: unknownTool,
  constraint_violation: constraintViolation,
  context_injected: contextInjected,
  stream_broken: streamBroken,
  observability_gap: observabilityGap,
}

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
  /** The run ended badly and nothing above explains it. */
  readonly isUnexplained: boolean
}

/** What recorded facts of a run break, the most telling first. Nothing is claimed without a step to open. */
export function diagnose(file: CaseFile): Diagnosis {
  const findings: Finding[] = []
  const notRun: { detector: string; why: string }[] = []
  for (const [detector, detect] of Object.entries(DETECTORS)) {
    const detected = detect(file)
    if (isNotRun(detected)) notRun.push({ detector, why: detected.notRun })
    else findings.push(...detected.map((finding) => weighed(finding, file)))
  }
  const { view } = file
  const rankedFindings = ranked(findings, view).map((finding) => ({
    ...finding,
    findingId: findingId(finding, view.steps[finding.cause - 1]?.events[0]?.event_id ?? ""),
  }))
  const isExplained = rankedFindings.some(({ severity }) => severity === "fatal" || severity === "harm")
  return {
    findings: rankedFindings,
    detectors: Object.keys(DETECTORS).length,
    notRun,
    isUnexplained: isBadEnd(view) && stillGoing(view) === undefined && !isExplained,
  }
}

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
