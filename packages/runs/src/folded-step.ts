import type { StepKind } from "@orangebox/contract"
import { noTokens, type TokenCounts } from "./token-counts.js"

/** `unknown` is a step that was named, or in which something happened, and whose opening and end are both not on record. */
export type FoldedKind = StepKind | "unknown"

/** How a step ended. `open`: no end on record. `crashed`: no end, because its process died. */
export type StepStatus = "open" | "success" | "error" | "timeout" | "partial" | "crashed"

export interface FoldedStep<Mark> {
  readonly no: number
  /** Empty for the root of a run none of whose events names it. */
  id: string
  parent: FoldedStep<Mark> | null
  kind: FoldedKind
  /** The entry point, the model as its answer names it, the tool, or the step's own name. */
  name: string | null
  provider: string | null
  /** Never `crashed`: whether an open step is, depends on its run. */
  status: StepStatus
  opened: Mark | null
  closed: Mark | null
  /** The parent that the opening names, whether it was heard of or not. */
  openedUnder: string | null
  /** When it was opened; before that is known, when it was first heard of or closed. */
  openedAtMs: number
  openedMono: number | null
  closedMono: number | null
  /** What the monotonic clock says went by between its two records; the latency its end records where one is missing. */
  durationMicros: number | null
  /** Which attempt its events say it is. */
  saidAttempt: number | null
  /** A try of the model call that is its parent; counted there. */
  isAttempt: boolean
  /** How many tries of this call are steps of their own. */
  attempts: number
  errorClass: string | null
  /** What sort of work a plain step says it is: retrieval, queue.deliver, … */
  workKind: string | null
  /** Who recorded it, and what deduced it; of its opening, else of its end. */
  source: string | null
  inferredBy: string | null
  /** Part of a replay or a fork, and no call that went out: of its end, else of its opening. */
  isReplayed: boolean
  firstByteMicros: number | null
  /** What the price of a call depends on beside its tokens. */
  serviceTier: string | null
  cacheWrite1h: number | null
  tokens: TokenCounts
}

export function newStep<Mark>(no: number, id: string, parent: FoldedStep<Mark> | null): FoldedStep<Mark> {
  return {
    no,
    id,
    parent,
    kind: "unknown",
    name: null,
    provider: null,
    status: "open",
    opened: null,
    closed: null,
    openedUnder: null,
    openedAtMs: 0,
    openedMono: null,
    closedMono: null,
    durationMicros: null,
    saidAttempt: null,
    isAttempt: false,
    attempts: 0,
    errorClass: null,
    workKind: null,
    source: null,
    inferredBy: null,
    isReplayed: false,
    firstByteMicros: null,
    serviceTier: null,
    cacheWrite1h: null,
    tokens: noTokens(),
  }
}

export const isComplete = (step: FoldedStep<unknown>): boolean => step.opened !== null && step.closed !== null

/** Whether the end of a step is not on record. */
export const isOpen = (status: StepStatus): boolean => status === "open" || status === "crashed"

/** Whether a step came to nothing: it said so, or its process died in it. */
export const isFailure = (status: StepStatus): boolean =>
  status === "error" || status === "timeout" || status === "crashed"
