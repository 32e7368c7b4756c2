import {
  cutToWidth,
  displayWidth,
  formatBytes,
  formatCount,
  formatPercent,
  type Painter,
  padToWidth,
  plural,
  recordedText,
  recordedWord,
  shareBar,
} from "@orangebox/text"
import { isMessage } from "../pair-segments.js"
import { type ContextChanges, sinceWord } from "./context-changes.js"
import type { ContextItem, ExcludedItem } from "./context-reading.js"
import type { ContextView, ManifestRevision } from "./context-view.js"
import type { ProviderContext } from "./provider-context.js"

/** One line of a context. Text and JSON are made of the same rows, so a cursor means the same in both. */
export type ContextRow = { readonly [S in keyof ContextRowValues]: ContextRowOf<S> }[keyof ContextRowValues]

export interface ContextRowOf<S extends keyof ContextRowValues> {
  readonly section: S
  readonly value: ContextRowValues[S]
  /** The heading it stands under, in our words. */
  readonly heading: string
  /** Everything in it is safe to print. Widths and tokens are measured without a painter. */
  readonly text: (paint: Painter) => string
}

/** What a row of each section is about. */
export interface ContextRowValues {
  readonly asked: { readonly name: string; readonly text: string }
  readonly items: SeenItem
  readonly folded: FoldedItems
  readonly missing: ContextItem
  readonly beside: ContextItem
  readonly excluded: ExcludedItem
  readonly removed: ContextChanges["removed"][number]
  readonly changed: ContextChanges["changed"][number]
  readonly provider: ProviderContext
  readonly revisions: ManifestRevision
}

/** An item beside what it was in the context before. */
export interface SeenItem extends ContextItem {
  /** Undefined where there is no context before to compare with. */
  readonly change: "added" | "changed" | "same" | undefined
  /** New here, and known before: why it was left out then. */
  readonly excludedBefore: string | undefined
}

/** Neighbours that the context before held as well, told as one. */
export interface FoldedItems {
  readonly from: number
  readonly to: number
  readonly tokens: number | undefined
  readonly share: number | undefined
}

export function contextRows(view: ContextView, options: { readonly all?: boolean }): ContextRow[] {
  return [
    ...askedRows(view),
    ...itemRows(view, options.all === true),
    ...missingRows(view),
    ...besideRows(view),
    ...excludedRows(view),
    ...changeRows(view),
    ...providerRows(view),
    ...revisionRows(view),
  ]
}

const LONGEST_ID = 40
const LONGEST_TEXT = 120

function askedRows({ manifest }: ContextView): ContextRow[] {
  if (!manifest) return []
  const { intent, retrieval_query } = manifest
  const asked = [
    ...(intent === null ? [] : [{ name: "objective", text: intent.objective }]),
    ...(intent?.invariants ?? []).map((text) => ({ name: "invariant", text })),
    ...(retrieval_query === null ? [] : [{ name: "query", text: retrieval_query }]),
  ]
  return asked.map((value) => ({
    section: "asked",
    value,
    heading: "asked:",
    text: () => `  ${padToWidth(value.name, 10)} ${recordedText(value.text, LONGEST_TEXT)}`,
  }))
}

function itemRows(view: ContextView, isUnfolded: boolean): ContextRow[] {
  const { items } = view
  const columns = columnsOf(view)
  const deduced = view.inferredBy === undefined ? "" : ` (≈ deduced by ${recordedWord(view.inferredBy, 40)})`
  const whole = view.prompt.budget === undefined ? "prompt" : "budget"
  const hasTiers = items.some(({ tier }) => tier !== undefined)
  const columnWords = `tokens, share of the ${whole}, ${hasTiers ? "tier, " : ""}kind, item type, item${view.manifest ? ", why, from where" : ""}`
  const heading = `saw, in order${deduced}: ${columnWords}`
  const compare = comparison(view)
  const row = (item: ContextItem): ContextRow => {
    const value = compare(item)
    return { section: "items", value, heading, text: (paint) => itemText(value, columns, paint) }
  }
  const stretches = isUnfolded ? [] : unchangedStretches(view)
  return items.flatMap((item): ContextRow[] => {
    const stretch = stretches.find(({ from, to }) => item.position >= from && item.position <= to)
    if (!stretch) return [row(item)]
    if (item.position !== stretch.from) return []
    return [{ section: "folded", value: stretch, heading, text: (paint) => foldedText(view, stretch, columns, paint) }]
  })
}

