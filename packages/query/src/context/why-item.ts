import { type ItemType, segmentKindOf } from "@orangebox/contract"
import { rowAt } from "../page.js"
import { isMessage } from "../pair-segments.js"
import type { Bodies, ContextItem, ContextReading, ExcludedItem } from "./context-reading.js"
import { changesSince } from "./context-view.js"
import type { HistoryLoss } from "./history-loss.js"
import { previousContext, type RecordedContext } from "./recorded-contexts.js"
import { readableRequest } from "./request-on-record.js"

/** What became of the items that a reader asked for, over all contexts of a run. */
export interface WhyView {
  readonly wanted: string
  /** What the words fitted: an item's id, the beginning of its hash, who contributed it, part of a name, or the text itself. */
  readonly matchedBy: "id" | "hash" | "contributor" | "name" | "text" | undefined
  readonly items: readonly ItemHistory[]
  /** How many items fit, and where among them `items` begins. */
  readonly from: number
  readonly total: number
  readonly contexts: number
}

export interface ItemHistory {
  readonly id: string
  readonly kind: string
  readonly itemType: ItemType
  readonly hash: string | undefined
  readonly text: string | undefined
  /** One for every context in which it could have been; contexts of other lanes are not among them. */
  readonly sightings: readonly Sighting[]
}

export interface Sighting {
  readonly n: number
  readonly state: "included" | "excluded" | "absent"
  /** Why it was included or left out; how it went, where that can be told. */
  readonly reason: string | undefined
  readonly detail: string | undefined
  /** Left out as a copy of this one. */
  readonly duplicateOf: string | undefined
  readonly score: number | undefined
  readonly tokens: number | undefined
  /** Its size before it was cut, where it was. */
  readonly fromTokens: number | undefined
  readonly isEstimated: boolean
  /** Where it stood in the prompt. */
  readonly position: number | undefined
  /** It is there, but not as it was in the context before. */
  readonly isChanged: boolean
}

export interface WhyQuestion {
  /** Hashes of items whose text holds what was asked for, found with `hashesHolding`; they count where no name fits. */
  readonly hashes?: ReadonlySet<string>
  /** The item to begin with, counted from 0. */
  readonly from?: number
}

export function whyOf(readings: readonly ContextReading[], wanted: string, question: WhyQuestion = {}): WhyView {
  const { hashes = new Set() } = question
  const holds = ({ hash }: Named): boolean => hash !== undefined && hashes.has(hash)
  const grades = [...GRADES, ["text", holds] as const]
  let matchedBy: WhyView["matchedBy"]
  let keys: string[] = []
  for (const [grade, fits] of grades) {
    keys = keysWhere(readings, (item) => fits(item, wanted))
    matchedBy = grade
    if (keys.length > 0) break
  }
  const from = rowAt(question.from, keys.length)
  return {
    wanted,
    matchedBy: keys.length > 0 ? matchedBy : undefined,
    items: historiesOf(readings, keys.slice(from, from + MOST_ITEMS)),
    from,
    total: keys.length,
    contexts: readings.length,
  }
}

/** More than any page holds. A word such as `user` fits every message of a long talk, and each has a history as long as the run. */
const MOST_ITEMS = 50

/** The bodies in which an item's text may stand. */
export function textBodies({ basis, manifest, items, context }: ContextReading): readonly string[] {
  if (manifest) return manifest.inclusion_log.map(({ rendered_ref }) => rendered_ref)
  if (basis === "assembled") return items.flatMap(({ sourceRef }) => sourceRef ?? [])
  return context.request ? [context.request.hash] : []
}

/** The hashes of the items whose text holds the words, for what has no name. */
export function hashesHolding(reading: ContextReading, bodies: Bodies, words: string): string[] {
  const wanted = words.toLowerCase()
  const texts = textsOf(reading, bodies)
  return reading.items.flatMap(({ hash }, index) =>
    hash !== undefined && texts[index]?.toLowerCase().includes(wanted) ? [hash] : [],
  )
}

function textsOf(reading: ContextReading, bodies: Bodies): readonly (string | undefined)[] {
  const { basis, manifest, items, context } = reading
  const textOf = (ref: string | undefined): string | undefined => {
    const bytes = ref === undefined ? undefined : bodies.get(ref)
    return bytes && new TextDecoder().decode(bytes)
  }
  if (manifest) return manifest.inclusion_log.map(({ rendered_ref }) => textOf(rendered_ref))
  if (basis === "assembled") return items.map(({ sourceRef }) => textOf(sourceRef))
  const parts = readableRequest(context, bodies)?.anatomy.parts ?? []
  return parts.length === items.length ? parts.map(({ text, arguments: args }) => text ?? args ?? undefined) : []
}

/** What included and excluded items have in common. */
interface Named {
  readonly id: string
  readonly contributor: string | undefined
  readonly hash: string | undefined
}

