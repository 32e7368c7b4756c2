import { canonicalJsonNode, type JsonMember, type JsonNode } from "@orangebox/contract"
import { commonSubsequence, Interner } from "./common-subsequence.js"
import { escapePointer, memberOf, stringAt } from "./json-pointer.js"

/** One place where two JSON values differ. */
export interface JsonChange {
  /** JSON Pointer: into the second value for what came, into the first for the rest. */
  readonly pointer: string
  readonly kind: "added" | "removed" | "changed" | "moved"
  readonly before: JsonNode | undefined
  readonly after: JsonNode | undefined
  /** Where it stands in the second value; only of what moved. */
  readonly to?: string
}

/**
 * What leads from one JSON value to another, leaf by leaf, in the order of the first. Key order, spacing and the spelling of numbers are no
 * change; numbers differ by their digits, however many. Items of lists are known by their name (tools) or id (documents), else by being equal,
 * so that one inserted message does not make all later ones look different.
 *
 *     for (const { kind, pointer } of jsonDifference(before.node, after.node)) console.log(kind, pointer)
 *
 * @param at where the two values stand in what holds them
 */
export function* jsonDifference(
  from: JsonNode | undefined,
  into: JsonNode | undefined,
  at = "",
): Generator<JsonChange> {
  for (const { before, after, pointer, to, isLeaf } of jsonPairs(from, into, at, "differing")) {
    if (!before || !after) {
      if (before || after) yield { pointer, kind: before ? "removed" : "added", before, after }
      continue
    }
    if (to !== undefined) yield { pointer, kind: "moved", before, after, to }
    if (isLeaf && canonicalJsonNode(before) !== canonicalJsonNode(after)) {
      yield { pointer, kind: "changed", before, after }
    }
  }
}

/** One place where two JSON values are the same value and were written in other words. */
export interface JsonSpelling {
  /** Into the first value. */
  readonly pointer: string
  /** `key_order`: the keys that both have stand in another order. `spelling`: another lexeme for one number or string. */
  readonly kind: "key_order" | "spelling"
  readonly before: string
  readonly after: string
}

/** What differs between the texts of two JSON values without being a change: see `jsonDifference` for those. Spacing is not looked at. */
export function* jsonSpelling(
  before: { readonly node: JsonNode; readonly text: string },
  after: { readonly node: JsonNode; readonly text: string },
): Generator<JsonSpelling> {
  for (const pair of jsonPairs(before.node, after.node, "", "all")) {
    const { pointer } = pair
    if (!pair.before || !pair.after) continue
    if (pair.before.kind === "object" && pair.after.kind === "object") {
      const keys = keysInBoth(pair.before.members, pair.after.members)
      const keysAfter = keysInBoth(pair.after.members, pair.before.members)
      if (keys.join("\n") !== keysAfter.join("\n"))
        yield { pointer, kind: "key_order", before: keys.join(","), after: keysAfter.join(",") }
    } else if (pair.isLeaf && canonicalJsonNode(pair.before) === canonicalJsonNode(pair.after)) {
      const written = before.text.slice(pair.before.start, pair.before.end)
      const writtenAfter = after.text.slice(pair.after.start, pair.after.end)
      if (written !== writtenAfter) yield { pointer, kind: "spelling", before: written, after: writtenAfter }
    }
  }
}

function keysInBoth(members: readonly JsonMember[], others: readonly JsonMember[]): string[] {
  const known = new Set(others.map(({ key }) => key))
  return members.filter(({ key }) => known.has(key)).map(({ key }) => key)
}

/**
 * Every value of the first that has its counterpart in the second, from the top down, and every value that has none. Items of lists that are
 * equal, which is most of a long history, only for the caller who asks for all: equal values may be written otherwise.
 */
function* jsonPairs(
  before: JsonNode | undefined,
  after: JsonNode | undefined,
  pointer: string,
  items: "differing" | "all",
): Generator<Pair & { readonly isLeaf: boolean }> {
  // Depth first with a stack of our own; children are pushed last to first, so that they come off in order.
  const waiting: Pair[] = [{ before, after, pointer, depth: 0 }]
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const { before, after, depth, to } = pair
    const inside = before && after && depth < DEEPEST ? pairsInside(before, after, pair, items === "all") : undefined
    yield {
      before,
      after,
      pointer: pair.pointer,
      depth,
      isLeaf: inside === undefined,
      ...(to === undefined ? {} : { to }),
    }
    for (let i = (inside?.length ?? 0) - 1; i >= 0; i--) waiting.push(inside![i]!)
  }
}

interface Pair {
  readonly before: JsonNode | undefined
  readonly after: JsonNode | undefined
  readonly pointer: string
  readonly depth: number
  readonly to?: string
}

// Matching items reads all that is below them, at every level: without an end to it, hostile nesting would cost its square.
const DEEPEST = 128
/** Lists with more differences than this are compared place by place. */
const MAX_EDITS = 1_000

function pairsInside(before: JsonNode, after: JsonNode, at: Pair, withEqual: boolean): Pair[] | undefined {
  if (before.kind === "object" && after.kind === "object") return pairsOfMembers(before.members, after.members, at)
  if (before.kind === "array" && after.kind === "array")
    return pairsByKey(before.items, after.items, at) ?? pairsByContent(before.items, after.items, at, withEqual)
  return undefined
}

