import type { Answer, AnswerFold, AnswerPart, AnswerText, CacheMiss, ProviderError, Usage } from "../dialect.js"
import {
  assignOwn,
  countOf,
  inOrder,
  isRecord,
  type JsonRecord,
  type JsonValue,
  recordOf,
  recordsOf,
  textOf,
} from "../json/value.js"
import { readProviderError } from "../provider-error.js"
import { sumIfKnown, usageWith } from "../usage.js"
import { takeItemEvent } from "./item-events.js"

export function readResponsesAnswer({ value }: AnswerText): Answer {
  const response = recordOf(value)
  return describe(response, null, "complete")
}

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed", "response.cancelled"])
const PROGRESS = new Set(["response.created", "response.in_progress", "response.queued"])

/** The terminal event carries the whole answer. Until it comes the answer is what the items say so far. */
export function responsesFold(): AnswerFold {
  const response: JsonRecord = {}
  const items = new Map<number, JsonRecord>()
  let error: ProviderError | null = null
  let isComplete = false

  return {
    take(_event, { value }) {
      const event = recordOf(value)
      const type = textOf(event["type"]) ?? ""
      if (PROGRESS.has(type) || TERMINAL.has(type)) {
        assignOwn(response, recordOf(event["response"]))
        isComplete ||= TERMINAL.has(type)
        return true
      }
      if (type === "error") {
        // Flat in the documentation, nested in the wild.
        error = readProviderError(isRecord(event["error"]) ? event["error"] : event)
        if (!isRecord(event["error"])) error = { ...error!, type: "error" }
        return true
      }
      if (type === "keepalive") return true
      return takeItemEvent(items, type, event)
    },
    isOver: () => isComplete || error !== null,
    answer() {
      // Some servers leave the output out of the terminal event, because they have just streamed it.
      const told = recordsOf(response["output"]).length > 0
      const whole = told || items.size === 0 ? response : { ...response, output: inOrder(items) }
      return describe(whole, error, isComplete ? "complete" : "partial")
    },
  }
}

function describe(response: JsonRecord, error: ProviderError | null, ended: Answer["ended"]): Answer {
  return {
    id: textOf(response["id"]),
    model: textOf(response["model"]),
    producedIds: [response["id"], ...recordsOf(response["output"]).map((item) => item["id"])].flatMap(
      (id) => textOf(id) ?? [],
    ),
    message: Object.keys(response).length === 0 ? null : response,
    parts: recordsOf(response["output"]).flatMap(partsOf),
    finishReason: finishReasonOf(response),
    rawUsage: response["usage"] ?? null,
    serviceTier: textOf(response["service_tier"]),
    error: error ?? readProviderError(response["error"]),
    cacheMiss: cacheMissOf(recordOf(response["prompt_cache_diagnostics"])),
    ended,
  }
}

/** A comparison that found the prefix unchanged has nothing to explain. */
function cacheMissOf(found: JsonRecord): CacheMiss | null {
  const type = textOf(found["reason"]) ?? textOf(recordOf(found["reason"])["type"]) ?? textOf(found["type"])
  if (type === null || type === "cache_hit") return null
  return { type, missedTokens: countOf(found["cache_missed_tokens"]) }
}

// There is no finish reason in this dialect: an incomplete answer says why, and one that asks for a tool only shows it by asking.
function finishReasonOf(response: JsonRecord): string | null {
  const why = textOf(recordOf(response["incomplete_details"])["reason"])
  if (why !== null) return why
  const status = textOf(response["status"])
  const asksForTool = recordsOf(response["output"]).some((item) => CLIENT_CALLS.has(textOf(item["type"]) ?? ""))
  return status === "completed" && asksForTool ? "tool_calls" : status
}

const CLIENT_CALLS = new Set([
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "computer_call",
])

function partsOf(item: JsonRecord): AnswerPart[] {
  const type = textOf(item["type"]) ?? ""
  if (type === "message") {
    return recordsOf(item["content"]).map((part) => ({
      kind: "text",
      text: textOf(part["text"]) ?? textOf(part["refusal"]) ?? "",
    }))
  }
  if (type === "reasoning") {
    return [...recordsOf(item["summary"]), ...recordsOf(item["content"])].map((part) => ({
      kind: "thinking",
      text: textOf(part["text"]) ?? "",
    }))
  }
  if (!type.endsWith("_call")) return []
  return [
    {
      kind: "tool-call",
      id: textOf(item["call_id"]) ?? textOf(item["id"]),
      name: textOf(item["name"]) ?? type.slice(0, -"_call".length),
      arguments: argumentsOf(item),
      runsAt: CLIENT_CALLS.has(type) && item["execution"] !== "server" ? "client" : "provider",
    },
  ]
}

function argumentsOf(item: JsonRecord): string {
  const text = textOf(item["arguments"]) ?? textOf(item["input"]) ?? textOf(item["code"])
  if (text !== null) return text
  const value = item["arguments"] ?? item["action"] ?? item["operation"] ?? item["queries"]
  return value === undefined || value === null ? "" : JSON.stringify(value)
}

/** `input_tokens` already includes what came from the cache. */
export function responsesUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const inputDetails = recordOf(usage["input_tokens_details"])
  const prompt = countOf(usage["input_tokens"])
  const completion = countOf(usage["output_tokens"])
  return usageWith(raw, {
    prompt,
    completion,
    total: countOf(usage["total_tokens"]) ?? sumIfKnown(prompt, completion),
    cache_read: countOf(inputDetails["cached_tokens"]),
    cache_write: countOf(inputDetails["cache_write_tokens"]),
    reasoning: countOf(recordOf(usage["output_tokens_details"])["reasoning_tokens"]),
  })
}
