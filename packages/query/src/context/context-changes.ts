import { recordedWord } from "@orangebox/text"
import { groupBy } from "../group-by.js"
import type { ContextItem, ContextReading, ExcludedItem } from "./context-reading.js"
import { type HistoryLoss, historyLossOf, isMessage } from "./history-loss.js"
import { runIdOf } from "./recorded-contexts.js"

/** What became of a context since the one before it. */
export interface ContextChanges {
  /** The step of the context before. */
  readonly since: number
  /** The run it is a step of, where that is another one: the run before in the same conversation. */
  readonly sinceRunId: string | null
  readonly added: readonly AddedItem[]
  readonly removed: readonly RemovedItem[]
  readonly changed: readonly ChangedItem[]
  readonly same: number
  /** Whether both begin with the same bytes, which is what a provider's cache goes by. */
  readonly prefix: "same" | "changed" | "unknown"
  readonly historyLoss: HistoryLoss | undefined
}

/** `#3`, or with its run where that is another one. */
export const sinceWord = ({ since, sinceRunId }: Pick<ContextChanges, "since" | "sinceRunId">): string =>
  `${sinceRunId === null ? "" : recordedWord(sinceRunId, 40)}#${since}`

/** The same in figures. */
export const countsOf = ({ added, removed, changed, ...changes }: ContextChanges) => ({
  ...changes,
  added: added.length,
  removed: removed.length,
  changed: changed.length,
})

interface AddedItem {
  readonly item: ContextItem
  /** It was available before, and left out for this. */
  readonly excludedBefore: string | undefined
}

interface RemovedItem {
  /** As it stood in the context before. */
  readonly item: ContextItem
  /** It is still available, and left out for this; undefined when it was not even considered. */
  readonly excludedNow: string | undefined
}

interface ChangedItem {
  readonly item: ContextItem
  readonly before: ContextItem
}

export function changesBetween(before: ContextReading, now: ContextReading): ContextChanges {
  const pairs =
    now.basis === "manifest" && before.basis === "manifest" ? pairById(before, now) : pairByHash(before, now)
  const { added, removed, kept } = pairs
  const changed = kept.filter(({ before, item }) => !isEqual(before, item))
  const hasLostHistory = now.basis === "request"
  return {
    since: before.context.n,
    sinceRunId: runIdOf(before.context) === runIdOf(now.context) ? null : runIdOf(before.context),
    added: added.map((item) => ({ item, excludedBefore: reasonIn(before.excluded, item) })),
    removed: removed.map((item) => ({ item, excludedNow: reasonIn(now.excluded, item) })),
    changed,
    same: kept.length - changed.length,
    prefix: samePrefix(before, now),
    historyLoss: hasLostHistory ? historyLossOf(now.context, before.items, now.items, removed) : undefined,
  }
}

interface Pairs {
  readonly added: readonly ContextItem[]
  readonly removed: readonly ContextItem[]
  readonly kept: readonly ChangedItem[]
}

/** Items of a manifest are called the same from step to step. */
function pairById(before: ContextReading, now: ContextReading): Pairs {
  const known = new Map(before.items.map((item) => [item.id, item]))
  const added: ContextItem[] = []
  const kept: ChangedItem[] = []
  for (const item of now.items) {
    const earlier = known.get(item.id)
    if (earlier) kept.push({ item, before: earlier })
    else added.push(item)
    known.delete(item.id)
  }
  return { added, removed: [...known.values()], kept }
}

/**
 * Segments have no names, so they are first known by their content. Of what is left, one of a kind and contributor on either side is the
 * same thing with another content; but in a list of messages nothing says that one message became another.
 */
function pairByHash(before: ContextReading, now: ContextReading): Pairs {
  const byHash = groupBy(before.items, hashKey)
  const kept: ChangedItem[] = []
  const fresh: ContextItem[] = []
  for (const item of now.items) {
    const earlier = item.hash === undefined ? undefined : byHash.get(hashKey(item))?.shift()
    if (earlier) kept.push({ item, before: earlier })
    else fresh.push(item)
  }
  const gone = [...byHash.values()].flat()
  const isNamed = (item: ContextItem): boolean => now.basis === "assembled" || !isMessage(item)
  const goneByName = groupBy(gone.filter(isNamed), nameKey)
  const freshByName = groupBy(fresh.filter(isNamed), nameKey)
  const paired = new Set<ContextItem>()
  for (const [name, [item, ...others]] of freshByName) {
    const [earlier, ...more] = goneByName.get(name) ?? []
    if (!item || !earlier || others.length > 0 || more.length > 0) continue
    kept.push({ item, before: earlier })
    paired.add(item).add(earlier)
  }
  const isLeft = (item: ContextItem): boolean => !paired.has(item)
  const byPosition = (a: ContextItem, b: ContextItem): number => a.position - b.position
  return { added: fresh.filter(isLeft), removed: gone.filter(isLeft).sort(byPosition), kept }
}

// The message of this turn is history in the next: kinds move, content stays.
const hashKey = ({ hash, position }: ContextItem): string => hash ?? `#${position}`
const nameKey = ({ kind, contributor }: ContextItem): string => `${kind}\0${contributor}`

/** A cut to another length is another text to the model, also where the source is the same. */
const isEqual = (before: ContextItem, now: ContextItem): boolean =>
  before.hash === now.hash &&
  before.fromTokens === now.fromTokens &&
  (now.fromTokens === undefined || before.tokens === now.tokens)

const reasonIn = (excluded: readonly ExcludedItem[] | null, item: ContextItem): string | undefined =>
  excluded?.find(({ id }) => id === item.id)?.reason

function samePrefix({ prefix: before }: ContextReading, { prefix: now }: ContextReading): ContextChanges["prefix"] {
  if (!before || !now) return "unknown"
  return before.hash === now.hash ? "same" : "changed"
}
