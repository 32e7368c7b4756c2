import type { FoldedStep } from "./folded-step.js"
import { noTokens, type TokenCounts } from "./token-counts.js"

/** What the events say about the run as a whole. */
export interface RunFacts {
  traceId: string | null
  conversationId: string | null
  sourceRunId: string | null
  app: string | null
  entrypoint: string | null
  environment: string | null
  agentVersion: string | null
  captureMode: string | null
  input: string | null
  end: "completed" | "failed" | null
  errorClass: string | null
  errorSummary: string | null
  isCrashed: boolean
  startedAtMs: number
  endedAtMs: number | null
  lastAtMs: number
  firstMono: number
  lastMono: number
  /** The highest sequence number so far; -1 before the first event. */
  lastSequence: number
  /** Own events of the run; what others said about it is in `annotations`. */
  events: number
  annotations: number
  steps: number
  closedSteps: number
  /** Attempts of a call are part of the call, in this and in everything below. */
  modelCalls: number
  toolCalls: number
  /** Steps that ended in an error or a timeout, the run itself aside. */
  errors: number
  tokens: TokenCounts
}

export function noFacts(): RunFacts {
  return {
    traceId: null,
    conversationId: null,
    sourceRunId: null,
    app: null,
    entrypoint: null,
    environment: null,
    agentVersion: null,
    captureMode: null,
    input: null,
    end: null,
    errorClass: null,
    errorSummary: null,
    isCrashed: false,
    startedAtMs: 0,
    endedAtMs: null,
    lastAtMs: 0,
    firstMono: Number.MAX_SAFE_INTEGER,
    lastMono: 0,
    lastSequence: -1,
    events: 0,
    annotations: 0,
    steps: 0,
    closedSteps: 0,
    modelCalls: 0,
    toolCalls: 0,
    errors: 0,
    tokens: noTokens(),
  }
}

/**
 * How a run ended. `completed` and `failed` were recorded by the run itself and win over everything. `crashed`: its writer was found dead.
 * `running`: no end, and its writer is alive. `silent`: no end, and nothing says why.
 */
export type RunStatus = "completed" | "failed" | "crashed" | "running" | "silent"

export function statusOfRun({ end, isCrashed }: RunFacts, isWriterAlive: boolean): RunStatus {
  return end ?? (isCrashed ? "crashed" : isWriterAlive ? "running" : "silent")
}

/** Whether the run itself said how it ended. */
export const hasEnded = (status: RunStatus): boolean => status === "completed" || status === "failed"

/** From the opening of a run to its end, or to the last thing recorded when one of them is not on record. Null where no clock was. */
export function durationOfRun({ firstMono, lastMono }: RunFacts, root: FoldedStep<unknown>): number | null {
  return root.durationMicros ?? (lastMono >= firstMono ? lastMono - firstMono : null)
}