function comparison({ changes }: ContextView): (item: ContextItem) => SeenItem {
  if (!changes) return (item) => ({ ...item, change: undefined, excludedBefore: undefined })
  const added = new Map(changes.added.map(({ item, excludedBefore }) => [item, excludedBefore]))
  const changed = new Set(changes.changed.map(({ item }) => item))
  return (item) => ({
    ...item,
    change: added.has(item) ? "added" : changed.has(item) ? "changed" : "same",
    excludedBefore: added.get(item),
  })
}

/** From this many messages on that were there before, they are shown as one: the news is what came after them. */
const TOO_MANY = 4

function unchangedStretches({ items, changes, basis, prompt }: ContextView): FoldedItems[] {
  if (basis !== "request" || !changes) return []
  const news = new Set([...changes.added, ...changes.changed].map(({ item }) => item))
  const stretches: ContextItem[][] = []
  let open: ContextItem[] | undefined
  for (const item of items) {
    if (isMessage(item) && !news.has(item)) {
      if (open) open.push(item)
      else {
        open = [item]
        stretches.push(open)
      }
    } else open = undefined
  }
  return stretches
    .filter(({ length }) => length >= TOO_MANY)
    .map((stretch) => ({
      from: stretch[0]!.position,
      to: stretch.at(-1)!.position,
      tokens: prompt.tokens === undefined ? undefined : sum(stretch.map(({ tokens }) => tokens)),
      share: sum(stretch.map(({ share }) => share)),
    }))
}

const sum = (figures: readonly (number | undefined)[]): number =>
  figures.reduce<number>((all, one) => all + (one ?? 0), 0)

type Columns = ReturnType<typeof columnsOf>

function columnsOf({ items, prompt }: ContextView) {
  return {
    position: String(items.length).length,
    id: widestOf(items.map(({ id }) => recordedWord(id, LONGEST_ID))),
    kind: widestOf(items.map(({ kind }) => recordedWord(kind, 16))),
    type: widestOf(items.map(({ itemType }) => itemType)),
    reason: widestOf(items.map(({ reason }) => reason ?? "")),
    /** What a full bar stands for. */
    largest: items.reduce((most, { share }) => Math.max(most, share ?? 0), 0),
    isEstimated: prompt.areItemsEstimated,
  }
}

const widestOf = (words: readonly string[]): number =>
  words.reduce((most, word) => Math.max(most, displayWidth(word)), 0)

const BAR = 8

interface Figures {
  readonly tokens: number | undefined
  readonly share: number | undefined
  readonly change?: SeenItem["change"]
}

const SIGN = { added: { text: "+", role: "number" }, changed: { text: "~", role: "warn" } } as const

function figuresText(position: string, { tokens, share, change }: Figures, columns: Columns, paint: Painter): string {
  const bar = padToWidth(shareBar(columns.largest > 0 ? (share ?? 0) / columns.largest : 0, BAR), BAR)
  const size = `${columns.isEstimated && tokens !== undefined ? "≈" : ""}${formatCount(tokens)}`
  const percent = share === undefined ? "?" : formatPercent(share, 1)
  const at = padToWidth(position, columns.position, "left")
  const sign = change === "added" || change === "changed" ? paint(SIGN[change].text, SIGN[change].role) : " "
  return `${sign} ${paint(at, "dim")} ${paint(bar, "number")} ${padToWidth(size, 7, "left")} ${padToWidth(percent, 5, "left")} `
}

