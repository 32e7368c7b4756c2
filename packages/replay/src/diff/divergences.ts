import type { RunDiff, Tier } from "../generated.js"
import { isBehaviour } from "./diff-step.js"
import { IN_SYNC } from "./distance.js"
import { isWrite, type Judged, mayWrite } from "./judge.js"

/** So many calls in sync after a difference, and it was a detour. Before it, so many make a common beginning. */
const RESYNC = 2
/** Runs with less in common than this have no point where they went apart. */
const LEAST_SHARE = 0.2

export type Divergences = Pick<RunDiff, "first" | "root" | "root_absent" | "decisive" | "tiers"> & {
  readonly inSyncShare: number | null
}

/** @param order the indexes of all differences in the order in which they came about */
export function findDivergences(
  items: readonly Judged[],
  order: readonly number[],
  regime: RunDiff["regime"],
): Divergences {
  const calls = behaviourOf(items)
  return {
    first: order[0] ?? null,
    ...rootOf(items, order, regime, calls),
    decisive: decisiveOf(items, order),
    tiers: {
      T0: firstOf(items, order, "T0"),
      T1: firstOf(items, order, "T1"),
      T2: firstOf(items, order, "T2"),
      T3: firstOf(items, order, "T3"),
    },
    inSyncShare: calls.share,
  }
}

interface Behaviour {
  /** For every item how many calls in sync stand before it. */
  readonly inSyncBefore: Int32Array
  /** For every item whether two calls in sync in a row come after it. */
  readonly resyncsAfter: Uint8Array
  readonly share: number | null
}

/** Calls and results alone: prose differs between any two runs. Where neither run calls anything, its model calls are what it does. */
function behaviourOf(items: readonly Judged[]): Behaviour {
  const hasCalls = items.some(({ a, b }) => isBehaviour((a ?? b)!))
  const isCall = ({ a, b }: Judged): boolean => (hasCalls ? isBehaviour((a ?? b)!) : (a ?? b)!.kind === "model")
  const isInSync = (item: Judged): boolean => item.a !== undefined && item.b !== undefined && item.distance <= IN_SYNC

  const inSyncBefore = new Int32Array(items.length)
  const resyncsAfter = new Uint8Array(items.length)
  let inSync = 0
  let callsA = 0
  let callsB = 0
  items.forEach((item, index) => {
    inSyncBefore[index] = inSync
    if (!isCall(item)) return
    if (item.a) callsA++
    if (item.b) callsB++
    if (isInSync(item)) inSync++
  })
  let inARow = 0
  let hasResynced = 0
  for (let index = items.length - 1; index >= 0; index--) {
    resyncsAfter[index] = hasResynced
    const item = items[index]!
    if (!isCall(item)) continue
    inARow = isInSync(item) ? inARow + 1 : 0
    if (inARow >= RESYNC) hasResynced = 1
  }
  const most = Math.max(callsA, callsB)
  return { inSyncBefore, resyncsAfter, share: most === 0 ? null : inSync / most }
}

function rootOf(
  items: readonly Judged[],
  order: readonly number[],
  regime: RunDiff["regime"],
  calls: Behaviour,
): Pick<RunDiff, "root" | "root_absent"> {
  const none = (root_absent: RunDiff["root_absent"]) => ({ root: null, root_absent })
  if (order.length === 0) return none("no_difference")
  if (regime === "R1") return { root: order[0]!, root_absent: null }
  const origins = order.filter((index) => {
    const { cause, tiers } = items[index]!
    return (cause === "origin" || cause === "environment") && tiers.some((tier) => tier !== "T0")
  })
  if (origins.length === 0) return none("no_origin")
  // With too little in common an invented root is worse than none.
  if ((calls.share ?? 0) < LEAST_SHARE) return none("no_common_prefix")
  const root = origins.find((index) => !calls.resyncsAfter[index])
  if (root === undefined) return none("resynced")
  return calls.inSyncBefore[root]! < RESYNC ? none("no_common_prefix") : { root, root_absent: null }
}

/** The first difference in what was written. Where no tool said that it writes, the first call that may have. */
function decisiveOf(items: readonly Judged[], order: readonly number[]): RunDiff["decisive"] {
  const write = firstOf(items, order, "T3")
  if (write !== null) return { item: write, effect: "write" }
  const unknown = order.find((index) => {
    const { a, b, tiers } = items[index]!
    return tiers.includes("T1") && (mayWrite(a) || mayWrite(b)) && !isWrite(a) && !isWrite(b)
  })
  return unknown === undefined ? null : { item: unknown, effect: "unknown" }
}

function firstOf(items: readonly Judged[], order: readonly number[], tier: Tier): number | null {
  return order.find((index) => items[index]!.tiers.includes(tier)) ?? null
}
