import type { Answer, AnswerFold, CacheMiss, Dialect, FinishKind, ProviderError, ToolCall, Usage } from "./dialect.js"
import { finishKindOf } from "./dialects.js"
import { decodeUtf8 } from "./json/body.js"
import { type JsonValue, parseJson } from "./json/value.js"
import { type SseFrame, sseParser } from "./sse.js"
import { UNKNOWN_USAGE } from "./usage.js"

/** An answer, streamed or not, as one value. */
export interface FoldedResponse {
  readonly dialect: string
  readonly form: "json" | "stream" | "empty" | "other"
  readonly id: string | null
  readonly model: string | null
  /** Every id the provider made in this answer that a later request may refer to. */
  readonly producedIds: readonly string[]
  readonly text: string
  readonly thinking: string
  readonly toolCalls: readonly ToolCall[]
  /** Text, thinking and tool calls in the order they were given. */
  readonly parts: Answer["parts"]
  /** The final object as the API gives it without streaming; null when there is none. */
  readonly message: JsonValue
  readonly finishReason: string | null
  readonly finishKind: FinishKind | null
  readonly usage: Usage
  readonly error: ProviderError | null
  readonly cacheMiss: CacheMiss | null
  /** How long it thought before it said something, as far as the pieces tell; undefined where they were not timed or it did not think. */
  readonly thinkingMs: number | undefined
  readonly ended: "complete" | "partial"
  /** Events of a type the dialect does not know, verbatim. */
  readonly unknownEvents: readonly UnknownEvent[]
  /** How many events a streamed answer had. */
  readonly eventCount: number
}

export interface UnknownEvent {
  readonly event: string | null
  readonly data: string
}

export interface ResponseFolder {
  /** @param atMs when they came, on any clock that goes on */
  push(bytes: Uint8Array, atMs?: number): void
  /** The answer once it has said its last, while more may still come behind that; undefined before, and where only the end tells. */
  answerIfOver(): FoldedResponse | undefined
  /** What is there when no more will come. May be asked again. */
  finish(): FoldedResponse
}

/**
 * Folds an answer in one go.
 *
 * @example
 * const folded = foldResponse(dialect, bytes)
 * folded.text         // "It is sunny."
 * folded.usage.tokens // { prompt: 412, completion: 6, total: 418, cache_read: 400, … }
 */
export function foldResponse(dialect: Dialect, body: Uint8Array | Iterable<Uint8Array>): FoldedResponse {
  const folder = responseFolder(dialect)
  if (body instanceof Uint8Array) folder.push(body)
  else for (const chunk of body) folder.push(chunk)
  return folder.finish()
}

/** Folds an answer while it arrives. Bytes may be cut anywhere; the result is the same. */
export function responseFolder(dialect: Dialect): ResponseFolder {
  let reader: BodyReader | undefined
  const leading: Uint8Array[] = []
  return {
    push(bytes, atMs) {
      if (reader === undefined) {
        const first = firstVisible(bytes)
        if (first === undefined) {
          leading.push(new Uint8Array(bytes))
          return
        }
        reader = first === OPEN_BRACE || first === OPEN_BRACKET ? jsonReader(dialect) : streamReader(dialect)
        for (const blank of leading) reader.push(blank, atMs)
      }
      reader.push(bytes, atMs)
    },
    answerIfOver: () => reader?.answerIfOver(),
    finish: () => reader?.finish() ?? fold(dialect, "empty", dialect.newFold().answer(), [], 0),
  }
}

interface BodyReader {
  push(bytes: Uint8Array, atMs: number | undefined): void
  answerIfOver(): FoldedResponse | undefined
  finish(): FoldedResponse
}

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const INVISIBLE = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

// A body tells what it is by its first character; the content type is often wrong or absent behind gateways.
function firstVisible(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => !INVISIBLE.has(byte))
}

function jsonReader(dialect: Dialect): BodyReader {
  const pieces: Uint8Array[] = []
  return {
    push: (bytes) => void pieces.push(new Uint8Array(bytes)),
    answerIfOver: () => undefined,
    finish() {
      const text = decodeUtf8(Buffer.concat(pieces)).replace(/^\uFEFF/, "")
      const value = parseJson(text)
      // Half a JSON body cannot be read, and half an answer is not guessed at.
      if (value === undefined) return fold(dialect, "other", dialect.newFold().answer(), [], 0)
      return fold(dialect, "json", dialect.readAnswer({ value, text }), [], 0)
    },
  }
}

