import { type Event, textIn } from "@orangebox/contract"
import { type Comparable, isMessage } from "../pair-segments.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { READER } from "./segment-items.js"

/** Messages of the previous request are no longer in this one. It was not announced but concluded, by whom `inferredBy` names. */
export interface HistoryLoss {
  /** `compaction` a summary took their place · `truncation` the beginning was cut off · `rewritten` anything else. */
  readonly why: "compaction" | "truncation" | "rewritten"
  readonly items: number
  readonly certainty: string | undefined
  readonly inferredBy: string
}

export function historyLossOf(
  context: RecordedContext,
  before: readonly Comparable[],
  now: readonly Comparable[],
  removed: readonly Comparable[],
): HistoryLoss | undefined {
  const gone = removed.filter(isMessage)
  if (gone.length === 0) return undefined
  const items = gone.length
  const said = saidOnTheWire(context)
  if (said) return { ...said, items }
  return {
    why: shapeOf(before.filter(isMessage), now.filter(isMessage), gone),
    items,
    certainty: undefined,
    inferredBy: READER,
  }
}

/** The proxy follows the traffic and says so right behind the call it is about. */
function saidOnTheWire({ saidAfter }: RecordedContext): Omit<HistoryLoss, "items"> | undefined {
  const said = saidAfter.find(isHistoryLog)
  const why = said && textIn(said.attributes ?? {}, "history")
  if (!said || (why !== "compaction" && why !== "truncation" && why !== "rewritten")) return undefined
  return { why, certainty: textIn(said.attributes ?? {}, "certainty"), inferredBy: said.inferred_by ?? READER }
}

const isHistoryLog = ({ event_type, attributes }: Event): boolean =>
  event_type === "log" && attributes?.["history"] !== undefined

/**
 * A window that slides keeps the end of what was there and puts nothing before it. What begins with a new message instead was summarised
 * when little of the old is left, and rewritten when most of it is.
 */
function shapeOf(
  before: readonly Comparable[],
  now: readonly Comparable[],
  gone: readonly Comparable[],
): HistoryLoss["why"] {
  const lost = new Set(gone)
  const kept = before.filter((item) => !lost.has(item))
  const isHead = before.slice(0, gone.length).every((item) => lost.has(item))
  if (isHead && kept.length > 0 && now[0]?.hash === kept[0]?.hash) return "truncation"
  return gone.length > kept.length && now.length < before.length ? "compaction" : "rewritten"
}
