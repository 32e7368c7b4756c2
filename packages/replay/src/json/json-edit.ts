import type { JsonNode } from "@orangebox/contract"
import type { Splice } from "@orangebox/dialects"

// Edits of a JSON text that touch nothing but what they are about: whatever stands around it keeps its bytes.

export { type Splice, spliced } from "@orangebox/dialects"

export type JsonObjectNode = Extract<JsonNode, { kind: "object" }>
export type JsonArrayNode = Extract<JsonNode, { kind: "array" }>

/** Takes items out of a list along with the commas that go with them. */
export function removeItems(array: JsonArrayNode, indexes: ReadonlySet<number>): Splice[] {
  return removals(
    array.items.map(({ start, end }) => ({ start, end })),
    indexes,
  )
}

export function removeMembers(text: string, object: JsonObjectNode, keys: ReadonlySet<string>): Splice[] {
  const spans = memberSpans(text, object)
  const indexes = new Set(object.members.flatMap(({ key }, index) => (keys.has(key) ? [index] : [])))
  return removals(spans, indexes)
}

// A run of neighbours goes up to the start of the next one kept; at the end of the list it takes the comma before it along instead.
function removals(
  spans: readonly { readonly start: number; readonly end: number }[],
  indexes: ReadonlySet<number>,
): Splice[] {
  const splices: Splice[] = []
  for (let first = 0; first < spans.length; first++) {
    if (!indexes.has(first)) continue
    let last = first
    while (indexes.has(last + 1)) last++
    const next = spans[last + 1]
    const before = spans[first - 1]
    if (next) splices.push({ start: spans[first]!.start, end: next.start, with: "" })
    else splices.push({ start: before ? before.end : spans[first]!.start, end: spans[last]!.end, with: "" })
    first = last
  }
  return splices
}

/** Where each member stands, key included. */
function memberSpans(text: string, object: JsonObjectNode): { start: number; end: number }[] {
  let from = object.start + 1
  return object.members.map(({ value }, index) => {
    if (index > 0) from = text.indexOf(",", from) + 1
    while (/\s/.test(text[from] ?? "")) from++
    const span = { start: from, end: value.end }
    from = value.end
    return span
  })
}

/** Gives a member a value: the last of that name, which is the one that counts, or a new one at the end. */
export function setMember(object: JsonObjectNode, key: string, json: string): Splice {
  const existing = object.members.findLast((member) => member.key === key)
  if (existing) return { start: existing.value.start, end: existing.value.end, with: json }
  const last = object.members.at(-1)
  const at = last ? last.value.end : object.start + 1
  return { start: at, end: at, with: `${last ? "," : ""}${JSON.stringify(key)}:${json}` }
}

export function insertItem(array: JsonArrayNode, index: number, json: string): Splice {
  const next = array.items[index]
  if (next) return { start: next.start, end: next.start, with: `${json},` }
  const last = array.items.at(-1)
  const at = last ? last.end : array.start + 1
  return { start: at, end: at, with: `${last ? "," : ""}${json}` }
}
