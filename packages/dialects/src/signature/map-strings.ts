import type { JsonNode } from "@orangebox/contract"
import { arrayNode, objectNode, textNode } from "../json/node.js"

/** The tree with every string value replaced; keys stay. Walked with a list, because a body may be nested as deep as it likes. */
export function mapStrings(root: JsonNode, map: (text: string) => string): JsonNode {
  const results: JsonNode[] = []
  const work: { node: JsonNode; isRebuild: boolean }[] = [{ node: root, isRebuild: false }]
  for (;;) {
    const next = work.pop()
    if (next === undefined) return results[0]!
    const { node } = next
    if (next.isRebuild) results.push(rebuild(node, results))
    else if (node.kind === "string") results.push(textNode(map(node.value), node))
    else if (node.kind === "array" || node.kind === "object") {
      work.push({ node, isRebuild: true })
      const children = node.kind === "array" ? node.items : node.members.map((member) => member.value)
      for (let i = children.length - 1; i >= 0; i--) work.push({ node: children[i]!, isRebuild: false })
    } else results.push(node)
  }
}

function rebuild(node: JsonNode, results: JsonNode[]): JsonNode {
  if (node.kind === "array") return arrayNode(take(results, node.items.length), node)
  if (node.kind !== "object") return node
  const values = take(results, node.members.length)
  return objectNode(
    node.members.map((member, index) => ({ key: member.key, value: values[index]! })),
    node,
  )
}

const take = (results: JsonNode[], count: number): JsonNode[] => results.splice(results.length - count, count)
