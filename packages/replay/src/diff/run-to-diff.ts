import type { AbsentReason, EffectClass, Event } from "@orangebox/contract"
import type { MaskType } from "@orangebox/dialects"

/** One side of a diff, as values: nothing here reads a store. */
export interface RunToDiff {
  /**
   * The run's own events in sequence order, and those of the runs that were started from inside it; annotations (`sequence_no: null`) may
   * stand anywhere.
   */
  readonly events: readonly Event[]
  /** The run that started the others. Default: the one that none of them started. */
  readonly runId?: string
  /** Whether the process that writes it is known to be there still. Not knowing makes an unfinished run `silent`. */
  readonly isWriterAlive?: boolean
  /** The bytes behind a ref, or why they are not there. */
  body(ref: string): BodyReading
}

export type BodyReading = Uint8Array | BodyAbsence
export interface BodyAbsence {
  readonly absent: AbsentReason | "unknown"
}

/** Of a body that is being fetched: what is found out without it is not worth remembering. */
export const TO_COME: BodyAbsence = { absent: "unknown" }

export interface DiffOptions {
  /** Typed masks that a person accepted: what differs only under them is noise. None by default. */
  readonly masks?: readonly MaskType[]
  /** What a tool does to the world, where the user said so; wins over what was recorded. */
  readonly effectOf?: (tool: string) => EffectClass | undefined
  /** How many differing steps get their payloads compared; the first, the root and the decisive one always do. Default 24. */
  readonly payloads?: number
  /**
   * Where a step of an earlier replay came from, for runs related over more than one generation. Without it two runs are related when one
   * is the other's source or both have the same.
   */
  readonly lineage?: Lineage
}

export interface Lineage {
  /** The run a run was replayed from. */
  sourceOfRun(runId: string): string | undefined
  /** The step of that run that a step stands for. */
  sourceOfStep(runId: string, stepId: string): string | undefined
}

export const DEFAULT_PAYLOADS = 24