function itemText(item: SeenItem, columns: Columns, paint: Painter): string {
  const figures = figuresText(String(item.position), item, columns, paint)
  const words = [
    ...(item.tier === undefined ? [] : [`t${item.tier}`]),
    padToWidth(recordedWord(item.kind, 16), columns.kind),
    padToWidth(item.itemType, columns.type),
    padToWidth(recordedWord(item.id, LONGEST_ID), columns.id),
    ...(columns.reason > 0 ? [padToWidth(item.reason ?? "", columns.reason)] : []),
    ...(item.fromTokens === undefined ? [] : [paint(`cut from ${formatCount(item.fromTokens)}`, "warn")]),
    ...(item.excludedBefore === undefined ? [] : [`(left out before: ${item.excludedBefore})`]),
    ...contributorWords(item),
    ...(item.text === undefined || item.text === "" ? [] : [recordedText(item.text, 60)]),
  ]
  return `${figures} ${words.join("  ")}`.trimEnd()
}

/** From where an item of a manifest came; of a segment, its contributor is its name. */
function contributorWords({ id, contributor, sourceRef, reason }: ContextItem): string[] {
  if (sourceRef === undefined || (reason === undefined && sourceRef.startsWith("sha256:"))) return []
  const isSaid = contributor === id || sourceRef.startsWith(contributor)
  return [recordedWord(sourceRef, 60), ...(isSaid ? [] : [`by ${recordedWord(contributor, 32)}`])]
}

function foldedText({ changes }: ContextView, stretch: FoldedItems, columns: Columns, paint: Painter): string {
  const count = stretch.to - stretch.from + 1
  const figures = figuresText("…", stretch, columns, paint)
  const words = `${stretch.from}–${stretch.to}: ${count} messages as in ${changes ? sinceWord(changes) : "?"} (unfold: --all)`
  return `${figures} ${paint(words, "dim")}`
}

function missingRows({ missing }: ContextView): ContextRow[] {
  return missing.map((value) => ({
    section: "missing",
    value,
    heading: "told, but not in the request: the model did not read",
    text: (paint) => {
      const words = [recordedWord(value.kind, 16), value.itemType, paint(recordedWord(value.id, LONGEST_ID), "bad")]
      const from = value.sourceRef === undefined ? [] : [recordedWord(value.sourceRef, 60)]
      return `  ${[formatBytes(value.byteSize), ...words, ...from, ...textWords(value)].join("  ")}`
    },
  }))
}

function besideRows({ beside, manifest }: ContextView): ContextRow[] {
  const isTold = manifest?.made_by === "application"
  return beside.map((value) => ({
    section: "beside",
    value,
    heading: `and beside the ${isTold ? "items" : "compiled prompt"} (≈ deduced from the request):`,
    text: () => {
      const words = [formatBytes(value.byteSize), recordedWord(value.kind, 16), recordedWord(value.id, LONGEST_ID)]
      return `  ${[...words, ...textWords(value)].join("  ")}`
    },
  }))
}

function excludedRows({ excluded }: ContextView): ContextRow[] {
  if (!excluded || excluded.length === 0) return []
  const heading = `available, but left out (${reasonCounts(excluded)}):`
  const width = widestOf(excluded.map(({ id }) => recordedWord(id, LONGEST_ID)))
  const reasonWidth = widestOf(excluded.map(({ reason }) => reason))
  return excluded.map((value) => ({
    section: "excluded",
    value,
    heading,
    text: (paint) => {
      const words = [
        padToWidth(recordedWord(value.id, LONGEST_ID), width),
        padToWidth(value.itemType, 11),
        paint(padToWidth(value.reason, reasonWidth), "warn"),
        ...missedWords(value),
        ...(value.duplicateOf === undefined ? [] : [`of ${recordedWord(value.duplicateOf, LONGEST_ID)}`]),
        ...(value.detail === undefined ? [] : [recordedText(value.detail, 60)]),
        ...(value.sourceRef === undefined ? [] : [recordedWord(value.sourceRef, 60)]),
      ]
      return `  ${words.join("  ")}`
    },
  }))
}

/** What it was, and what it would have had to be: `score 0.157 < 0.5`, `4.1k tokens, 210 left`. */
function missedWords({ score, threshold, tokens, roomTokens }: ExcludedItem): string[] {
  const needed = threshold === undefined ? "" : ` < ${roundedScore(threshold)}`
  const room = roomTokens === undefined ? "" : `, ${formatCount(roomTokens)} left`
  return [
    ...(score === undefined ? [] : [`score ${roundedScore(score)}${needed}`]),
    ...(tokens === undefined ? [] : [`${formatCount(tokens)} tokens${room}`]),
  ]
}