/** From the surest to the loosest way to read what was typed. */
const GRADES: readonly (readonly [
  Exclude<WhyView["matchedBy"], undefined | "text">,
  (item: Named, wanted: string) => boolean,
])[] = [
  ["id", ({ id }, wanted) => id === wanted],
  [
    "hash",
    ({ hash }, wanted) => /^sha256:[0-9a-f]{4,}$/i.test(wanted) && hash?.startsWith(wanted.toLowerCase()) === true,
  ],
  // `tool:read_file` is also called read_file.
  ["contributor", ({ contributor }, wanted) => contributor === wanted || contributor?.split(":")[1] === wanted],
  ["name", ({ id }, wanted) => id.toLowerCase().includes(wanted.toLowerCase())],
]

function keysWhere(readings: readonly ContextReading[], fits: (item: Named) => boolean): string[] {
  const keys = new Set<string>()
  for (const reading of readings) {
    for (const item of reading.items) if (fits(item)) keys.add(keyOf(reading, item))
    for (const { id } of reading.excluded ?? []) {
      if (fits({ id, contributor: undefined, hash: undefined })) keys.add(id)
    }
  }
  return [...keys]
}

/** What stays the same about an item through a run: the id a compiler gave it; of a message its content, of other segments their name. */
function keyOf({ basis }: ContextReading, item: ContextItem): string {
  if (basis === "manifest") return item.id
  return isMessage(item) && basis === "request" ? (item.hash ?? item.id) : `${item.kind}\0${item.contributor}`
}

/** A context with its items at hand, and the one before it. */
interface Page {
  readonly reading: ContextReading
  readonly before: Page | undefined
  readonly historyLoss: HistoryLoss | undefined
  readonly seen: ReadonlyMap<string, Seen>
}

interface Seen {
  readonly item: ContextItem | undefined
  readonly excluded: ExcludedItem | undefined
}

function historiesOf(readings: readonly ContextReading[], keys: readonly string[]): ItemHistory[] {
  const contexts = readings.map(({ context }) => context)
  const pages = new Map<RecordedContext, Page>()
  for (const reading of readings) {
    const previous = previousContext(contexts, reading.context)
    const before = previous && pages.get(previous)
    const historyLoss = before && changesSince(before.reading, reading)?.historyLoss
    pages.set(reading.context, { reading, before, historyLoss, seen: seenIn(reading) })
  }
  return keys.map((key) => historyOf([...pages.values()], key))
}

function seenIn(reading: ContextReading): Map<string, Seen> {
  const seen = new Map<string, Seen>()
  for (const excluded of reading.excluded ?? []) seen.set(excluded.id, { item: undefined, excluded })
  // Backwards, so that of two alike the first is shown.
  for (const item of reading.items.toReversed()) seen.set(keyOf(reading, item), { item, excluded: undefined })
  return seen
}

function historyOf(pages: readonly Page[], key: string): ItemHistory {
  const found = pages.flatMap(({ seen }) => seen.get(key) ?? [])
  const first = found.find(({ item }) => item !== undefined)?.item
  const left = found.find(({ excluded }) => excluded !== undefined)?.excluded
  const lanes = new Set(pages.filter(({ seen }) => seen.has(key)).map(({ reading }) => reading.context.lane))
  // A side call has a prompt of its own, and what is not in another lane is not missing there.
  const couldHold = ({ reading: { context, basis }, seen }: Page): boolean =>
    seen.has(key) || (!context.isAuxiliary && lanes.has(context.lane) && basis !== "unknown")
  return {
    id: first?.id ?? left?.id ?? key,
    kind: first?.kind ?? (left ? segmentKindOf(left.itemType) : "other"),
    itemType: first?.itemType ?? left?.itemType ?? "evidence",
    hash: first?.hash,
    text: first?.text,
    sightings: pages.filter(couldHold).map((page) => sightingOf(page, key)),
  }
}

function sightingOf({ reading, before, historyLoss, seen }: Page, key: string): Sighting {
  const { item, excluded } = seen.get(key) ?? {}
  const earlier = before?.seen.get(key)?.item
  const { n } = reading.context
  const isEstimated = reading.prompt.areItemsEstimated
  if (item) {
    const isChanged = earlier !== undefined && earlier.hash !== item.hash
    const { reason, tokens, fromTokens, position, score } = item
    const known = { tokens, fromTokens, isEstimated, position, isChanged, score, duplicateOf: undefined }
    return { n, state: "included", reason, detail: undefined, ...known }
  }
  const nothing = {
    ...{ tokens: undefined, isEstimated, position: undefined, isChanged: false },
    ...{ fromTokens: undefined, duplicateOf: undefined, score: undefined },
  }
  if (excluded) {
    const { reason, detail, duplicateOf, score } = excluded
    return { n, state: "excluded", reason, detail, ...nothing, duplicateOf, score }
  }
  const loss = earlier && isMessage(earlier) ? historyLoss : undefined
  const detail = loss && `deduced by ${loss.inferredBy}`
  return { n, state: "absent", reason: loss?.why, detail, ...nothing }
}
