import { foldedAnswer } from "@orangebox/runs"
import { type CountTokens, estimateTokens, prettyJsonText, safeText } from "@orangebox/text"

export interface SliceOptions {
  /** At most this many tokens; at least `MIN_SLICE_BUDGET`. Default 1,000, or as many as `maxBytes` take. */
  readonly budget?: number
  /** At most this many bytes, but never less than a character. */
  readonly maxBytes?: number
  /** The byte to begin with: `nextCursor` of the slice before. */
  readonly cursor?: number
  /** Break and indent a JSON body. Offsets then count bytes of the indented text. */
  readonly pretty?: boolean
  /** A streamed answer as the one message that its events make, indented; any other body as it is. Offsets count bytes of that. */
  readonly folded?: boolean
  /** The bytes themselves, also of what is text. */
  readonly hex?: boolean
  readonly countTokens?: CountTokens
}

export interface BodySlice {
  readonly form: "text" | "pretty" | "folded" | "hex"
  /** Safe to print. */
  readonly text: string
  /** `bytes 0–1023 of 5300`. */
  readonly caption: string
  readonly from: number
  /** The byte after the last one shown. */
  readonly to: number
  readonly total: number
  /** Undefined at the end. */
  readonly nextCursor: number | undefined
}

export const DEFAULT_SLICE_BUDGET = 1000
export const MIN_SLICE_BUDGET = 64

/** A part of a body for reading: exact text by default, hex where it is not text. Never cuts a character in two. */
export function sliceBody(body: Uint8Array, options: SliceOptions = {}): BodySlice {
  const isText = options.hex !== true && looksLikeText(body)
  const message = options.folded === true && isText ? messageOf(body) : undefined
  const isPretty = options.pretty === true && isText && isJson(body)
  const indented = message ?? (isPretty ? new TextDecoder().decode(body) : undefined)
  const bytes = indented === undefined ? body : new TextEncoder().encode(prettyJsonText(indented))
  const count = options.countTokens ?? estimateTokens
  const { maxBytes = Number.POSITIVE_INFINITY } = options
  const fallback = options.maxBytes === undefined ? DEFAULT_SLICE_BUDGET : Number.POSITIVE_INFINITY
  const budget = Math.max(options.budget ?? fallback, MIN_SLICE_BUDGET) - CAPTION_TOKENS
  const asked = Math.min(Math.max(0, Math.floor(options.cursor ?? 0)), bytes.length)

  const limits = { budget, maxBytes: Math.max(1, Math.floor(maxBytes)), count }
  const textSlice = isText ? sliceText(bytes, asked, limits) : undefined
  const slice = textSlice ?? sliceHex(bytes, asked, limits)
  const form = !textSlice ? "hex" : message !== undefined ? "folded" : isPretty ? "pretty" : "text"
  const nextCursor = slice.to < bytes.length ? slice.to : undefined
  return { form, ...slice, total: bytes.length, nextCursor, caption: captionOf(slice, bytes.length, form) }
}

/** As the provider would have answered in one piece; undefined for what is no stream of a known dialect. */
function messageOf(body: Uint8Array): string | undefined {
  const folded = foldedAnswer(body)
  return folded?.form === "stream" && folded.message !== null ? JSON.stringify(folded.message) : undefined
}

const CAPTION_TOKENS = 32

interface Limits {
  readonly budget: number
  readonly maxBytes: number
  readonly count: CountTokens
}

interface Slice {
  readonly text: string
  readonly from: number
  readonly to: number
}

function captionOf({ from, to }: Slice, total: number, form: BodySlice["form"]): string {
  const what =
    form === "pretty" || form === "folded" ? "bytes of the indented text" : form === "hex" ? "bytes in hex" : "bytes"
  return total === 0 ? "0 bytes" : `${what} ${from}–${to - 1} of ${total}`
}

/** How much of a body is looked at to tell text from bytes. */
const SAMPLE = 64 * 1024

function looksLikeText(body: Uint8Array): boolean {
  const sample = body.subarray(0, charStart(body, Math.min(SAMPLE, body.length)))
  if (sample.includes(0)) return false
  return decoded(sample) !== undefined
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(body))
    return true
  } catch {
    return false
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** The start of the character that byte `at` is in. Continuation bytes are 10xxxxxx, and a character has at most three of them. */
function charStart(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return bytes.length
  let start = at
  while (start > 0 && at - start < 3 && (bytes[start]! & 0xc0) === 0x80) start -= 1
  return start
}

/** No text is cheaper than this many bytes a token, padding included, so a longer window cannot fit. */
const MOST_BYTES_A_TOKEN = 16

function sliceText(bytes: Uint8Array, asked: number, { budget, maxBytes, count }: Limits): Slice | undefined {
  const from = charStart(bytes, asked)
  const end = charStart(bytes, Math.min(bytes.length, from + Math.min(budget * MOST_BYTES_A_TOKEN, maxBytes)))
  // One character at least, or a reader would ask for the same slice for ever.
  const most = Math.max(end, nextChar(bytes, from))
  const shown = (to: number): string | undefined => {
    const text = decoded(bytes.subarray(from, to))
    return text === undefined ? undefined : safeText(text)
  }
  const whole = shown(most)
  // A body may begin as text and go on as something else; the part that is not text is shown in hex.
  if (whole === undefined) return undefined
  if (count(whole) <= budget) return { text: whole, from, to: most }

  let fits = from
  let tooLong = most
  while (tooLong - fits > 1) {
    const middle = charStart(bytes, Math.floor((fits + tooLong) / 2))
    if (middle <= fits) break
    if (count(shown(middle) ?? "") <= budget) fits = middle
    else tooLong = middle
  }
  const to = fits > from ? fits : nextChar(bytes, from)
  return { text: shown(to) ?? "", from, to }
}

function nextChar(bytes: Uint8Array, from: number): number {
  let next = Math.min(from + 1, bytes.length)
  while (next < bytes.length && next - from < 4 && (bytes[next]! & 0xc0) === 0x80) next += 1
  return next
}

const HEX_ROW = 16

function sliceHex(bytes: Uint8Array, from: number, { budget, maxBytes, count }: Limits): Slice {
  const end = Math.min(bytes.length, from + maxBytes)
  const rows: string[] = []
  let left = budget
  let to = from
  while (to < end) {
    const row = hexRow(bytes.subarray(0, end), to)
    left -= count(row) + 1
    if (left < 0 && rows.length > 0) break
    rows.push(row)
    to = Math.min(to + HEX_ROW, end)
  }
  return { text: rows.join("\n"), from, to }
}

function hexRow(bytes: Uint8Array, at: number): string {
  const row = Array.from(bytes.subarray(at, at + HEX_ROW))
  const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
  const ascii = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("")
  return `${at.toString(16).padStart(8, "0")}  ${hex.padEnd(HEX_ROW * 3 - 1)}  |${ascii}|`
}