/** By key; of a key that is written twice, the first with the first and the second with the second. */
function pairsOfMembers(before: readonly JsonMember[], after: readonly JsonMember[], at: Pair): Pair[] {
  const rest = new Map<string, JsonNode[]>()
  for (const { key, value } of after) {
    const values = rest.get(key)
    if (values) values.push(value)
    else rest.set(key, [value])
  }
  const pairs = before.map(({ key, value }) => pairAt(at, escapePointer(key), value, rest.get(key)?.shift()))
  for (const [key, values] of rest)
    for (const value of values) pairs.push(pairAt(at, escapePointer(key), undefined, value))
  return pairs
}

const pairAt = (
  { pointer, depth }: Pair,
  part: string | number,
  before: JsonNode | undefined,
  after: JsonNode | undefined,
): Pair => ({ before, after, pointer: `${pointer}/${part}`, depth: depth + 1 })

/** Items that each have a name or an id of their own, wherever they stand. */
function pairsByKey(before: readonly JsonNode[], after: readonly JsonNode[], at: Pair): Pair[] | undefined {
  const keys = keysOf(before)
  const named = keysOf(after)
  if (!keys || !named) return undefined
  const keysAfter = throughRenaming(before, keys, after, named)
  const places = new Map(keysAfter.map((key, place) => [key, place]))
  const known = new Set(keys)
  const stayed = inOrder(
    keys.filter((key) => places.has(key)),
    keysAfter.filter((key) => known.has(key)),
  )
  const pairs = before.map((node, i): Pair => {
    const place = places.get(keys[i]!)
    if (place === undefined) return pairAt(at, i, node, undefined)
    const pair = pairAt(at, i, node, after[place])
    return stayed.has(keys[i]!) ? pair : { ...pair, to: `${at.pointer}/${place}` }
  })
  for (const [key, place] of places) if (!known.has(key)) pairs.push(pairAt(at, place, undefined, after[place]))
  return pairs
}

/** An item that differs in nothing but its name goes by its old one; another id is another item. */
function throughRenaming(
  before: readonly JsonNode[],
  keys: readonly string[],
  after: readonly JsonNode[],
  keysAfter: readonly string[],
): readonly string[] {
  const [known, knownAfter] = [new Set(keys), new Set(keysAfter)]
  const oldNames = new Map<string, string[]>()
  const apartFromName = (item: JsonNode, key: string): string =>
    canonicalJsonNode(item).replaceAll(JSON.stringify(key), "")
  for (const [i, key] of keys.entries()) {
    if (knownAfter.has(key) || nameOf(before[i]!) !== key) continue
    const rest = apartFromName(before[i]!, key)
    oldNames.set(rest, [...(oldNames.get(rest) ?? []), key])
  }
  if (oldNames.size === 0) return keysAfter
  return keysAfter.map((key, i) =>
    known.has(key) ? key : (oldNames.get(apartFromName(after[i]!, key))?.shift() ?? key),
  )
}

function inOrder(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const interner = new Interner()
  const kept = commonSubsequence(
    before.map((key) => interner.of(key)),
    after.map((key) => interner.of(key)),
    MAX_EDITS,
  )
  return new Set(kept?.map(([place]) => before[place]!))
}

/** Equal items belong together; what stands between two of them belongs together by type (content blocks), else side by side. */
function pairsByContent(before: readonly JsonNode[], after: readonly JsonNode[], at: Pair, withEqual: boolean): Pair[] {
  const interner = new Interner()
  const numbered = (items: readonly JsonNode[]): number[] => items.map((item) => interner.of(canonicalJsonNode(item)))
  const equal = commonSubsequence(numbered(before), numbered(after), MAX_EDITS) ?? []
  const pairs: Pair[] = []
  let i = 0
  let j = 0
  for (const [nextI, nextJ] of [...equal, [before.length, after.length] as const]) {
    for (const [x, y] of pairsBetween(before.slice(i, nextI), after.slice(j, nextJ)))
      pairs.push(
        pairAt(
          at,
          x === undefined ? j + y! : i + x,
          x === undefined ? undefined : before[i + x],
          y === undefined ? undefined : after[j + y],
        ),
      )
    if (withEqual && nextI < before.length) pairs.push(pairAt(at, nextI, before[nextI], after[nextJ]))
    i = nextI + 1
    j = nextJ + 1
  }
  return pairs
}

type Places = readonly [number | undefined, number | undefined]

function pairsBetween(before: readonly JsonNode[], after: readonly JsonNode[]): Places[] {
  const interner = new Interner()
  const types = (items: readonly JsonNode[]): number[] => items.map((item) => interner.of(stringAt(item, "type") ?? ""))
  const alike = commonSubsequence(types(before), types(after), MAX_EDITS) ?? []
  const pairs: Places[] = []
  let i = 0
  let j = 0
  for (const [nextI, nextJ] of [...alike, [before.length, after.length] as const]) {
    while (i < nextI) pairs.push([i++, undefined])
    while (j < nextJ) pairs.push([undefined, j++])
    if (nextI < before.length && nextJ < after.length) pairs.push([nextI, nextJ])
    i = nextI + 1
    j = nextJ + 1
  }
  return pairs
}

function keysOf(items: readonly JsonNode[]): string[] | undefined {
  for (const keyOf of [nameOf, idOf]) {
    const keys = items.map(keyOf)
    if (keys.every((key) => key !== undefined) && new Set(keys).size === keys.length) return keys as string[]
  }
  return undefined
}

const nameOf = (item: JsonNode): string | undefined =>
  stringAt(item, "name") ?? stringAt(memberOf(item, "function"), "name")

const ID_NAMES = ["chunk_id", "document_id", "id", "uri", "url"]

function idOf(item: JsonNode): string | undefined {
  for (const name of ID_NAMES) {
    const id = stringAt(item, name)
    if (id !== undefined) return id
  }
  return undefined
}