/** `0.208`. */
export const roundedScore = (score: number): string => String(Number(score.toPrecision(3)))

/** `2 budget_limit, 1 duplicate`: most frequent first. */
export function reasonCounts(excluded: readonly ExcludedItem[]): string {
  const counts = new Map<string, number>()
  for (const { reason } of excluded) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ")
}

/** What is new stands among the items; what is gone, and what it was before, stands here. */
function changeRows(view: ContextView): ContextRow[] {
  const { changes } = view
  if (!changes) return []
  const heading = `no longer as in ${sinceWord(changes)}:`
  const name = (item: ContextItem): string =>
    [recordedWord(item.id, LONGEST_ID), recordedWord(item.kind, 16), ...textWords(item)].join("  ")
  return [
    ...changes.removed.map(
      (value): ContextRow => ({
        section: "removed",
        value,
        heading,
        text: (paint) =>
          `${paint("−", "bad")} ${name(value.item)}  ${sizeWords(view, value.item)}  (${goneWords(view, value)})`,
      }),
    ),
    ...changes.changed.map(
      (value): ContextRow => ({
        section: "changed",
        value,
        heading,
        text: (paint) =>
          `${paint("~", "warn")} ${name(value.item)}  ${sizeWords(view, value.before)} → ${sizeWords(view, value.item)}`,
      }),
    ),
  ]
}

/** Shares of two different wholes cannot be compared, bytes can. */
const sizeWords = ({ prompt }: ContextView, { tokens, byteSize }: ContextItem): string =>
  prompt.areItemsEstimated ? formatBytes(byteSize) : `${formatCount(tokens)} tokens`

const textWords = ({ text }: ContextItem): string[] =>
  text === undefined || text === "" ? [] : [recordedText(text, 48)]

function goneWords({ basis, changes }: ContextView, { item, excludedNow }: ContextChanges["removed"][number]): string {
  if (excludedNow !== undefined) return `left out now: ${excludedNow}`
  if (basis === "manifest") return "not even considered now"
  const loss = changes?.historyLoss
  return loss && isMessage(item) ? `≈ gone by ${loss.why}` : "gone"
}

function providerRows({ provider }: ContextView): ContextRow[] {
  return provider.map((value) => ({
    section: "provider",
    value,
    heading: "at the provider (≈ deduced from request and answer):",
    text: (paint) => {
      const id = value.id === undefined ? "" : ` ${recordedWord(value.id, 64)}`
      const counts = value.counts.map(({ name, count }) => `${recordedWord(name, 40)} ${formatCount(count)}`)
      const more = counts.length === 0 ? "" : ` (${counts.join(", ")})`
      return `  ${paint(PROVIDER_WORDS[value.role], value.role === "edited" ? "warn" : "dim")} ${recordedWord(value.what, 48)}${id}${more}`
    },
  }))
}

const PROVIDER_WORDS: Readonly<Record<ProviderContext["role"], string>> = {
  held: "adds what it holds:",
  may_edit: "may edit:",
  edited: "edited:",
}

function revisionRows({ revisions }: ContextView): ContextRow[] {
  return revisions.map((value) => ({
    section: "revisions",
    value,
    heading: "faults:",
    text: (paint) => {
      const artifacts = value.artifacts.map(
        ({ id, hash, sizeBytes }) => `${recordedWord(id, 40)} ${cutToWidth(hash, 19)} ${formatBytes(sizeBytes)}`,
      )
      const missing = value.missing.map((pointer) => `missing ${recordedWord(pointer, 60)}`)
      const more = [...artifacts, ...missing].map((line) => `\n      ${line}`).join("")
      const head = `revision ${value.revision}: ${paint(value.trigger, "bad")} ${recordedText(value.detail, LONGEST_TEXT)}`
      return `  ${head}${artifacts.length === 0 ? "" : ` · ${plural(artifacts.length, "artifact")}`}${more}`
    },
  }))
}
