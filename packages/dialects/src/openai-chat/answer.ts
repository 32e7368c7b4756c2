import type { Answer, AnswerFold, AnswerPart, AnswerText, ProviderError } from "../dialect.js"
import {
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
import { mergeDelta } from "./merge-delta.js"

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
    answer() {
      const all = inOrder(choices)
      const isFinished = all.length > 0 && all.every((choice) => choice["finish_reason"] !== null)
      if (Object.keys(head).length === 0 && all.length === 0)
        return describe({}, error, sawDone ? "complete" : "partial")
      const completion = { ...head, object: "chat.completion", choices: all.map(withoutListIndexes) }
      return describe(completion, error, sawDone || isFinished ? "complete" : "partial")
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
