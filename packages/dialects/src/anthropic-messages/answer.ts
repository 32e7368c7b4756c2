import { readJson } from "@orangebox/contract"
import type { Answer, AnswerFold, AnswerPart, AnswerText, CacheMiss, ProviderError, Usage } from "../dialect.js"
import { itemsAt, memberOf } from "../json/node.js"
import {
  assignOwn,
  countOf,
  indexOf,
  inOrder,
  isRecord,
  type JsonRecord,
  type JsonValue,
  listOf,
  parseJson,
  recordOf,
  recordsOf,
  setOwn,
  textOf,
} from "../json/value.js"
import { readProviderError } from "../provider-error.js"
import { positiveCounts, sumFrom, sumIfKnown } from "../usage.js"

export function readAnthropicAnswer({ value, text }: AnswerText): Answer {
  const message = recordOf(value)
  const error = message["type"] === "error" ? readProviderError(message["error"]) : null
  return describe(message, argumentTexts(text), error, "complete")
}

/** Events name the block they belong to; the answer is assembled from the blocks in their order. */
export function anthropicFold(): AnswerFold {
  const message: JsonRecord = {}
  const blocks = new Map<number, { block: JsonRecord; argumentText: string }>()
  let error: ProviderError | null = null
  let isComplete = false

  const takeDelta = (index: number, delta: JsonRecord): boolean => {
    const open = blocks.get(index) ?? { block: {}, argumentText: "" }
    blocks.set(index, open)
    const { block } = open
    switch (delta["type"]) {
      case "text_delta":
        block["type"] ??= "text"
        block["text"] = (textOf(block["text"]) ?? "") + (textOf(delta["text"]) ?? "")
        return true
      case "thinking_delta":
        block["type"] ??= "thinking"
        block["thinking"] = (textOf(block["thinking"]) ?? "") + (textOf(delta["thinking"]) ?? "")
        return true
      case "signature_delta":
        block["signature"] = delta["signature"] ?? null
        return true
      case "citations_delta":
        block["citations"] = [...listOf(block["citations"]), delta["citation"] ?? null]
        return true
      case "input_json_delta":
        open.argumentText += textOf(delta["partial_json"]) ?? ""
        return true
      case "compaction_delta":
        block["content"] = (textOf(block["content"]) ?? "") + (textOf(delta["content"]) ?? "")
        return true
      default:
        return false
    }
  }

  return {
    take(_event, { value }) {
      const event = recordOf(value)
      switch (event["type"]) {
        case "message_start":
          assignOwn(message, recordOf(event["message"]))
          return true
        case "content_block_start":
          blocks.set(indexOf(event["index"]), { block: { ...recordOf(event["content_block"]) }, argumentText: "" })
          return true
        case "content_block_delta":
          return takeDelta(indexOf(event["index"]), recordOf(event["delta"]))
        case "content_block_stop":
        case "ping":
          return true
        case "message_delta":
          takeMessageDelta(message, event)
          return true
        case "message_stop":
          isComplete = true
          return true
        case "error":
          error = readProviderError(event["error"])
          return true
        default:
          return false
      }
    },
    isOver: () => isComplete || error !== null,
    answer() {
      const open = inOrder(blocks)
      const content = open.map(({ block, argumentText }) =>
        argumentText === "" ? block : { ...block, input: parseJson(argumentText) ?? block["input"] ?? {} },
      )
      const texts = open.map(({ argumentText }) => argumentText)
      const whole = open.length > 0 || "content" in message ? { ...message, content } : message
      return describe(whole, texts, error, isComplete ? "complete" : "partial")
    },
  }
}

// Counts here are running totals, so the last one stands; a null says "not repeated", not "none".
function takeMessageDelta(message: JsonRecord, event: JsonRecord): void {
  assignOwn(message, recordOf(event["delta"]))
  const usage = recordOf(event["usage"])
  const known: JsonRecord = { ...recordOf(message["usage"]) }
  for (const key of Object.keys(usage)) {
    if (usage[key] !== null || !(key in known)) setOwn(known, key, usage[key]!)
  }
  if (isRecord(event["usage"])) message["usage"] = known
  if (event["diagnostics"] !== undefined) message["diagnostics"] = event["diagnostics"]
  if (event["context_management"] !== undefined) message["context_management"] = event["context_management"]
}

