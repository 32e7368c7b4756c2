import { canonicalJsonNode, type JsonNode, textHash } from "@orangebox/contract"
import { memberOf, nodesOf, stringAt } from "@orangebox/text"
import type { JsonArrayNode } from "./json-edit.js"

type JsonString = Extract<JsonNode, { kind: "string" }>

const HISTORY_KEYS = ["messages", "input", "contents"] as const
const SYSTEM_KEYS = ["system", "instructions", "systemInstruction", "system_instruction"] as const
const SYSTEM_ROLES = new Set(["system", "developer"])

/** The list of what was said so far, whatever the dialect calls it. */
export function historyOf(root: JsonNode): JsonArrayNode | undefined {
  for (const key of HISTORY_KEYS) {
    const node = memberOf(root, key)
    if (node?.kind === "array") return node
  }
  return undefined
}

export function toolsOf(root: JsonNode): JsonArrayNode | undefined {
  const tools = memberOf(root, "tools") ?? memberOf(root, "functions")
  return tools?.kind === "array" ? tools : undefined
}

/** The texts of the system prompt: a member of its own, or messages with that role. */
export function systemTexts(root: JsonNode): JsonString[] {
  const apart = SYSTEM_KEYS.flatMap((key) => {
    const node = memberOf(root, key)
    return node ? textsIn(node) : []
  })
  const inHistory = (historyOf(root)?.items ?? []).filter((item) => SYSTEM_ROLES.has(stringAt(item, "role") ?? ""))
  return [...apart, ...inHistory.flatMap(textsIn)]
}

const TEXT_KEYS = new Set(["content", "text", "output", "parts"])

/** The texts a model reads in a message, in order. Arguments of calls and data of images are not texts. */
export function textsIn(node: JsonNode): JsonString[] {
  if (node.kind === "string") return [node]
  if (node.kind === "array") return node.items.flatMap(textsIn)
  if (node.kind !== "object") return []
  return node.members.flatMap(({ key, value }) => (TEXT_KEYS.has(key) ? textsIn(value) : []))
}

const CACHE_MARKS = new Set(["cache_control", "prompt_cache_breakpoint"])

/** Names a message by what it says: the same wherever the history repeats it, also when a cache mark has moved on to it. */
export function messageHash(message: JsonNode): string {
  return textHash(canonicalJsonNode(withoutMarks(message)))
}

function withoutMarks(node: JsonNode, depth = 0): JsonNode {
  if (depth > DEEPEST) return node
  if (node.kind === "array") return { ...node, items: node.items.map((item) => withoutMarks(item, depth + 1)) }
  if (node.kind !== "object") return node
  return {
    ...node,
    members: node.members.flatMap(({ key, value }) =>
      CACHE_MARKS.has(key) ? [] : [{ key, value: withoutMarks(value, depth + 1) }],
    ),
  }
}

/** Marks stand on blocks; nothing legal is deeper, and hostile nesting must not reach the end of the stack. */
const DEEPEST = 12

/** A part of the history that can be taken out by itself: a whole message, or one block of it. */
export interface HistoryPart {
  readonly item: number
  /** Undefined when the message as a whole is the part. */
  readonly block: number | undefined
  readonly node: JsonNode
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

/** Every part with the ids of the tool calls it makes and of those it answers. */
export function historyParts(history: JsonArrayNode): HistoryPart[] {
  const counts = { call: new Map<string, number>(), result: new Map<string, number>() }
  return history.items.flatMap((node, item): HistoryPart[] => {
    const content = memberOf(node, "content") ?? memberOf(node, "parts")
    const own = idsOf(node, counts)
    if (content?.kind !== "array" || own.calls.length + own.results.length > 0)
      return [{ item, block: undefined, node, ...own }]
    return content.items.map((block, index) => ({ item, block: index, node: block, ...idsOf(block, counts) }))
  })
}

type Counts = Record<"call" | "result", Map<string, number>>

function idsOf(node: JsonNode, counts: Counts): Pick<HistoryPart, "calls" | "results"> {
  const type = stringAt(node, "type") ?? ""
  const result = stringAt(node, "tool_use_id") ?? stringAt(node, "tool_call_id")
  if (result !== undefined) return { calls: [], results: [result] }
  const callId = stringAt(node, "call_id")
  if (callId !== undefined)
    return type.endsWith("_output") ? { calls: [], results: [callId] } : { calls: [callId], results: [] }
  const toolCalls = memberOf(node, "tool_calls")
  if (toolCalls?.kind === "array")
    return { calls: toolCalls.items.flatMap((call) => stringAt(call, "id") ?? []), results: [] }
  if (/tool_use$/.test(type)) return { calls: [stringAt(node, "id") ?? ""].filter(Boolean), results: [] }
  // Gemini pairs by name and order.
  const called = stringAt(memberOf(node, "functionCall"), "name")
  if (called !== undefined) return { calls: [numbered(called, counts.call)], results: [] }
  const answered = stringAt(memberOf(node, "functionResponse"), "name")
  return { calls: [], results: answered === undefined ? [] : [numbered(answered, counts.result)] }
}

function numbered(name: string, counts: Map<string, number>): string {
  const count = counts.get(name) ?? 0
  counts.set(name, count + 1)
  return `${name}#${count}`
}

/** Tool call id → tool name, for everything the history calls. */
export function toolNames(history: JsonArrayNode): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { node } of nodesOf(history)) {
    const name = stringAt(node, "name") ?? stringAt(memberOf(node, "function"), "name")
    const id = stringAt(node, "call_id") ?? stringAt(node, "id")
    if (name !== undefined && id !== undefined) names.set(id, name)
  }
  return names
}

/** Blocks that hold a model's own reasoning: another model cannot read them, and most refuse them. */
export function isReasoning(node: JsonNode): boolean {
  const type = stringAt(node, "type")
  if (type === "thinking" || type === "redacted_thinking" || type === "reasoning") return true
  const thought = memberOf(node, "thought")
  return thought?.kind === "literal" && thought.value === true
}
