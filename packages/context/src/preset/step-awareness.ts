import { OrangeboxError } from "@orangebox/contract"
import type { StepAwarenessBundle } from "../bundle.js"
import { type CompiledContext, type CompileInputs, compile } from "../compile.js"
import type { Stage, StageCatalog } from "../stage.js"
import type { TokenBudget, TokenBudgetOptions } from "../token-budget.js"
import type { FileReader, SourcePath } from "../workspace-files.js"
import { stepAwarenessCatalog } from "./catalog.js"

/** What a dispatch function says about the step it wants judged, and all it may say. */
export interface StepAwarenessOptions {
  /** 1–6 or 13, or an id of your own catalog. */
  readonly stepId: number | string
  /** Generated where it is empty. */
  readonly runId?: string
  readonly results?: Readonly<Record<string, unknown>>
  readonly runNumber?: number
  readonly manifestPath?: SourcePath
  readonly statePaths?: readonly SourcePath[]
  readonly budgets?: TokenBudgetOptions | TokenBudget
  /** Judge the step with the mission, grammar and guardrails of chapter 13. */
  readonly isChapter13?: boolean
}

/**
 * What the controller sets up once. Files, clock and ids come from here; so does everything about retrieval, which dispatch code never
 * hears of.
 */
export interface ContextSetup
  extends Pick<CompileInputs, "retrievers" | "reranker" | "minScore" | "policies" | "counter"> {
  readonly reader: FileReader
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly newRunId: () => string
  /** Default: the step-awareness preset. */
  readonly catalog?: StageCatalog
  /** The recorded step the context is for. Default: the stage's id. */
  readonly recordedStepId?: string
}

/** The frozen bundle of a step. Writes nothing, starts nothing, reads only through the reader. */
export function buildStepAwarenessBundle(options: StepAwarenessOptions, setup: ContextSetup): StepAwarenessBundle {
  return buildLlmContext(options, setup).bundle
}

/**
 * Prompt, grammar and bundle in one call: what dispatch code uses. The manifest, its bodies, faults and problems come along for the
 * recorder.
 *
 * ```ts
 * const { prompt, grammarName, bundle } = buildLlmContext({ stepId: 3, runId, results }, setup)
 * ```
 */
export function buildLlmContext(options: StepAwarenessOptions, setup: ContextSetup): CompiledContext {
  const { stepId, runId, isChapter13, ...said } = options
  const { catalog = stepAwarenessCatalog, now, newRunId, recordedStepId, ...edges } = setup
  const own = catalog.stage(stepId)
  return compile(isChapter13 === true ? chapter13Of(catalog) : own, {
    ...said,
    ...edges,
    runId: runId === undefined || runId === "" ? newRunId() : runId,
    generatedAt: new Date(now()).toISOString(),
    bundleStepId: own.id,
    ...(recordedStepId !== undefined && { stepId: recordedStepId }),
  })
}

function chapter13Of(catalog: StageCatalog): Stage {
  const stage = catalog.stages.find((candidate) => candidate.judgesAllStages)
  if (stage) return stage
  throw new OrangeboxError("CONTEXT_STAGE", {
    what: `the catalog ${catalog.name} has no stage for chapter 13`,
    where: "isChapter13",
    next: "Mark one of its stages with judgesAllStages",
  })
}
