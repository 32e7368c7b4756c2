import { recordedWord } from "@orangebox/text"
import { type Pairs, pairSegments } from "../pair-segments.js"
import type { ContextItem, ContextReading, ExcludedItem } from "./context-reading.js"
import { type HistoryLoss, historyLossOf } from "./history-loss.js"
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
    now.basis === "manifest" && before.basis === "manifest"
      ? pairById(before, now)
      : pairSegments(before.items, now.items, now.basis === "assembled")
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

/** Items of a manifest are called the same from step to step. */
function pairById(before: ContextReading, now: ContextReading): Pairs<ContextItem> {
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

/** A cut to another length is another text to the model, also where the source is the same. */
const isEqual = (before: ContextItem, now: ContextItem): boolean =>
  before.hash !== undefined &&
  before.hash === now.hash &&
  before.fromTokens === now.fromTokens &&
  (now.fromTokens === undefined || before.tokens === now.tokens)

const reasonIn = (excluded: readonly ExcludedItem[] | null, item: ContextItem): string | undefined =>
  excluded?.find(({ id }) => id === item.id)?.reason

function samePrefix({ prefix: before }: ContextReading, { prefix: now }: ContextReading): ContextChanges["prefix"] {
  if (!before || !now) return "unknown"
  return before.hash === now.hash ? "same" : "changed"
}
