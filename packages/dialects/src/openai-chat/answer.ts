import type { Answer, AnswerFold, AnswerPart, AnswerText, ProviderError, Usage } from "../dialect.js"
import {
  countOf,
  indexOf,
  inOrder,
  isRecord,
  type JsonRecord,
  type JsonValue,
  listOf,
  recordOf,
  recordsOf,
  setOwn,
  textOf,
} from "../json/value.js"
import { readProviderError } from "../provider-error.js"
import { sumIfKnown, usageWith } from "../usage.js"

export function readChatAnswer({ value }: AnswerText): Answer {
  // Gateways of Google's answer an error in a list of one.
  const completion = recordOf(Array.isArray(value) ? value[0] : value)
  return describe(completion, readProviderError(completion["error"]), "complete")
}

export function chatFold(): AnswerFold {
  const head: JsonRecord = {}
  const choices = new Map<number, JsonRecord>()
  let error: ProviderError | null = null
  let sawDone = false
  const isComplete = (): boolean =>
    sawDone || (choices.size > 0 && [...choices.values()].every((choice) => choice["finish_reason"] !== null))

  return {
    take(_event, { value, text }) {
      if (text.trim() === "[DONE]") {
        sawDone = true
        return true
      }
      const chunk = recordOf(value)
      if (chunk["error"] !== undefined && chunk["error"] !== null) error = readProviderError(chunk["error"])
      if (!("choices" in chunk) && !("usage" in chunk)) return "error" in chunk
      takeHead(head, chunk)
      for (const part of recordsOf(chunk["choices"])) {
        const index = indexOf(part["index"])
        const choice = choices.get(index) ?? { index, message: {}, finish_reason: null }
        choices.set(index, choice)
        takeChoice(choice, part)
      }
      return true
    },
    isOver: () => isComplete() || error !== null,
    answer() {
      const all = inOrder(choices)
      const isEmpty = Object.keys(head).length === 0 && all.length === 0
      const completion = isEmpty ? {} : { ...head, object: "chat.completion", choices: all.map(withoutListIndexes) }
      return describe(completion, error, isComplete() ? "complete" : "partial")
    },
  }
}

const NOT_OF_THE_ANSWER = new Set(["choices", "obfuscation", "error"])

function takeHead(head: JsonRecord, chunk: JsonRecord): void {
  for (const key of Object.keys(chunk)) {
    const value = chunk[key]!
    // Azure opens with a chunk whose id and model are empty; null usage on every chunk but the last is the normal case.
    if (NOT_OF_THE_ANSWER.has(key) || ((value === null || value === "" || value === 0) && key in head)) continue
    setOwn(head, key, value)
  }
}

function takeChoice(choice: JsonRecord, part: JsonRecord): void {
  for (const key of Object.keys(part)) {
    const value = part[key]!
    if (key === "delta" || key === "message") mergeDelta(recordOf(choice["message"]), recordOf(value))
    else if (key === "logprobs" && isRecord(value)) mergeDelta(choice, { logprobs: value })
    else if (key === "text") mergeDelta(choice, { text: value })
    else if (value !== null || !(key in choice)) setOwn(choice, key, value)
  }
}

// Streams number the entries of their lists; the API's whole answer does not.
function withoutListIndexes(choice: JsonRecord): JsonRecord {
  const message = recordOf(choice["message"])
  if (!Array.isArray(message["tool_calls"])) return choice
  const calls = message["tool_calls"].map((call): JsonValue => {
    if (!isRecord(call)) return call
    const { index: _, ...rest } = call
    return rest
  })
  return { ...choice, message: { ...message, tool_calls: calls } }
}

function describe(completion: JsonRecord, error: ProviderError | null, ended: Answer["ended"]): Answer {
  const choices = recordsOf(completion["choices"])
  return {
    id: textOf(completion["id"]),
    model: textOf(completion["model"]),
    producedIds: [completion["id"], ...choices.map(audioId)].flatMap((id) => textOf(id) ?? []),
    message: Object.keys(completion).length === 0 ? null : completion,
    parts: choices.flatMap(partsOf),
    finishReason: textOf(choices[0]?.["finish_reason"]),
    rawUsage: completion["usage"] ?? null,
    serviceTier: textOf(completion["service_tier"]),
    error: error ?? readProviderError(choices.find((choice) => isRecord(choice["error"]))?.["error"]),
    ended,
  }
}

const audioId = (choice: JsonRecord): JsonValue => recordOf(recordOf(choice["message"])["audio"])["id"] ?? null

