import type { JsonNode } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { arrayNode, memberOf, objectNode, stringAt, textNode } from "../json/node.js"
import {
  type Canon,
  type MemberRule,
  newCanon,
  nonsemanticTable,
  type RuleTable,
  sortedByName,
} from "../signature/canon.js"
import type { IdNaming } from "../signature/id-naming.js"
import { withoutBillingLine } from "./billing-line.js"

export function canonicalAnthropic(root: JsonNode, ids: IdNaming): CanonicalRequest {
  const canon = newCanon(ids)
  const block = blockRule(canon, 0)
  const table: RuleTable = {
    ...nonsemanticTable(canon),
    // A question to the provider's cache about the message before: another id each time, and nothing the model sees.
    diagnostics: canon.drop,
    metadata: metadataRule(canon),
    container: (value, pointer) =>
      value.kind === "string"
        ? canon.producerId(value, pointer)
        : canon.object({ id: canon.producerId })(value, pointer),
    system: systemRule(canon),
    tools: (value, pointer) => {
      const tools = canon.items(canon.object({ cache_control: canon.drop }))(value, pointer)
      return tools && sortedByName(tools, (tool) => stringAt(tool, "name"))
    },
    messages: canon.items(canon.object({ content: canon.items(block) })),
  }
  return { body: canon.object(table)(root, "") ?? root, nonsemantic: canon.nonsemantic }
}

function metadataRule(canon: Canon): MemberRule {
  return (value, pointer) => {
    const kept = canon.object({ user_id: canon.drop })(value, pointer)
    return kept?.kind === "object" && kept.members.length === 0 ? undefined : kept
  }
}

function systemRule(canon: Canon): MemberRule {
  const strip = (node: JsonNode, pointer: string): JsonNode | undefined => {
    if (node.kind !== "string") return node
    const rest = withoutBillingLine(node.value)
    if (rest === node.value) return node
    canon.drop(node, pointer)
    return rest === "" ? undefined : textNode(rest, node)
  }
  const stripBlock: MemberRule = (node, pointer) => {
    const plain = canon.object({ cache_control: canon.drop })(node, pointer)
    const text = memberOf(plain, "text")
    if (plain?.kind !== "object" || text === undefined) return plain
    const rest = strip(text, `${pointer}/text`)
    if (rest === undefined) return undefined
    return objectNode(
      plain.members.map((member) => (member.key === "text" ? { key: "text", value: rest } : member)),
      plain,
    )
  }
  return (value, pointer) => {
    if (value.kind !== "array") return strip(value, pointer)
    const blocks = canon.items(stripBlock)(value, pointer)
    const isEmptied = blocks?.kind === "array" && blocks.items.length === 0
    return isEmptied && value.items.length > 0 ? undefined : (blocks ?? arrayNode([], value))
  }
}

const CALLS = new Set(["tool_use", "server_tool_use", "mcp_tool_use"])

// Results hold blocks, and documents hold blocks; nothing legal goes deeper than this.
const DEEPEST = 4

function blockRule(canon: Canon, depth: number): MemberRule {
  return (node, pointer) => {
    const type = stringAt(node, "type") ?? ""
    const nested: MemberRule = (value, at) => {
      if (depth >= DEEPEST) return value
      const rule = blockRule(canon, depth + 1)
      return value.kind === "array" ? canon.items(rule)(value, at) : rule(value, at)
    }
    const table: Record<string, MemberRule> = {
      cache_control: canon.drop,
      tool_use_id: canon.callId,
      encrypted_content: canon.opaque,
      encrypted_index: canon.opaque,
      encrypted_stdout: canon.opaque,
      file_id: canon.producerId,
      caller: canon.object({ tool_id: canon.callId }),
      content: nested,
      citations: nested,
    }
    if (CALLS.has(type)) table["id"] = canon.callId
    if (type === "thinking") table["signature"] = canon.opaque
    if (type === "redacted_thinking") table["data"] = canon.opaque
    if (type === "image" || type === "document") {
      table["source"] = (source, at) => {
        const data = stringAt(source, "type") === "base64" ? canon.media : (value: JsonNode) => value
        return canon.object({ data, file_id: canon.producerId, content: nested })(source, at)
      }
    }
    return canon.object(table)(node, pointer)
  }
}
