import { canonicalJsonNode, type JsonNode, readJson } from "@orangebox/contract"
import { Interner } from "./interner.js"
import { commonSubsequence } from "./myers.js"
import type { PayloadOp } from "./run-diff.js"
import { cut, diffTexts } from "./text-diff.js"

/** Operations listed; the rest is counted. */
const MAX_OPS = 40
const MAX_DEPTH = 64
const MAX_VALUE = 240
/** Arrays with more differences than this are compared place by place. */
const MAX_ARRAY_EDITS = 1_000
/** Strings longer than this are told by what differs in them. */
const LONG_TEXT = 80

export interface Ops {
  readonly ops: PayloadOp[]
  /** Operations that are not listed. */
  more: number
}

export const newOps = (): Ops => ({ ops: [], more: 0 })

/** A value of one side, with where it stands. */
interface Pair {
  readonly a: JsonNode | undefined
  readonly b: JsonNode | undefined
  readonly ptr: string
  readonly depth: number
}

/**
 * What leads from one JSON value to another. Objects by key; lists by what their items are known by (tools by name, documents by id,
 * content blocks by type), else by equal items.
 */
export function jsonOps(a: JsonNode | undefined, b: JsonNode | undefined, ptr: string, into: Ops): void {
  const waiting: Pair[] = [{ a, b, ptr, depth: 0 }]
  while (waiting.length > 0) {
    const pair = waiting.pop()!
    if (!pair.a || !pair.b) {
      put(into, {
        op: pair.a ? "remove" : "add",
        ptr: pair.ptr,
        a: shown(pair.a),
        b: shown(pair.b),
        text: null,
      })
      continue
    }
    const inside = pair.depth < MAX_DEPTH ? pairsInside(pair.a, pair.b, pair) : undefined
    if (inside) {
      for (let i = inside.length - 1; i >= 0; i--) waiting.push(inside[i]!)
    } else if (canonicalJsonNode(pair.a) !== canonicalJsonNode(pair.b)) {
      put(into, changeOf(pair.a, pair.b, pair.ptr))
    }
  }
}

export function textOp(a: string, b: string, ptr: string): PayloadOp {
  const isShort = a.length <= LONG_TEXT && b.length <= LONG_TEXT && !/\n/.test(a + b)
  return { op: "change", ptr, a: cut(a, MAX_VALUE), b: cut(b, MAX_VALUE), text: isShort ? null : diffTexts(a, b) }
}

export function put(into: Ops, op: PayloadOp): void {
  if (into.ops.length < MAX_OPS) into.ops.push(op)
  else into.more += 1
}

function changeOf(a: JsonNode, b: JsonNode, ptr: string): PayloadOp {
  if (a.kind === "string" && b.kind === "string") return textOp(a.value, b.value, ptr)
  return { op: "change", ptr, a: shown(a), b: shown(b), text: null }
}

function shown(node: JsonNode | undefined): string | null {
  if (!node) return null
  return cut(node.kind === "string" ? node.value : canonicalJsonNode(node), MAX_VALUE)
}

function pairsInside(a: JsonNode, b: JsonNode, at: Pair): Pair[] | undefined {
  if (a.kind === "object" && b.kind === "object") return pairsByKey(membersOf(a), membersOf(b), at)
  if (a.kind === "array" && b.kind === "array") return pairsOfItems(a.items, b.items, at)
  if (a.kind === "string" && b.kind === "string") {
    // Tool arguments are JSON inside JSON; pointers go on inside it.
    const [innerA, innerB] = [nested(a.value), nested(b.value)]
    return innerA && innerB ? [{ ...at, a: innerA, b: innerB, depth: at.depth + 1 }] : undefined
  }
  return undefined
}

function nested(text: string): JsonNode | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const reading = readJson(text)
  return reading.ok ? reading.node : undefined
}

type Entry = readonly [key: string, node: JsonNode]

const membersOf = (object: Extract<JsonNode, { kind: "object" }>): Entry[] =>
  object.members.map(({ key, value }) => [key, value])

