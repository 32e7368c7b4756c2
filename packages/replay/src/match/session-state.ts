import type { DeterminismMode } from "@orangebox/contract"
import type { Divergence } from "../generated.js"
import type { Tier } from "./ask.js"

export type Taint = Exclude<DeterminismMode, "exact">

/** One call of the replay, as it was answered. */
export interface AnsweredCall {
  readonly ticket: number
  readonly mode: DeterminismMode
  readonly tier: Tier | null
  readonly sourceStepId: string | null
  readonly maskIds: readonly string[]
}

/** Everything a replay remembers, as plain data: copied with `structuredClone`, it is a replay that can go on from here twice. */
export interface SessionState {
  tickets: number
  /** Recorded step → the ticket that took its answer. */
  readonly consumed: Map<string, number>
  /** Recorded calls that were served as a value, their tries along with them. */
  readonly servedWhole: Set<string>
  /** Lane of the new run → lane of the recording. */
  readonly lanes: Map<string, string>
  readonly taints: Map<string, Taint[]>
  readonly answered: AnsweredCall[]
  readonly divergences: Divergence[]
  upstreamSockets: number
  denied: number
  /** How far into the recording the replay has come. */
  position: number
  /** The first call that was not answered. */
  haltedAt: number | null
  isForkReached: boolean
  /** Recorded steps that no longer answer, because what they build on went another way (`onDrift: "fork"`). */
  readonly left: Set<string>
  /** Override rule → how often it fired. */
  readonly ruleUses: Map<string, number>
  /** Override rule → how many calls it has selected, fired or not. */
  readonly ruleSeen: Map<string, number>
}

export function newSessionState(): SessionState {
  return {
    tickets: 0,
    consumed: new Map(),
    servedWhole: new Set(),
    lanes: new Map(),
    taints: new Map(),
    answered: [],
    divergences: [],
    upstreamSockets: 0,
    denied: 0,
    position: 0,
    haltedAt: null,
    isForkReached: false,
    left: new Set(),
    ruleUses: new Map(),
    ruleSeen: new Map(),
  }
}