function partsOf(choice: JsonRecord): AnswerPart[] {
  const message = recordOf(choice["message"])
  const parts: AnswerPart[] = []
  const thinking = textOf(message["reasoning_content"]) ?? textOf(message["reasoning"])
  if (thinking) parts.push({ kind: "thinking", text: thinking })
  for (const part of contentParts(message["content"])) parts.push(part)
  const other = textOf(message["refusal"]) ?? textOf(choice["text"])
  if (other) parts.push({ kind: "text", text: other })
  for (const call of listOf(message["tool_calls"])) {
    const body = recordOf(recordOf(call)["function"] ?? recordOf(call)["custom"])
    parts.push(toolCall(textOf(recordOf(call)["id"]), body))
  }
  if (isRecord(message["function_call"])) parts.push(toolCall(null, message["function_call"]))
  return parts
}

// Content is a string in OpenAI's own answers; Mistral gives a list of typed pieces, with its thinking nested among them.
function contentParts(content: JsonValue | undefined): AnswerPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }]
  return recordsOf(content).flatMap((piece): AnswerPart[] => {
    if (piece["type"] !== "thinking") return [{ kind: "text", text: textOf(piece["text"]) ?? "" }]
    return recordsOf(piece["thinking"]).map((thought) => ({ kind: "thinking", text: textOf(thought["text"]) ?? "" }))
  })
}

function toolCall(id: string | null, body: JsonRecord): AnswerPart {
  return {
    kind: "tool-call",
    id,
    name: textOf(body["name"]) ?? "",
    arguments: textOf(body["arguments"]) ?? textOf(body["input"]) ?? "",
    runsAt: "client",
  }
}

/** `prompt_tokens` already includes what came from the cache. */
export function chatUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const promptDetails = recordOf(usage["prompt_tokens_details"])
  const prompt = countOf(usage["prompt_tokens"])
  const completion = countOf(usage["completion_tokens"])
  return usageWith(raw, {
    prompt,
    completion,
    total: countOf(usage["total_tokens"]) ?? sumIfKnown(prompt, completion),
    // DeepSeek speaks this dialect, but reports its cache under a name of its own.
    cache_read: countOf(promptDetails["cached_tokens"]) ?? countOf(usage["prompt_cache_hit_tokens"]),
    cache_write: countOf(promptDetails["cache_write_tokens"]),
    reasoning: countOf(recordOf(usage["completion_tokens_details"])["reasoning_tokens"]),
  })
}

// These arrive whole. Some servers repeat them in every chunk, and "assistantassistant" is not a role.
const WHOLE = new Set(["role", "id", "type", "name", "index", "format", "call_id"])

/**
 * Adds a chunk's delta to what is there: text grows, objects merge, list entries that carry an `index` find their place and the others
 * are appended. The rule is general because this dialect is spoken by many servers that add fields of their own (`reasoning_content`,
 * `reasoning_details`, `annotations`, `audio` …), and what they add is part of the answer.
 */
function mergeDelta(target: JsonRecord, delta: JsonRecord): void {
  for (const key of Object.keys(delta)) {
    const next = delta[key]!
    if (next === null && key in target) continue
    setOwn(target, key, merged(key, Object.hasOwn(target, key) ? target[key] : undefined, next))
  }
}

function merged(key: string, before: JsonValue | undefined, next: JsonValue): JsonValue {
  if (typeof next === "string") {
    if (typeof before !== "string" || before === "") return next
    return WHOLE.has(key) ? (next === "" ? before : next) : before + next
  }
  if (Array.isArray(next)) return mergeList(listOf(before), next)
  if (isRecord(next)) {
    const record: JsonRecord = isRecord(before) ? before : {}
    mergeDelta(record, next)
    return record
  }
  return next
}

function mergeList(before: JsonValue[], next: readonly JsonValue[]): JsonValue[] {
  for (const item of next) {
    const place = isRecord(item) && "index" in item ? indexOf(item["index"]) : undefined
    const sameType = (entry: JsonValue): boolean =>
      isRecord(entry) &&
      isRecord(item) &&
      entry["index"] === place &&
      (entry["type"] ?? item["type"]) === (item["type"] ?? entry["type"])
    const existing = place === undefined ? undefined : before.findLast(sameType)
    if (isRecord(existing) && isRecord(item)) mergeDelta(existing, item)
    else if (isRecord(item)) {
      const copy: JsonRecord = {}
      mergeDelta(copy, item)
      before.push(copy)
    } else before.push(item)
  }
  return before
}
