import type { BodyMask, DeterminismMode, EffectClass } from "@orangebox/contract"
import type { StepStatus } from "@orangebox/runs"

/**
 * What two steps are compared by. `retrieval`, `input`, `verdict` and `artifact` are events that a run records inside a step and that
 * decide where it goes; to a diff they are steps like any other.
 */
export const DIFF_KINDS = [
  "run",
  "model",
  "tool",
  "retrieval",
  "step",
  "unknown",
  "input",
  "verdict",
  "artifact",
] as const
export type DiffKind = (typeof DIFF_KINDS)[number]

/** A step with its features: hashes and facts of the events, no text. Retries are folded into the call they repeat. */
export interface DiffStep {
  /** Place in the order of opening, sub-agents inlined where they were asked for. */
  at: number
  /** The step's number; an event inside a step has its step's. */
  readonly n: number
  readonly id: string | undefined
  /** Set for an event that stands for a step. */
  readonly eventId: string | undefined
  readonly kind: DiffKind
  readonly name: string
  /** The run it is a step of, where that is one that the compared run started. */
  readonly inside: { readonly runId: string; readonly entrypoint: string } | undefined
  readonly lane: string | undefined
  parent: DiffStep | undefined
  readonly children: DiffStep[]
  /** The call's signature; undefined for what has none. */
  readonly sig: string | undefined
  readonly canonVersion: number | undefined
  readonly wire: string | undefined
  readonly inputRef: string | undefined
  /** Secrets that were taken out of the input; those that mask alike are told apart by their tags. */
  readonly inputMasks: readonly BodyMask[]
  /** What a request was sent with. */
  readonly headersRef: string | undefined
  /** A replay answered it as a recorded call that is equal under masks. */
  readonly isMatchedMasked: boolean
  readonly outputRef: string | undefined
  /** The same of the output, for what has no answer: runs, inputs, verdicts, artifacts. */
  readonly outputMasks: readonly BodyMask[]
  /** Of the body behind `outputRef`. */
  readonly outputBytes: number | undefined
  /** What the record says about input and output beside the bodies: error class, exit code, verdict. */
  readonly inputFacts: string
  readonly outputFacts: string
  /** Short words kept in the event, for when the body is not. */
  readonly inputSummary: string | undefined
  readonly outputSummary: string | undefined
  readonly finishReason: string | undefined
  readonly requestedTools: readonly string[]
  readonly status: StepStatus
  readonly effect: EffectClass | undefined
  attempts: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly durationUs: number | undefined
  readonly mode: DeterminismMode
  /** A call the harness makes for itself. */
  readonly isAuxiliary: boolean
  /** Sequence numbers: what closed before another opened can have fed it, and what overlaps is concurrent. */
  readonly openedAt: number
  readonly closedAt: number
  readonly sourceStepId: string | undefined
  readonly method: string | undefined
  readonly url: string | undefined
}

/** What a step has of which nothing is recorded. */
export const NOTHING_KNOWN = {
  at: 0,
  eventId: undefined,
  inside: undefined,
  sig: undefined,
  canonVersion: undefined,
  wire: undefined,
  inputRef: undefined,
  inputMasks: [],
  headersRef: undefined,
  isMatchedMasked: false,
  outputRef: undefined,
  outputMasks: [],
  outputBytes: undefined,
  inputFacts: "",
  outputFacts: "",
  inputSummary: undefined,
  outputSummary: undefined,
  finishReason: undefined,
  requestedTools: [],
  status: "success",
  effect: undefined,
  attempts: 1,
  inputTokens: null,
  outputTokens: null,
  durationUs: undefined,
  isAuxiliary: false,
  sourceStepId: undefined,
  method: undefined,
  url: undefined,
} as const satisfies Partial<DiffStep>

/** Calls and results: what an agent does, as opposed to what it says. */
export function isBehaviour(step: DiffStep): boolean {
  return step.kind === "tool" || step.kind === "retrieval"
}

export const isContainer = (step: DiffStep): boolean => step.children.length > 0
