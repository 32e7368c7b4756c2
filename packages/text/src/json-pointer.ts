import type { JsonNode } from "@orangebox/contract"

export interface PlacedNode {
  readonly node: JsonNode
  /** JSON Pointer from the root. */
  readonly pointer: string
}

/** Every value of a tree in the order it is written, with its pointer; walked with a list, because a body may be nested as deep as it likes. */
export function* nodesOf(root: JsonNode): Generator<PlacedNode> {
  const stack: PlacedNode[] = [{ node: root, pointer: "" }]
  for (;;) {
    const top = stack.pop()
    if (top === undefined) return
    yield top
    const { node, pointer } = top
    if (node.kind === "array") {
      for (let i = node.items.length - 1; i >= 0; i--) stack.push({ node: node.items[i]!, pointer: `${pointer}/${i}` })
    } else if (node.kind === "object") {
      for (let i = node.members.length - 1; i >= 0; i--) {
        const { key, value } = node.members[i]!
        stack.push({ node: value, pointer: `${pointer}/${escapePointer(key)}` })
      }
    }
  }
}

export const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1")
const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~")

export const pointerParts = (pointer: string): string[] =>
  pointer === "" ? [] : pointer.slice(1).split("/").map(unescapePointer)

/** The last member of that name, as every provider's parser reads it. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === "object" ? node.members.findLast((member) => member.key === key)?.value : undefined
}

export function stringAt(node: JsonNode | undefined, key: string): string | undefined {
  const value = memberOf(node, key)
  return value?.kind === "string" ? value.value : undefined
}

export function nodeAt(root: JsonNode, pointer: string): JsonNode | undefined {
  let node: JsonNode | undefined = root
  for (const part of pointerParts(pointer)) {
    if (node?.kind === "array") node = /^\d+$/.test(part) ? node.items[Number(part)] : undefined
    else node = memberOf(node, part)
  }
  return node
}

/** Whether a pattern such as `/messages/{n}/content` covers a pointer. `*` stands for one part; a final `**` for any number. */
export function pointerMatches(pattern: string, pointer: string): boolean {
  const wanted = pointerParts(pattern)
  const parts = pointerParts(pointer)
  if (wanted.at(-1) === "**") {
    wanted.pop()
    parts.length = Math.min(parts.length, wanted.length)
  }
  return wanted.length === parts.length && wanted.every((want, i) => want === "*" || want === parts[i])
}

/** A pointer with its positions in lists replaced by `*`: the same place in every request. */
export const pointerPattern = (pointer: string): string => pointer.replace(/\/\d+(?=\/|$)/g, "/*")

/** How many scalars a value holds; an empty list or object counts as one. */
export function leavesIn(root: JsonNode): number {
  let count = 0
  for (const { node } of nodesOf(root)) {
    if (node.kind === "array" ? node.items.length === 0 : node.kind === "object" ? node.members.length === 0 : true)
      count++
  }
  return count
}
