import type { Json } from "./plain-json.js"
import type { TokenBudget } from "./token-budget.js"
import type { ProvenanceRecord } from "./workspace-files.js"

/**
 * The one structured context object a prompt is rendered from, deeply frozen. It holds what the model sees and nothing else: what did not
 * fit is already gone, what was cut already carries its mark, so rendering needs neither a budget nor a token counter.
 */
export interface StepAwarenessBundle {
  readonly bundle_version: string
  readonly step_id: StageId
  readonly step_name: string
  readonly run_id: string
  /** Whether the stage judges all others, as chapter 13 does in the preset. */
  readonly is_chapter_13: boolean
  readonly context: BundleContext
  readonly budgets: TokenBudget
  readonly provenance: readonly ProvenanceRecord[]
  /** UTC; never part of the prompt. */
  readonly generated_at: string
}

/** 1–6 and 13 in the preset; anything in a catalog of your own. */
export type StageId = number | string

export interface BundleContext {
  // Tier 0: always included.
  readonly mission: string
  readonly schema_excerpt: string
  /** Null in catalogs of stages that constrain nothing. */
  readonly grammar_name: string | null
  readonly contracts: readonly string[]
  readonly guardrails: readonly string[]
  /** What the caller wants of this call where that is more than the mission; absent where it is not. */
  readonly objective?: string
  /** What must hold in this call beside the guardrails; absent where there is nothing. */
  readonly invariants?: readonly string[]

  // Tier 1: included as far as the cap allows.
  readonly inputs_summary: { readonly [metric: string]: Json }
  readonly evaluation_summary: { readonly [name: string]: Json }
  /** What a caller put in beside the step's results; absent where there is none. */
  readonly inputs?: readonly InputText[]

  // Tier 2: fills what is left, history first, then telemetry.
  readonly recent_outcomes: readonly OutcomeRecord[]
  /** Retrieved chunks; absent where there are none. */
  readonly evidence?: readonly EvidenceText[]
  readonly trend_summary: readonly TrendSummary[]
  readonly open_incidents: readonly string[]
}

export interface OutcomeRecord {
  readonly step: StageId
  readonly run_id: string
  readonly result: string
  /** Null is unknown, which is not zero. */
  readonly metric_delta: number | null
  readonly key_metric: string
  readonly timestamp: string
}

export interface TrendSummary {
  readonly metric_name: string
  readonly direction: "rising" | "falling" | "flat"
  /** Oldest first. */
  readonly recent_values: readonly number[]
  readonly window_size: number
}

export interface InputText {
  readonly title: string
  readonly text: string
}

export interface EvidenceText {
  readonly chunk_id: string
  readonly title: string
  readonly text: string
}
