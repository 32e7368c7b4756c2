import { cutToWidth, displayWidth, headOf } from "./display-width.js"
import { safeLine } from "./safe-text.js"

/**
 * Recorded text in our lines is a bare word or stands in double quotes; our own words never do. So neither a person nor an agent takes a
 * tool name such as `ok  0.5s  (unfold: …)` for something we said.
 */
export function recordedWord(text: string, maxWidth = Number.POSITIVE_INFINITY): string {
  if (BARE.test(text)) return cutToWidth(text, maxWidth)
  return recordedText(text, maxWidth)
}

/** Free text: always quoted. */
export function recordedText(text: string, maxWidth = Number.POSITIVE_INFINITY): string {
  // Only as much as can be shown is made safe; a log line of 8 KB costs no more than its first 100 columns. What is left of it may be
  // short, where most was white space, and still is not all there was.
  const enough = Number.isFinite(maxWidth) ? text.slice(0, maxWidth * 4 + 8).replace(/[\ud800-\udbff]$/, "") : text
  const more = enough.length < text.length && /\S/.test(text.slice(enough.length)) ? "…" : ""
  const quotable = safeLine(enough.replace(/\s+/g, " ").trim().replace(/["\\]/g, "\\$&"))
  return `"${cutToSize(quotable + more, maxWidth - 2)}"`
}

/** The first line of an error or message that is not blank. */
export function firstLine(text: string): string {
  return /\S[^\n\r]*/.exec(text)?.[0].trimEnd() ?? ""
}

const BARE = /^[A-Za-z0-9_][A-Za-z0-9_./:@+=~-]*$/

/** By width and by length: marks take no column but cost their reader as much as letters do. */
function cutToSize(text: string, size: number): string {
  if (displayWidth(text) <= size && text.length <= size) return text
  return size > 0 ? `${headOf(text, size - 1, size - 1)}…` : ""
}
