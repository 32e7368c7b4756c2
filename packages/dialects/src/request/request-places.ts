import { canonicalJsonNode, type JsonMember, type JsonNode, textHash } from "@orangebox/contract"
import { AI_SDK_TOOL_SCHEMA } from "../ai-sdk/index.js"
import { DIALECTS } from "../dialects.js"
import { itemsOf, memberOf, stringAt } from "../json/node.js"
import { CACHE_MARKS } from "./part-hash.js"
import type { Continuation, RequestMember, RequestShape, ToolTraffic } from "./shape.js"

// An application may record its request without an address, so every dialect is asked. Their shapes do not contradict each other.
const shapes = (): readonly RequestShape[] => DIALECTS.map(({ shape }) => shape)

function firstOf<T>(ask: (shape: RequestShape) => T | undefined): T | undefined {
  for (const shape of shapes()) {
    const answer = ask(shape)
    if (answer !== undefined) return answer
  }
  return undefined
}

type JsonArray = Extract<JsonNode, { kind: "array" }>
type JsonString = Extract<JsonNode, { kind: "string" }>

/** What a member of a request holds; undefined for a parameter. */
export const requestMember = (key: string): RequestMember | undefined =>
  firstOf(({ members }) => (Object.hasOwn(members, key) ? members[key] : undefined))

/** Whose words a message of that role holds. */
export const speakerOf = (role: string): "system" | "assistant" | "tool" | "user" =>
  firstOf(({ roles }) => (Object.hasOwn(roles, role) ? roles[role] : undefined)) ?? "user"

const membersOf = (root: JsonNode, holds: RequestMember): JsonNode[] =>
  root.kind !== "object" ? [] : root.members.filter(({ key }) => requestMember(key) === holds).map(({ value }) => value)

/** The member that names the model. */
export const modelMemberOf = (root: JsonNode): JsonMember | undefined =>
  root.kind === "object" ? root.members.findLast(({ key }) => requestMember(key) === "model") : undefined

/** The list of what was said so far, whatever the dialect calls it. */
export function historyOf(root: JsonNode): JsonArray | undefined {
  return membersOf(root, "history").findLast((node) => node.kind === "array")
}

/** The lists of tools a request offers; none when it offers none. */
export function toolListsOf(root: JsonNode): readonly JsonArray[] {
  const tools = membersOf(root, "tools").findLast((node) => node.kind === "array")
  if (!tools) return []
  const groups = tools.items.flatMap((item) => {
    const group = firstOf(({ toolGroups }) => toolGroups.map((key) => memberOf(item, key)).find(Boolean))
    return group?.kind === "array" ? [group] : []
  })
  return groups.length > 0 ? groups : [tools]
}

/** The object that describes a tool: an item of a list of tools, or what it wraps. */
export function toolDefinitionOf(tool: JsonNode): JsonNode {
  return firstOf(({ toolWrappers }) => toolWrappers.map((key) => memberOf(tool, key)).find(Boolean)) ?? tool
}

/** The schema of a tool's arguments. */
export function toolSchemaOf(tool: JsonNode): JsonNode | undefined {
  const definition = toolDefinitionOf(tool)
  const objectAmong = (keys: readonly string[]): JsonNode | undefined =>
    keys.map((key) => memberOf(definition, key)).find((node) => node?.kind === "object")
  return firstOf(({ toolSchemas }) => objectAmong(toolSchemas)) ?? objectAmong([AI_SDK_TOOL_SCHEMA])
}

/** The texts of the system prompt: a member of its own, or messages with that role. */
export function systemTexts(root: JsonNode): JsonString[] {
  const inHistory = itemsOf(historyOf(root)).filter((item) => speakerOf(stringAt(item, "role") ?? "") === "system")
  return [...membersOf(root, "system"), ...inHistory].flatMap(textsIn)
}

/** The texts a model reads in a message, in order. Arguments of calls and data of images are not texts. */
export function textsIn(node: JsonNode): JsonString[] {
  if (node.kind === "string") return [node]
  if (node.kind === "array") return node.items.flatMap(textsIn)
  if (node.kind !== "object") return []
  const keys = new Set(shapes().flatMap(({ texts }) => texts))
  return node.members.flatMap(({ key, value }) => (keys.has(key) ? textsIn(value) : []))
}

/** The blocks of a message, where they can be taken out one by one. */
export function blocksOf(message: JsonNode): JsonArray | undefined {
  const blocks = firstOf(({ blocks }) => (blocks === null ? undefined : memberOf(message, blocks)))
  return blocks?.kind === "array" ? blocks : undefined
}

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

/** What a message, or a block of one, has to do with tools. */
export const toolTrafficOf = (node: JsonNode): ToolTraffic | undefined =>
  node.kind === "object" ? firstOf((shape) => shape.toolTraffic(node)) : undefined

/** A part of the history that can be taken out by itself: a whole message, or one block of it. */
export interface HistoryPart {
  readonly item: number
  /** Undefined when the message as a whole is the part. */
  readonly block: number | undefined
  readonly node: JsonNode
  /** The ids of the tool calls it makes. */
  readonly calls: readonly string[]
  /** The id of the tool call it answers. */
  readonly answers: string | undefined
  readonly result: ToolTraffic["result"]
  readonly isReasoning: boolean
}

export interface HistoryParts {
  readonly parts: readonly HistoryPart[]
  /** Tool call id → tool name, for everything the history calls. */
  readonly toolNames: ReadonlyMap<string, string>
}

export function historyParts(history: JsonArray): HistoryParts {
  const toolNames = new Map<string, string>()
  const counts = { call: new Map<string, number>(), result: new Map<string, number>() }
  const part = (item: number, block: number | undefined, node: JsonNode): HistoryPart => {
    const { calls = [], result } = toolTrafficOf(node) ?? {}
    const ids = calls.flatMap(({ id, name }) => {
      const known = id ?? (name === null ? undefined : numbered(name, counts.call))
      if (known === undefined) return []
      if (name !== null) toolNames.set(known, name)
      return [known]
    })
    const answers = result && (result.id ?? (result.name && numbered(result.name, counts.result)))
    const isReasoning = shapes().some((shape) => shape.isReasoning(node))
    return { item, block, node, calls: ids, answers: answers || undefined, result, isReasoning }
  }
  const parts = history.items.flatMap((node, item): HistoryPart[] => {
    const blocks = blocksOf(node)
    if (!blocks || toolTrafficOf(node)) return [part(item, undefined, node)]
    return blocks.items.map((block, index) => part(item, index, block))
  })
  return { parts, toolNames }
}

/** For dialects that pair calls and results by name and order. */
function numbered(name: string, counts: Map<string, number>): string {
  const count = counts.get(name) ?? 0
  counts.set(name, count + 1)
  return `${name}#${count}`
}

/** The address with another model in it; undefined when it names none. */
export function withModelInAddress(address: string, model: string): string | undefined {
  const pattern = firstOf(({ modelInAddress }) => (modelInAddress?.test(address) ? modelInAddress : undefined))
  return pattern && address.replace(pattern, () => encodeURIComponent(model))
}

/** How a request goes on from an answer that the provider keeps; undefined when it does not. */
export function continuationOf(root: JsonNode): (Continuation & { readonly id: string }) | undefined {
  return firstOf(({ continuation }) => {
    const id = continuation && stringAt(root, continuation.member)
    return id == null ? undefined : { ...continuation!, id }
  })
}
