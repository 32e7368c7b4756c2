import { blocksOf, type HistoryPart, historyOf, historyParts } from "@orangebox/dialects"
import { type JsonArrayNode, removeItems, type Splice } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"
import { inMessages, type MessageAnchor } from "./message-anchor.js"
import { inJson, type RequestEdit, refused } from "./request-edit.js"

/** Takes messages out of the history, and with a tool call its result, and with a result its call. */
export function dropMessages(
  request: AskedRequest,
  anchors: readonly MessageAnchor[],
  pairing: "refuse" | "drop_pair",
): RequestEdit {
  return inMessages(request, anchors, (_text, history, messages) => {
    const { parts } = historyParts(history)
    const wanted = new Set(messages.map(({ index }) => index))
    const dropped = new Set(parts.filter((part) => wanted.has(part.item)))
    const partners = partnersOf(parts, dropped)
    if (partners.size > 0 && pairing === "refuse") {
      return refused("it holds a tool call or a result whose other half would stay behind; use drop_pair")
    }
    return removeParts(history, [...dropped, ...partners])
  })
}

/** Another model, or the same on another platform, cannot verify these blocks. */
export function stripReasoning(request: AskedRequest): RequestEdit {
  const stripped = inJson(request, (_text, root) => {
    const history = historyOf(root)
    if (!history) return []
    const { parts } = historyParts(history)
    return removeParts(
      history,
      parts.filter(({ isReasoning }) => isReasoning),
    )
  })
  return stripped.ok ? { ...stripped, strippedReasoning: stripped.isChanged } : stripped
}

/** The other halves of what is dropped: providers refuse a result without its call, and a call without its result. */
function partnersOf(parts: readonly HistoryPart[], dropped: ReadonlySet<HistoryPart>): Set<HistoryPart> {
  const partners = new Set<HistoryPart>()
  for (;;) {
    const gone = [...dropped, ...partners]
    const calls = new Set(gone.flatMap((part) => part.calls))
    const answered = new Set(gone.map((part) => part.answers))
    const found = parts.filter(
      (part) =>
        !dropped.has(part) &&
        !partners.has(part) &&
        ((part.answers !== undefined && calls.has(part.answers)) || part.calls.some((id) => answered.has(id))),
    )
    if (found.length === 0) return partners
    for (const part of found) partners.add(part)
  }
}

/** Takes parts out; a message none of whose blocks stays goes as a whole. */
function removeParts(history: JsonArrayNode, parts: readonly HistoryPart[]): Splice[] {
  const items = new Set<number>()
  const blocks = new Map<number, Set<number>>()
  for (const { item, block } of parts) {
    if (block === undefined) items.add(item)
    else blocks.set(item, (blocks.get(item) ?? new Set()).add(block))
  }
  const splices: Splice[] = []
  for (const [item, indexes] of blocks) {
    const list = blocksOf(history.items[item]!)
    if (!list || indexes.size === list.items.length) items.add(item)
    else splices.push(...removeItems(list, indexes))
  }
  return [...removeItems(history, items), ...splices]
}
