import type { BodyMask, DeterminismMode, EffectClass } from "@orangebox/contract"
import type { Divergence } from "../generated.js"
import type { CallKind, HeaderPairs, RecordedAnswer, RecordedRetrieval, TapeCall } from "../tape/tape.js"

/** A call of the run that is being replayed, with the signature the recorder stamped on it. */
export interface Ask {
  readonly kind: CallKind
  readonly name: string
  /** The chain of calls it belongs to in the new run; left out where it is unknown. */
  readonly lane?: string | undefined
  readonly sig: string
  readonly wire?: string | null | undefined
  readonly shape?: string | null | undefined
  readonly stream?: boolean | null | undefined
  readonly isAuxiliary?: boolean
  /** What running it would do to the world, where the caller knows. */
  readonly effect?: EffectClass | undefined
  /** The request itself. Without it a miss has no nearest call, and neither masks nor drift nor overrides can be looked at. */
  readonly request?: AskedRequest | undefined
  /** The tries of one logical call are asked for below it: only its recorded tries can answer. */
  readonly attemptOf?: string | undefined
  /** Where in the run it is made. Decides between recorded calls that are equal in everything else. */
  readonly place?: string | undefined
  /** The recorded call this one is made inside of, null when it is made inside of none; left out where it cannot be known. */
  readonly within?: string | null | undefined
}

export interface AskedRequest {
  /** Null for a tool or a retriever. */
  readonly method: string | null
  readonly url: string | null
  readonly headers: HeaderPairs | null
  /** The body, a tool's arguments as JSON, or a retriever's query. */
  readonly body: Uint8Array
  readonly masks?: readonly BodyMask[]
  /** How many secrets were taken out of it, where not all are listed. */
  readonly maskCount?: number | undefined
  readonly retrieval?: RecordedRetrieval | null
}

export type Tier = "wire" | "sig" | "masked" | "drift" | "cached" | "nearest" | "override"

/** What happens to a call. */
export type Outcome = Served | GoLive | Denied | Diverged

interface Answered {
  /** Numbers calls in the order they were asked. */
  readonly ticket: number
  readonly mode: DeterminismMode
  readonly tier: Tier | null
  readonly occurrence: number
  /** The recorded call it stands for; null where nothing recorded does. */
  readonly source: TapeCall | null
  /** Which inexact modes are among what this call builds on. */
  readonly taint: readonly Exclude<DeterminismMode, "exact">[]
  /** The override rules that took part. */
  readonly ruleIds: readonly string[]
}

/** Answered without the world. */
export interface Served extends Answered {
  readonly outcome: "served"
  readonly mode: "exact" | "cached" | "simulated"
  readonly tier: Tier
  readonly answer: RecordedAnswer
  /** Null when no answer came. */
  readonly bytes: Uint8Array | null
  readonly maskIds: readonly string[]
  /** What there is to say about it, beside the answer. */
  readonly divergence: Divergence | undefined
}

/** Goes to the upstream, possibly changed. */
export interface GoLive extends Answered {
  readonly outcome: "live"
  readonly mode: "live"
  readonly request: AskedRequest | undefined
  readonly isChanged: boolean
  /** Makes the same changes to the request as it really goes out, where what was asked with had its secrets masked. */
  rewrite?(raw: AskedRequest): AskedRequest
}

/** A call with effects that must not happen again: the caller gets a result that says so. */
export interface Denied extends Answered {
  readonly outcome: "denied"
  readonly mode: "simulated"
  readonly reason: string
}

/** Not answered: the run is not the recorded one any more. */
export interface Diverged {
  readonly outcome: "diverged"
  readonly ticket: number
  readonly divergence: Divergence
}
