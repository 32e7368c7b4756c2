import type { JsonMember, JsonNode } from "@orangebox/contract"

type JsonObject = Extract<JsonNode, { kind: "object" }>
type JsonArray = Extract<JsonNode, { kind: "array" }>

/** Reading the lossless tree. Where a key is written twice the last one counts, as it does for every provider's parser. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  if (node?.kind !== "object") return undefined
  for (let i = node.members.length - 1; i >= 0; i--) {
    const member = node.members[i]!
    if (member.key === key) return member.value
  }
  return undefined
}

/** A value by one key or two: `at(root, "metadata", "user_id")`. Called for every part of every request, so without a list of keys. */
export function at(node: JsonNode | undefined, key: string, inner?: string): JsonNode | undefined {
  const found = memberOf(node, key)
  return inner === undefined ? found : memberOf(found, inner)
}

export function stringAt(node: JsonNode | undefined, key: string, inner?: string): string | null {
  const found = at(node, key, inner)
  return found?.kind === "string" ? found.value : null
}

export function numberAt(node: JsonNode | undefined, key: string): number | null {
  const found = memberOf(node, key)
  return found?.kind === "number" ? Number(found.lexeme) : null
}

export function booleanAt(node: JsonNode | undefined, key: string): boolean | null {
  const found = memberOf(node, key)
  return found?.kind === "literal" ? found.value : null
}

const NO_ITEMS: readonly JsonNode[] = []
export const itemsOf = (node: JsonNode | undefined): readonly JsonNode[] =>
  node?.kind === "array" ? node.items : NO_ITEMS
export const itemsAt = (node: JsonNode | undefined, key: string): readonly JsonNode[] => itemsOf(memberOf(node, key))

export const isPresent = (node: JsonNode | undefined): node is JsonNode =>
  node !== undefined && !(node.kind === "literal" && node.value === null)

/** A string that was not written: it stands where the one it was made from stood, and takes no place in the text. */
export const textNode = (value: string, place: JsonNode): JsonNode => ({
  kind: "string",
  start: place.start,
  end: place.start,
  value,
})
/** New lists and objects take the place of the ones they were made from. */
export const arrayNode = (items: readonly JsonNode[], place: JsonNode): JsonArray => ({
  kind: "array",
  start: place.start,
  end: place.end,
  items,
})
export const objectNode = (members: readonly JsonMember[], place: JsonNode): JsonObject => ({
  kind: "object",
  start: place.start,
  end: place.end,
  members,
})

/** Every string in a tree, in the order it is written, with the key it stands under; walked with a list, not with the call stack. */
export function* stringsOf(root: JsonNode): Generator<{ readonly key: string | null; readonly value: string }> {
  const stack: { key: string | null; node: JsonNode }[] = [{ key: null, node: root }]
  for (;;) {
    const top = stack.pop()
    if (top === undefined) return
    const { key, node } = top
    if (node.kind === "string") yield { key, value: node.value }
    else if (node.kind === "array") {
      for (let i = node.items.length - 1; i >= 0; i--) stack.push({ key, node: node.items[i]! })
    } else if (node.kind === "object") {
      for (let i = node.members.length - 1; i >= 0; i--) {
        const member = node.members[i]!
        stack.push({ key: member.key, node: member.value })
      }
    }
  }
}
