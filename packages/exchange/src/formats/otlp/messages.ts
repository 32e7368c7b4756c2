import { type Json, listOf, recordOf } from "../told-values.js"
import { factOf, HAS_INDEX } from "./names.js"
import type { Attributes, PlainLog, PlainSpan } from "./plain.js"

/** What a model was given and what it answered, in the form of the GenAI conventions: `{role, parts}`. */
export interface ToldMessages {
  readonly input: readonly unknown[] | null
  readonly output: readonly unknown[] | null
  readonly tools: unknown
}

/**
 * The messages of a model call from wherever its span has them: one JSON text, flattened with an index, events of the span, or log records
 * that name it.
 */
export function messagesOf(span: PlainSpan, logs: readonly PlainLog[]): ToldMessages {
  const { attributes } = span
  const flattened = isFlattened(attributes) ? attributes : NONE
  const events = [
    ...span.events.map(({ name, attributes: own }) => ({ name, body: own as Json })),
    ...logs.map(({ name, attributes: own, body }) => ({ name, body: { ...own, ...recordOf(body) } as Json })),
  ]
  const details = events.find(({ name }) => name === "gen_ai.client.inference.operation.details")?.body ?? {}
  const system = parsedList(factOf(attributes, "systemInstructions") ?? details["gen_ai.system_instructions"])
  const input =
    parsedList(attributes["gen_ai.input.messages"] ?? details["gen_ai.input.messages"]) ??
    indexed(flattened, "llm.input_messages", "message") ??
    indexed(flattened, "gen_ai.prompt") ??
    fromEvents(events, (name) => /^gen_ai\.(?:system|user|assistant|tool)\.message$/.test(name)) ??
    whole(factOf(attributes, "inputMessages"), "user")
  const output =
    parsedList(attributes["gen_ai.output.messages"] ?? details["gen_ai.output.messages"]) ??
    indexed(flattened, "llm.output_messages", "message") ??
    indexed(flattened, "gen_ai.completion") ??
    fromEvents(events, (name) => name === "gen_ai.choice") ??
    answerOfAiSdk(attributes) ??
    whole(factOf(attributes, "outputMessages"), "assistant")
  return {
    input: system === undefined ? (input ?? null) : [{ role: "system", parts: system }, ...(input ?? [])],
    output: output ?? null,
    tools:
      parsed(attributes["gen_ai.tool.definitions"]) ??
      indexed(flattened, "llm.tools") ??
      indexed(flattened, "llm.request.functions"),
  }
}

function isFlattened(attributes: Attributes): boolean {
  for (const name in attributes) if (HAS_INDEX.test(name)) return true
  return false
}

const NONE: Attributes = {}

/** The text of messages in any of these forms. */
export function textIn(messages: readonly unknown[] | null): string {
  return (messages ?? []).flatMap((message) => textsOf(message)).join("\n")
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value]
  const { content, parts, text, type, message } = recordOf(value)
  if (type === "reasoning" || type === "thinking") return []
  if (typeof content === "string") return content === "" ? [] : [content]
  if (typeof text === "string") return [text]
  if (message !== undefined) return textsOf(message)
  return [...listOf(parts), ...listOf(content), ...listOf(recordOf(value)["contents"])].flatMap(textsOf)
}

export interface AskedTool {
  readonly id: string | null
  readonly name: string
}

/** The tools that an answer asks for. */
export function toolsAskedIn(messages: readonly unknown[] | null): AskedTool[] {
  const found: AskedTool[] = []
  const look = (value: unknown, depth: number): void => {
    if (depth > 6) return
    if (Array.isArray(value)) {
      for (const item of value) look(item, depth + 1)
      return
    }
    const part = recordOf(value)
    const call = recordOf(part["tool_call"] ?? part["function"])
    const inner = recordOf(call["function"])
    const isCall =
      part["type"] === "tool_call" ||
      part["type"] === "tool_use" ||
      part["type"] === "tool-call" ||
      "function" in part ||
      "tool_call" in part
    const name = part["name"] ?? part["toolName"] ?? call["name"] ?? inner["name"]
    if (isCall && typeof name === "string") {
      const id = part["id"] ?? part["toolCallId"] ?? call["id"]
      found.push({ id: typeof id === "string" && id !== "" ? id : null, name })
      return
    }
    for (const key of ["parts", "content", "contents", "tool_calls", "message", "message_content"])
      if (key in part) look(part[key], depth + 1)
  }
  look(messages ?? [], 0)
  return found
}

function fromEvents(
  events: readonly { readonly name: string; readonly body: Json }[],
  fits: (name: string) => boolean,
): unknown[] | undefined {
  const found = events.filter(({ name }) => fits(name))
  if (found.length === 0) return undefined
  return found.map(({ name, body }) => ({
    role: body["role"] ?? /^gen_ai\.(\w+)\.message$/.exec(name)?.[1] ?? "assistant",
    ...Object.fromEntries(Object.entries(body).map(([key, value]) => [key, parsed(value) ?? value])),
  }))
}

function answerOfAiSdk(attributes: Attributes): unknown[] | undefined {
  const text = attributes["ai.response.text"]
  const calls = parsed(attributes["ai.response.toolCalls"])
  if (text === undefined && calls === undefined) return undefined
  const asked = listOf(calls).map((call) => ({ type: "tool-call", ...recordOf(call) }))
  return [{ role: "assistant", content: [...(typeof text === "string" ? [{ type: "text", text }] : []), ...asked] }]
}

/** `prefix.<i>.a.b.<j>.c` back to a list of nested values. */
export function indexed(attributes: Attributes, prefix: string, inside?: string): unknown[] | undefined {
  const root: Record<string, unknown> = {}
  let isAny = false
  const start = `${prefix}.`
  for (const name in attributes) {
    if (!name.startsWith(start)) continue
    const path = name.slice(prefix.length + 1).split(".")
    if (!/^\d{1,6}$/.test(path[0]!) || path.length > 24 || path.some(isUnsafe)) continue
    isAny = true
    let at = root
    for (const key of path.slice(0, -1)) {
      const next = at[key]
      at[key] = typeof next === "object" && next !== null ? next : {}
      at = at[key] as Record<string, unknown>
    }
    at[path.at(-1)!] = attributes[name]
  }
  if (!isAny) return undefined
  return listed(root).map((item) => (inside !== undefined && isKeyed(item, inside) ? recordOf(item)[inside] : item))
}

const isUnsafe = (key: string): boolean => key === "__proto__" || key === "constructor" || key === "prototype"

const isKeyed = (value: unknown, key: string): boolean => key in recordOf(value)

function listed(value: Record<string, unknown>): unknown[] {
  return Object.keys(value)
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => lists(value[key]))
}

/** Objects whose keys are all numbers are lists. */
function lists(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const record = value as Record<string, unknown>
  const keys = Object.keys(record)
  if (keys.length > 0 && keys.every((key) => /^\d+$/.test(key))) return listed(record)
  return Object.fromEntries(keys.map((key) => [key, lists(record[key])]))
}

function parsedList(value: unknown): unknown[] | undefined {
  const list = parsed(value)
  return Array.isArray(list) ? list : undefined
}

/** A value, or what stands in a text of JSON. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value
  if (!/^\s*[[{]/.test(value)) return undefined
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function whole(value: unknown, role: string): unknown[] | undefined {
  if (value === undefined) return undefined
  const list = parsed(value)
  if (Array.isArray(list)) return list
  const { messages } = recordOf(list)
  return Array.isArray(messages) ? messages : [{ role, content: list ?? value }]
}
