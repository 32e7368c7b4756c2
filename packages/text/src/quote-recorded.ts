import { cutToWidth } from "./display-width.js"
import { safeLine } from "./safe-text.js"
import { oneLine } from "./short-text.js"

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
  const size = maxWidth - 2
  return `"${cutToWidth(safeLine(oneLine(text, size).replace(/["\\]/g, "\\$&")), size, size)}"`
}

/** The first line of an error or message that is not blank. */
export function firstLine(text: string): string {
  return /\S[^\n\r]*/.exec(text)?.[0].trimEnd() ?? ""
}

const BARE = /^[A-Za-z0-9_][A-Za-z0-9_./:@+=~-]*$/
