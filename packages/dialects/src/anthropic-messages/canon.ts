import type { JsonNode } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { arrayNode, memberOf, objectNode, stringAt, textNode } from "../json/node.js"
import type { BodyNotes } from "../memory/notes.js"
import {
  type Canon,
  later,
  type MemberRule,
  newCanon,
  nonsemanticTable,
  type RuleTable,
  sortedByName,
} from "../signature/canon.js"
import type { IdNaming } from "../signature/id-naming.js"
import { withoutBillingLine } from "./billing-line.js"

export function canonicalAnthropic(root: JsonNode, ids: IdNaming, notes?: BodyNotes): CanonicalRequest {
  const canon = newCanon(ids, notes)
  const block = later(() => blockRule(canon, 0))
  const table: RuleTable = {
    ...nonsemanticTable(canon),
    // A question to the provider's cache about the message before: another id each time, and nothing the model sees.
    diagnostics: canon.drop,
    metadata: metadataRule(canon),
    container: (value, pointer) =>
      value.kind === "string"
        ? canon.producerId(value, pointer)
        : canon.object({ id: canon.producerId })(value, pointer),
    system: canon.piece(systemRule(canon)),
    tools: canon.piece((value, pointer) => {
      const tools = canon.items(canon.object({ cache_control: canon.drop }))(value, pointer)
      return tools && sortedByName(tools, (tool) => stringAt(tool, "name"))
    }),
    messages: canon.items(canon.piece(canon.object({ content: canon.items(block) }))),
  }
  return canon.request(canon.object(table)(root, ""), root)
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

// Results hold blocks, and documents hold blocks; nothing legal goes deeper than this.
const DEEPEST = 4

const keep: MemberRule = (value) => value

/** One table per type of block, made once per request and depth: a long history has thousands of blocks, most of them with none inside. */
function blockRule(canon: Canon, depth: number): MemberRule {
  const inner = later(() => (depth < DEEPEST ? blockRule(canon, depth + 1) : keep))
  const innerItems = canon.items(inner)
  const nested: MemberRule = (value, pointer) =>
    value.kind === "array" ? innerItems(value, pointer) : inner(value, pointer)
  const source: MemberRule = (value, pointer) => {
    const data = stringAt(value, "type") === "base64" ? canon.media : keep
    return canon.object({ data, file_id: canon.producerId, content: nested })(value, pointer)
  }
  const any: RuleTable = {
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
  const call = canon.object({ ...any, id: canon.callId })
  const media = canon.object({ ...any, source })
  const byType: Readonly<Record<string, MemberRule>> = {
    tool_use: call,
    server_tool_use: call,
    mcp_tool_use: call,
    thinking: canon.object({ ...any, signature: canon.opaque }),
    redacted_thinking: canon.object({ ...any, data: canon.opaque }),
    image: media,
    document: media,
  }
  const other = canon.object(any)
  return (node, pointer) => {
    const type = stringAt(node, "type") ?? ""
    const rule = Object.hasOwn(byType, type) ? byType[type]! : other
    return rule(node, pointer)
  }
}
