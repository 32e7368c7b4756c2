import type { WireFact } from "./facts.js"
import type { WireState } from "./state.js"

type Unsigned<T> = T extends unknown ? Omit<T, "inferred_by" | "call" | "atMs"> : never

/** What one observation led to, before it is signed. */
export interface Placement {
  readonly state: WireState
  readonly facts: readonly Unsigned<WireFact>[]
}