/** Of a key that is written twice, the first goes with the first and the second with the second. */
function pairsByKey(a: readonly Entry[], b: readonly Entry[], { ptr, depth }: Pair): Pair[] {
  const rest = new Map<string, JsonNode[]>()
  for (const [key, node] of b) {
    const nodes = rest.get(key)
    if (nodes) nodes.push(node)
    else rest.set(key, [node])
  }
  const place = (key: string) => ({ ptr: `${ptr}/${escaped(key)}`, depth: depth + 1 })
  const pairs = a.map(([key, node]): Pair => ({ a: node, b: rest.get(key)?.shift(), ...place(key) }))
  for (const [key, nodes] of rest) for (const node of nodes) pairs.push({ a: undefined, b: node, ...place(key) })
  return pairs
}

function pairsOfItems(a: readonly JsonNode[], b: readonly JsonNode[], at: Pair): Pair[] {
  const keysA = keysOf(a)
  const keysB = keysOf(b)
  if (keysA && keysB) {
    const places = new Map(keysB.map((key, index) => [key, index]))
    const pairs: Pair[] = a.map((node, i) => {
      const j = places.get(keysA[i]!)
      places.delete(keysA[i]!)
      return { a: node, b: j === undefined ? undefined : b[j], ptr: `${at.ptr}/${i}`, depth: at.depth + 1 }
    })
    for (const j of places.values()) pairs.push({ a: undefined, b: b[j], ptr: `${at.ptr}/${j}`, depth: at.depth + 1 })
    return pairs
  }
  return pairsByContent(a, b, at)
}

/** Equal items belong together; what stands between two of them is told side by side. */
function pairsByContent(a: readonly JsonNode[], b: readonly JsonNode[], at: Pair): Pair[] {
  const interner = new Interner()
  const hash = (node: JsonNode): number => interner.of(canonicalJsonNode(node))
  const equal = commonSubsequence(a.map(hash), b.map(hash), MAX_ARRAY_EDITS) ?? []
  const pairs: Pair[] = []
  let i = 0
  let j = 0
  for (const [nextA, nextB] of [...equal, [a.length, b.length] as const]) {
    while (i < nextA || j < nextB) {
      const [nodeA, nodeB] = [i < nextA ? a[i] : undefined, j < nextB ? b[j] : undefined]
      pairs.push({ a: nodeA, b: nodeB, ptr: `${at.ptr}/${nodeA ? i : j}`, depth: at.depth + 1 })
      if (nodeA) i++
      if (nodeB) j++
    }
    i = nextA + 1
    j = nextB + 1
  }
  return pairs
}

/** What items are known by, if each has its own: a name (tools), an id (documents), or its type and turn (content blocks). */
function keysOf(items: readonly JsonNode[]): string[] | undefined {
  if (items.length === 0) return []
  for (const keyOf of [nameOf, idOf]) {
    const keys = items.map(keyOf)
    if (keys.every((key) => key !== undefined) && new Set(keys).size === keys.length) return keys as string[]
  }
  const types = items.map((item) => stringIn(item, "type"))
  if (types.some((type) => type === undefined)) return undefined
  const turns = new Map<string, number>()
  return types.map((type) => {
    const turn = turns.get(type!) ?? 0
    turns.set(type!, turn + 1)
    return `${type}#${turn}`
  })
}

function nameOf(item: JsonNode): string | undefined {
  const inner = item.kind === "object" ? item.members.find(({ key }) => key === "function")?.value : undefined
  return stringIn(item, "name") ?? (inner && stringIn(inner, "name"))
}

const ID_NAMES = ["chunk_id", "document_id", "id", "uri", "url"]

function idOf(item: JsonNode): string | undefined {
  for (const name of ID_NAMES) {
    const id = stringIn(item, name)
    if (id !== undefined) return id
  }
  return undefined
}

function stringIn(item: JsonNode, name: string): string | undefined {
  if (item.kind !== "object") return undefined
  const value = item.members.find(({ key }) => key === name)?.value
  return value?.kind === "string" ? value.value : undefined
}

export const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")
