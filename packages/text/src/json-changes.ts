import { canonicalJsonNode, type JsonMember, type JsonNode, readJson } from "@orangebox/contract"

/** One place where two JSON texts differ. */
export interface JsonChange {
  /** JSON Pointer: into the first text for what changed or went, into the second for what came. */
  readonly pointer: string
  readonly kind: "added" | "removed" | "changed"
  /** The values as they were written. */
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * What changed from one JSON text to another, leaf by leaf, in the order of the first. Key order and spacing are no change. Elements of
 * arrays are matched by their content first, so that one inserted message does not make all later ones look different.
 * Undefined when either text is not JSON.
 */
export function jsonChanges(before: string, after: string): readonly JsonChange[] | undefined {
  const first = readJson(before)
  const second = readJson(after)
  if (!first.ok || !second.ok) return undefined
  const changes: JsonChange[] = []
  const textOf = (node: JsonNode, text: string): string => text.slice(node.start, node.end)
  const waiting: Pair[] = [{ before: first.node, after: second.node, pointer: "", depth: 0 }]

  // Depth first with a stack of our own; children are pushed last to first, so that they come off in order.
  while (waiting.length > 0) {
    const pair = waiting.pop()!
    if (!pair.before || !pair.after) {
      changes.push({
        pointer: pair.pointer,
        kind: pair.before ? "removed" : "added",
        before: pair.before && textOf(pair.before, before),
        after: pair.after && textOf(pair.after, after),
      })
      continue
    }
    const inside = pair.depth < DEEPEST ? pairsInside(pair.before, pair.after, pair) : undefined
    if (inside) {
      for (let i = inside.length - 1; i >= 0; i--) waiting.push(inside[i]!)
    } else if (canonicalJsonNode(pair.before) !== canonicalJsonNode(pair.after)) {
      changes.push({
        pointer: pair.pointer,
        kind: "changed",
        before: textOf(pair.before, before),
        after: textOf(pair.after, after),
      })
    }
  }
  return changes
}

interface Pair {
  readonly before: JsonNode | undefined
  readonly after: JsonNode | undefined
  readonly pointer: string
  readonly depth: number
}

// Matching items reads all that is below them, at every level: without an end to it, hostile nesting would cost its square.
const DEEPEST = 128

type Place = Pick<Pair, "pointer" | "depth">

function pairsInside(before: JsonNode, after: JsonNode, { pointer, depth }: Place): Pair[] | undefined {
  if (before.kind === "object" && after.kind === "object")
    return pairsOfMembers(before.members, after.members, { pointer, depth })
  if (before.kind === "array" && after.kind === "array")
    return pairsOfItems(before.items, after.items, { pointer, depth })
  return undefined
}

/** By key; of a key that is written twice, the first with the first and the second with the second. */
function pairsOfMembers(
  before: readonly JsonMember[],
  after: readonly JsonMember[],
  { pointer, depth }: Place,
): Pair[] {
  const rest = new Map<string, JsonNode[]>()
  for (const { key, value } of after) {
    const values = rest.get(key)
    if (values) values.push(value)
    else rest.set(key, [value])
  }
  const place = (key: string): Place => ({ pointer: `${pointer}/${escaped(key)}`, depth: depth + 1 })
  const pairs = before.map(({ key, value }): Pair => ({ before: value, after: rest.get(key)?.shift(), ...place(key) }))
  for (const [key, values] of rest)
    for (const value of values) pairs.push({ before: undefined, after: value, ...place(key) })
  return pairs
}

/** Equal heads and tails are matched, then what is left in the middle side by side. */
function pairsOfItems(before: readonly JsonNode[], after: readonly JsonNode[], { pointer, depth }: Place): Pair[] {
  const a = before.map((item) => canonicalJsonNode(item))
  const b = after.map((item) => canonicalJsonNode(item))
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const pairs: Pair[] = []
  const middle = Math.max(a.length, b.length) - head - tail
  for (let i = head; i < head + middle; i++) {
    pairs.push({
      before: i < a.length - tail ? before[i] : undefined,
      after: i < b.length - tail ? after[i] : undefined,
      pointer: `${pointer}/${i}`,
      depth: depth + 1,
    })
  }
  return pairs
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")