function describe(
  message: JsonRecord,
  argumentTexts: readonly string[],
  error: ProviderError | null,
  ended: Answer["ended"],
): Answer {
  return {
    id: textOf(message["id"]),
    model: textOf(message["model"]),
    producedIds: [message["id"], recordOf(message["container"])["id"]].flatMap((id) => textOf(id) ?? []),
    message: Object.keys(message).length === 0 ? null : message,
    parts: listOf(message["content"]).flatMap((block, index) =>
      isRecord(block) ? partOf(block, argumentTexts[index] ?? "") : [],
    ),
    finishReason: textOf(message["stop_reason"]),
    rawUsage: message["usage"] ?? null,
    serviceTier: null,
    error,
    cacheMiss: cacheMissOf(recordOf(message["diagnostics"])["cache_miss_reason"]),
    ended,
  }
}

function cacheMissOf(reason: JsonValue | undefined): CacheMiss | null {
  const type = textOf(recordOf(reason)["type"])
  return type === null ? null : { type, missedTokens: countOf(recordOf(reason)["cache_missed_input_tokens"]) }
}

function partOf(block: JsonRecord, argumentText: string): AnswerPart[] {
  switch (block["type"]) {
    case "text":
      return [{ kind: "text", text: textOf(block["text"]) ?? "" }]
    case "thinking":
      return [{ kind: "thinking", text: textOf(block["thinking"]) ?? "" }]
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return [
        {
          kind: "tool-call",
          id: textOf(block["id"]),
          name: textOf(block["name"]) ?? "",
          arguments: argumentText || inputText(block["input"]),
          runsAt: block["type"] === "tool_use" ? "client" : "provider",
        },
      ]
    default:
      return []
  }
}

const inputText = (input: JsonValue | undefined): string => (input === undefined ? "" : JSON.stringify(input))

/** The arguments of each block as they are written in the body: a number with twenty digits keeps them only there. */
export function argumentTexts(text: string): string[] {
  const reading = readJson(text)
  if (!reading.ok) return []
  return itemsAt(reading.node, "content").map((block) => {
    const input = memberOf(block, "input")
    return input === undefined ? "" : text.slice(input.start, input.end)
  })
}

/** Anthropic counts additively: `input_tokens` is only what was neither read from the cache nor written to it. */
export function anthropicUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const cacheRead = countOf(usage["cache_read_input_tokens"])
  const byTtl = recordOf(usage["cache_creation"])
  const cacheWrite5m = countOf(byTtl["ephemeral_5m_input_tokens"])
  const cacheWrite1h = countOf(byTtl["ephemeral_1h_input_tokens"])
  const cacheWrite = countOf(usage["cache_creation_input_tokens"]) ?? sumIfKnown(cacheWrite5m, cacheWrite1h)
  const prompt = sumFrom(countOf(usage["input_tokens"]), cacheRead, cacheWrite)
  const completion = countOf(usage["output_tokens"])
  return {
    tokens: {
      prompt,
      completion,
      total: sumIfKnown(prompt, completion),
      cache_read: cacheRead,
      cache_write: cacheWrite,
      reasoning: countOf(recordOf(usage["output_tokens_details"])["thinking_tokens"]),
    },
    cacheWrite5m,
    cacheWrite1h,
    serviceTier: tierOf(usage),
    billedExtras: { ...positiveCounts(usage["server_tool_use"]), ...compactionTokens(usage["iterations"]) },
    raw,
  }
}

// A compaction on the provider's side is billed, but not counted in the totals of the message it was made for.
function compactionTokens(iterations: JsonValue | undefined): Record<string, number> {
  let count = 0
  for (const iteration of recordsOf(iterations)) {
    if (iteration["type"] === "compaction") count += anthropicUsage(iteration).tokens.total ?? 0
  }
  return count === 0 ? {} : { compaction_tokens: count }
}

/** A faster mode and a promised region are dearer than the tier alone says, so they are a tier of their own. */
function tierOf(usage: JsonRecord): string | null {
  const { speed, inference_geo: geo } = usage
  const dearer = [speed === "standard" ? null : textOf(speed ?? null), geo === "us" ? "us" : null].filter(
    (word) => word !== null,
  )
  return dearer.length > 0 ? dearer.join(" ") : textOf(usage["service_tier"])
}