function streamReader(dialect: Dialect): BodyReader {
  const parser = sseParser()
  const answerFold = dialect.newFold()
  const unknown: UnknownEvent[] = []
  const thinking = new ThinkingTime()
  let count = 0
  let isFinished = false

  const take = (frame: SseFrame, atMs?: number): void => {
    count++
    thinking.take(frame.data, atMs)
    if (!takeFrame(answerFold, frame)) unknown.push({ event: frame.event, data: frame.data })
  }
  const soFar = (): FoldedResponse =>
    fold(dialect, count > 0 ? "stream" : "other", answerFold.answer(), unknown, count, thinking.ms)
  return {
    push(bytes, atMs) {
      for (const frame of parser.push(bytes)) take(frame, atMs)
    },
    answerIfOver: () => (answerFold.isOver() ? soFar() : undefined),
    finish() {
      if (!isFinished) {
        isFinished = true
        const rest = parser.finish()
        // A cut frame does not parse, and is only kept; a whole one that merely lacks its empty line counts.
        if (rest !== undefined) take(rest)
      }
      return soFar()
    },
  }
}

/** Thinking goes from its first piece to the first piece of anything else the model says; a stream says which is which in words of its own. */
class ThinkingTime {
  ms: number | undefined
  #since: number | undefined
  #isOver = false

  take(data: string, atMs: number | undefined): void {
    if (this.#isOver || atMs === undefined) return
    if (THINKS.test(data)) {
      this.#since ??= atMs
      this.ms = atMs - this.#since
    } else if (SPEAKS.test(data)) {
      if (this.#since !== undefined) this.ms = atMs - this.#since
      this.#isOver = true
    }
  }
}

const THINKS =
  /"type": ?"(?:redacted_)?thinking(?:_delta)?"|"type": ?"response\.reasoning|"type": ?"reasoning"|"reasoning(?:_content)?": ?"[^"]|"thought": ?true/
const SPEAKS =
  /"type": ?"(?:text|text_delta|tool_use|input_json_delta)"|"type": ?"response\.(?:output_text|function_call|refusal|custom_tool)|"content": ?"[^"]|"tool_calls": ?\[|"text": ?"|"functionCall"/

function takeFrame(answerFold: AnswerFold, frame: SseFrame): boolean {
  const value = parseJson(frame.data)
  if (value === undefined && frame.data.trim() !== "[DONE]") return false
  return answerFold.take(frame.event, { value: value ?? null, text: frame.data })
}

function fold(
  dialect: Dialect,
  form: FoldedResponse["form"],
  answer: Answer,
  unknownEvents: readonly UnknownEvent[],
  eventCount: number,
  thinkingMs?: number,
): FoldedResponse {
  const usage = answer.rawUsage === null ? UNKNOWN_USAGE : dialect.usageOf(answer.rawUsage)
  return {
    dialect: dialect.id,
    form,
    id: answer.id,
    model: answer.model,
    producedIds: answer.producedIds,
    text: joinTexts(answer.parts, "text"),
    thinking: joinTexts(answer.parts, "thinking"),
    toolCalls: answer.parts.flatMap((part) => {
      if (part.kind !== "tool-call") return []
      const { kind: _, ...call } = part
      return [call]
    }),
    parts: answer.parts,
    message: answer.message,
    finishReason: answer.finishReason,
    finishKind: finishKindOf(answer.finishReason),
    usage: usage.serviceTier === null ? { ...usage, serviceTier: answer.serviceTier } : usage,
    error: answer.error,
    cacheMiss: answer.cacheMiss ?? null,
    thinkingMs,
    ended: answer.ended,
    unknownEvents,
    eventCount,
  }
}

// Neighbouring pieces are one text (a cited answer comes in many); with something else between them they are two.
function joinTexts(parts: Answer["parts"], kind: "text" | "thinking"): string {
  let text = ""
  let last = -1
  parts.forEach((part, index) => {
    if (part.kind !== kind || part.text === "") return
    text += last >= 0 && last < index - 1 ? `\n${part.text}` : part.text
    last = index
  })
  return text
}
