import { canonicalJson } from "@orangebox/contract"
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
import { sumFrom, sumIfKnown, usageWith } from "../usage.js"

/** One object, or (streaming without `alt=sse`) a JSON list of the chunks a stream would have sent. */
export function readGeminiAnswer({ value, text }: AnswerText): Answer {
  if (!Array.isArray(value)) return describe(unwrap(value), null, "complete")
  const fold = geminiFold()
  for (const chunk of value) fold.take(null, { value: chunk, text })
  return fold.answer()
}

export function geminiFold(): AnswerFold {
  const head: JsonRecord = {}
  const candidates = new Map<number, JsonRecord>()
  let error: ProviderError | null = null
  const isBlocked = (): boolean => isRecord(head["promptFeedback"])
  const isFinished = (): boolean =>
    candidates.size > 0 && [...candidates.values()].every((candidate) => textOf(candidate["finishReason"]) !== null)

  return {
    take(_event, { value }) {
      const chunk = unwrap(value)
      if (isRecord(chunk["error"])) error = readProviderError(chunk["error"])
      if (!KNOWN_MEMBERS.some((key) => key in chunk)) return isRecord(chunk["error"])
      for (const key of Object.keys(chunk)) if (key !== "candidates" && key !== "error") setOwn(head, key, chunk[key]!)
      for (const part of recordsOf(chunk["candidates"])) {
        const index = indexOf(part["index"])
        const candidate = candidates.get(index) ?? {}
        candidates.set(index, candidate)
        takeCandidate(candidate, part)
      }
      return true
    },
    isOver: () => isFinished() || isBlocked() || error !== null,
    answer() {
      const all = inOrder(candidates)
      const whole: JsonRecord = all.length > 0 ? { ...head, candidates: all } : head
      return describe(whole, error, isFinished() || isBlocked() ? "complete" : "partial")
    },
  }
}

const KNOWN_MEMBERS = ["candidates", "usageMetadata", "promptFeedback", "modelVersion", "responseId"]

// The Code Assist endpoint wraps every answer in `response`.
function unwrap(value: JsonValue): JsonRecord {
  const record = recordOf(Array.isArray(value) ? value[0] : value)
  return isRecord(record["response"]) && !("candidates" in record) ? record["response"] : record
}

function takeCandidate(candidate: JsonRecord, part: JsonRecord): void {
  for (const key of Object.keys(part)) {
    if (key !== "content") {
      setOwn(candidate, key, part[key]!)
      continue
    }
    const content = recordOf(part["content"])
    const before = recordOf(candidate["content"])
    const parts = listOf(before["parts"])
    for (const piece of recordsOf(content["parts"])) addPart(parts, piece)
    candidate["content"] = { ...before, ...content, parts }
  }
}

// Text that goes on is one part in the whole answer; a thought signature closes the part it stands on.
function addPart(parts: JsonValue[], piece: JsonRecord): void {
  const last = recordOf(parts.at(-1))
  const continues =
    typeof piece["text"] === "string" &&
    typeof last["text"] === "string" &&
    (last["thought"] ?? false) === (piece["thought"] ?? false) &&
    last["thoughtSignature"] === undefined
  if (continues) parts[parts.length - 1] = { ...last, ...piece, text: `${last["text"]}${piece["text"]}` }
  else parts.push({ ...piece })
}

function describe(response: JsonRecord, error: ProviderError | null, ended: Answer["ended"]): Answer {
  const candidates = recordsOf(response["candidates"])
  return {
    id: textOf(response["responseId"]),
    model: textOf(response["modelVersion"]),
    producedIds: [response["responseId"]].flatMap((id) => textOf(id) ?? []),
    message: Object.keys(response).length === 0 ? null : response,
    parts: candidates.flatMap((candidate) => recordsOf(recordOf(candidate["content"])["parts"]).flatMap(partOf)),
    finishReason:
      textOf(candidates[0]?.["finishReason"]) ?? textOf(recordOf(response["promptFeedback"])["blockReason"]),
    rawUsage: response["usageMetadata"] ?? null,
    serviceTier: null,
    error: error ?? readProviderError(response["error"]),
    ended,
  }
}

function partOf(part: JsonRecord): AnswerPart[] {
  const text = textOf(part["text"])
  if (text !== null) return [{ kind: part["thought"] === true ? "thinking" : "text", text }]
  const call = part["functionCall"]
  if (!isRecord(call)) return []
  return [
    {
      kind: "tool-call",
      id: textOf(call["id"]),
      name: textOf(call["name"]) ?? "",
      // Arguments are an object here, never text; they are written out in canonical order so that equal calls look equal.
      arguments: canonicalJson(call["args"] ?? {}),
      runsAt: "client",
    },
  ]
}

/** `promptTokenCount` includes cached tokens; thoughts are counted beside the candidates, tool-use prompts beside the prompt. */
export function geminiUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const prompt = sumFrom(countOf(usage["promptTokenCount"]), countOf(usage["toolUsePromptTokenCount"]))
  const reasoning = countOf(usage["thoughtsTokenCount"])
  const candidates = countOf(usage["candidatesTokenCount"])
  const completion = candidates === null ? null : sumFrom(candidates, reasoning)
  return usageWith(raw, {
    prompt,
    completion,
    total: countOf(usage["totalTokenCount"]) ?? sumIfKnown(prompt, completion),
    cache_read: countOf(usage["cachedContentTokenCount"]),
    cache_write: null,
    reasoning,
  })
}
