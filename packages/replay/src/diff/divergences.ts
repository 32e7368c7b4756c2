import type { RunDiff, Tier } from "../generated.js"
import { isReal } from "./causes.js"
import { isBehaviour } from "./diff-step.js"
import { IN_SYNC } from "./distance.js"
import { isInSync, isWrite, type Judged, mayWrite, type Readers } from "./judge.js"
import { findPropagation } from "./value-propagation.js"

/** So many calls in sync after a difference, and the runs are together again. Before it, so many make a common beginning. */
const RESYNC = 2
/** Runs with less in common than this have no point where they went apart. */
const LEAST_SHARE = 0.2

type Root = Pick<RunDiff, "root" | "root_absent" | "would_decide">

export type Divergences = Root &
  Pick<RunDiff, "first" | "decisive" | "tiers"> & {
    readonly inSyncShare: number | null
  }

/** How two runs began and ended. */
export interface Ends {
  /** A model was asked the same first, to the byte. */
  readonly beganAlike: boolean
  /** They ended otherwise, other words of the last answer aside. */
  readonly isOtherEnd: boolean
}

/** @param order the indexes of all differences in the order in which they came about */
export function findDivergences(
  items: readonly Judged[],
  order: readonly number[],
  regime: RunDiff["regime"],
  ends: Ends,
  readers: Readers,
): Divergences {
  const calls = behaviourOf(items)
  return {
    first: order[0] ?? null,
    ...(regime === "R1" ? relatedRoot(order) : unrelatedRoot(items, calls, order, ends, readers)),
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

/** Calls and results alone: prose differs between any two runs. Where neither run calls anything, its model calls are what it does. */
interface Behaviour {
  isCall(item: Judged): boolean
  /** For every item how many calls in sync stand before it. */
  readonly inSyncBefore: Int32Array
  /** Of calls that are recognisably the same thing, however they differ. */
  readonly share: number | null
}

function behaviourOf(items: readonly Judged[]): Behaviour {
  const hasCalls = items.some(({ a, b }) => isBehaviour((a ?? b)!))
  const isCall = ({ a, b }: Judged): boolean => (hasCalls ? isBehaviour((a ?? b)!) : (a ?? b)!.kind === "model")
  const inSyncBefore = new Int32Array(items.length)
  let inSync = 0
  let alike = 0
  let callsA = 0
  let callsB = 0
  items.forEach((item, index) => {
    inSyncBefore[index] = inSync
    if (!isCall(item)) return
    if (item.a) callsA++
    if (item.b) callsB++
    if (item.a && item.b && item.distance <= IN_SYNC) alike++
    if (isInSync(item)) inSync++
  })
  const most = Math.max(callsA, callsB)
  return { isCall, inSyncBefore, share: most === 0 ? null : alike / most }
}

const named = (root: number): Root => ({ root, root_absent: null, would_decide: [] })
const absent = (root_absent: Root["root_absent"], would_decide: Root["would_decide"]): Root => ({
  root: null,
  root_absent,
  would_decide,
})
const A_GOOD_RUN: Root["would_decide"][number] = { by: "good_run", item: null }
const forkAt = ({ start }: Stretch): Root["would_decide"][number] => ({ by: "fork", item: start })

/** A replay has all in common with its source up to the first difference. */
const relatedRoot = ([first]: readonly number[]): Root =>
  first === undefined ? absent("no_difference", []) : named(first)

/**
 * The first decision, or the first answer of the world, from which everything after it follows, or which is all that can have led to another
 * end. With too little in common an invented root is worse than none, and so is one of two that the record does not tell apart.
 */
function unrelatedRoot(
  items: readonly Judged[],
  calls: Behaviour,
  order: readonly number[],
  { beganAlike, isOtherEnd }: Ends,
  readers: Readers,
): Root {
  if (order.length === 0) return absent("no_difference", [])
  const stretches = stretchesApart(items, calls)
  const [first] = stretches
  if (first === undefined) return absent("no_origin", isOtherEnd ? [A_GOOD_RUN] : [])
  if (!isOtherEnd && !stretches.at(-1)!.isOpen) return absent("resynced", [forkAt(first)])
  const found = beginningOf(items, stretches, readers)
  if (found === undefined) return absent("undecided", stretches.slice(0, MOST_FORKS).map(forkAt))
  const isAlike = (calls.share ?? 0) >= LEAST_SHARE
  const isCommon = calls.inSyncBefore[found.start]! >= RESYNC && (found === first || isAlike)
  // A decision after the same question, alike in all they did up to there, and another end: that needs no long way in common.
  const isDecision = (items[found.start]!.a ?? items[found.start]!.b)!.kind === "model"
  const isSameQuestion = isDecision && isOtherEnd && found === first && beganAlike && isAlike
  return isCommon || isSameQuestion ? named(found.start) : absent("no_common_prefix", [A_GOOD_RUN])
}

const MOST_FORKS = 3

/** Differences without calls in sync between them. */
interface Stretch {
  /** The item it begins with. */
  readonly start: number
  /** What differs in it. */
  readonly members: number[]
  /** Something was written otherwise in it, or may have been. */
  leavesEffect: boolean
  /** The runs do not come together after it. */
  isOpen: boolean
}

function stretchesApart(items: readonly Judged[], { isCall }: Behaviour): readonly Stretch[] {
  const stretches: Stretch[] = []
  let inARow = 0
  items.forEach((item, index) => {
    const isApart = item.tiers.some((tier) => tier !== "T0") && isReal(items, index)
    if (isApart) {
      if (!stretches.at(-1)?.isOpen) stretches.push({ start: index, members: [], leavesEffect: false, isOpen: true })
      stretches.at(-1)!.members.push(index)
      const wrote = item.tiers.includes("T3") || (item.tiers.includes("T1") && (mayWrite(item.a) || mayWrite(item.b)))
      if (wrote) stretches.at(-1)!.leavesEffect = true
    }
    if (isApart || (isCall(item) && !isInSync(item))) inARow = 0
    else if (isCall(item)) inARow++
    const last = stretches.at(-1)
    if (last && inARow >= RESYNC) last.isOpen = false
  })
  return stretches
}

/**
 * What the rest follows from. A stretch that wrote leaves the world another one, and the last one has nothing after it. One that only
 * looked around is in the history of all that follows: where a later one uses a value that only it has, it led there; a later one that was
 * not fed by it began by itself; of any other it is unknown.
 */
function beginningOf(items: readonly Judged[], stretches: readonly Stretch[], readers: Readers): Stretch | undefined {
  for (const [at, stretch] of stretches.entries()) {
    const { cause } = items[stretch.start]!
    if (cause !== "origin" && cause !== "environment") return undefined
    const next = stretches[at + 1]
    if (stretch.leavesEffect || !next || leadsTo(items, stretch, next, readers)) return stretch
  }
  return undefined
}

/** So many of its results are followed. */
const MOST_FOLLOWED = 20

function leadsTo(items: readonly Judged[], { members }: Stretch, next: Stretch, readers: Readers): boolean {
  return members.slice(0, MOST_FOLLOWED).some((index) => {
    const { a, b, isFigureUsed } = items[index]!
    if (isFigureUsed) return true
    const use = isBehaviour((a ?? b)!) ? findPropagation(items, index, readers) : null
    return use !== null && use.to >= next.start && isReal(items, use.to)
  })
}

/** The first difference in what was written. Where no tool said that it writes, the first call that may have. */
function decisiveOf(items: readonly Judged[], order: readonly number[]): RunDiff["decisive"] {
  const write = firstOf(items, order, "T3")
  if (write !== null) return { item: write, effect: "write" }
  const unknown = order.find((index) => {
    const { a, b, tiers, isIncidental } = items[index]!
    return tiers.includes("T1") && !isIncidental && (mayWrite(a) || mayWrite(b)) && !isWrite(a) && !isWrite(b)
  })
  return unknown === undefined ? null : { item: unknown, effect: "unknown" }
}

function firstOf(items: readonly Judged[], order: readonly number[], tier: Tier): number | null {
  return order.find((index) => items[index]!.tiers.includes(tier)) ?? null
}
