import { readJson } from "@orangebox/contract"
import { dialectOfAnswer } from "./detect-dialect.js"
import type { Dialect } from "./dialect.js"
import { type FoldedResponse, foldResponse } from "./fold-response.js"
import { decodeUtf8 } from "./json/body.js"
import { stringsOf } from "./json/node.js"
import { type SseFrame, sseParser } from "./sse.js"

/**
 * The words in a body, for full-text search: a streamed answer as the text it adds up to, a JSON body as its strings, anything else as it
 * is. Bytes that are not text have no words. Long base64 is left out: pictures are not searched by their spelling.
 */
export function readableText(bytes: Uint8Array, mimeType: string, dialect?: Dialect): string {
  const text = decodeUtf8(bytes).replace(/^\uFEFF/, "")
  if (looksBinary(text)) return ""
  if (/event-stream/i.test(mimeType) || /^\s*(?:event|data|id|retry|):/.test(text)) {
    const streamed = streamText(bytes, dialect)
    if (streamed !== undefined) return streamed
  }
  return jsonText(text, 0) ?? linesText(text) ?? text
}

/**
 * An answer as a person reads it: its text, its thinking and the calls it asks for, in order, however it was streamed. Undefined where no
 * dialect knows it.
 */
export function answerText(bytes: Uint8Array): string | undefined {
  const dialect = dialectOfBytes(bytes)
  if (dialect === undefined) return undefined
  const folded = foldResponse(dialect, bytes)
  if (folded.eventCount > 0 && folded.unknownEvents.length === folded.eventCount) return undefined
  const lines = folded.parts.map((part) => {
    if (part.kind === "tool-call") return `→ ${part.name ?? "?"} ${part.arguments}`
    return part.kind === "thinking" ? `(thinking) ${part.text}` : part.text
  })
  if (folded.error) lines.push(`error ${[folded.error.type, folded.error.message].filter(Boolean).join(": ")}`)
  return lines.length === 0 ? undefined : lines.join("\n")
}

/** Whose answer this is, streamed or not; undefined where its beginning does not tell. */
export function dialectOfBytes(answer: Uint8Array): Dialect | undefined {
  const text = decodeUtf8(answer)
  return /^\s*[[{]/.test(text) ? dialectOfAnswer(text) : dialectOfStream(framesOf(answer))
}

function framesOf(bytes: Uint8Array): SseFrame[] {
  const parser = sseParser()
  const frames = parser.push(bytes)
  const rest = parser.finish()
  return rest ? [...frames, rest] : frames
}

const dialectOfStream = (frames: readonly SseFrame[]): Dialect | undefined =>
  frames.map((frame) => dialectOfAnswer(frame.data)).find((found) => found !== undefined)

function streamText(bytes: Uint8Array, known: Dialect | undefined): string | undefined {
  const frames = framesOf(bytes)
  if (frames.length === 0) return undefined
  const dialect = known ?? dialectOfStream(frames)
  if (dialect !== undefined) {
    const folded = foldResponse(dialect, bytes)
    if (folded.unknownEvents.length < folded.eventCount) return foldedText(folded)
  }
  return frames.map((frame) => jsonText(frame.data, 0) ?? frame.data).join("\n")
}

function foldedText(folded: FoldedResponse): string {
  const lines: (string | null)[] = folded.parts.map((part) =>
    part.kind === "tool-call" ? `${part.name} ${jsonText(part.arguments, 0) ?? part.arguments}` : part.text,
  )
  lines.push(folded.error?.type ?? null, folded.error?.message ?? null)
  for (const unknown of folded.unknownEvents) lines.push(jsonText(unknown.data, 0) ?? unknown.data)
  return lines.filter((line) => line !== null && line !== "").join("\n")
}

// Tool arguments are JSON inside JSON; quoting deeper than that is data, and is indexed as it stands.
const DEEPEST_JSON_TEXT = 3
const LONG = 512

function jsonText(text: string, depth: number): string | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined
  const reading = readJson(text)
  if (!reading.ok) return undefined
  const words: string[] = []
  for (const { value } of stringsOf(reading.node)) {
    if (value === "" || isBase64(value)) continue
    const nested = depth < DEEPEST_JSON_TEXT && /^\s*[[{]/.test(value) ? jsonText(value, depth + 1) : undefined
    words.push(nested ?? value)
  }
  return words.join("\n")
}

/** One JSON value per line, as in logs and transcripts. */
function linesText(text: string): string | undefined {
  if (!/^\s*\{/.test(text) || !text.includes("\n")) return undefined
  return text
    .split("\n")
    .map((line) => jsonText(line, 0) ?? line)
    .join("\n")
}

function isBase64(value: string): boolean {
  if (value.length < LONG) return false
  const data = value.startsWith("data:") ? value.slice(value.indexOf(",") + 1) : value
  return /^[A-Za-z0-9+/_=-]+$/.test(data.slice(0, 4096)) && !/[\s]/.test(data)
}

/** Replacement characters and control bytes in the first stretch: pictures and archives show them at once. */
export function looksBinary(text: string): boolean {
  const head = text.slice(0, 4096)
  const strange = head.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0
  return strange > head.length / 20
}
