import { cutToWidth } from "./display-width.js"
import { safeLine, safeText } from "./safe-text.js"

/** Safe, on one line, and no longer than asked, in columns and in characters: marks take no column but cost their reader as much as letters do. */
export function shortLine(text: string, longest: number): string {
  return cutToWidth(safeLine(oneLine(text, longest)), longest, longest)
}

/**
 * White space as single spaces, of as much of a text as `longest` columns can show, so that a log line of 8 KB costs no more than its first
 * 100 columns. What is left of it may be short, where most was white space, and still is not all there was.
 */
export function oneLine(text: string, longest: number): string {
  const enough = Number.isFinite(longest) ? text.slice(0, longest * 4 + 8).replace(/[\ud800-\udbff]$/, "") : text
  const isMore = enough.length < text.length && /\S/.test(text.slice(enough.length))
  return enough.replace(/\s+/g, " ").trim() + (isMore ? " …" : "")
}

/** Safe lines of a block: overlong lines and overlong blocks are cut, and the cut says how much is gone. */
export function shortBlock(text: string, most: { readonly lines: number; readonly columns: number }): string[] {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  const shownLines = lines.slice(0, most.lines).map((line) => {
    const kept = line.slice(0, most.columns).replace(/[\ud800-\udbff]$/, "")
    const rest = line.length - kept.length
    return rest > 0 ? `${safeText(kept)} … ${rest} more characters` : safeText(line)
  })
  const rest = lines.length - shownLines.length
  return rest > 0 ? [...shownLines, `… ${rest} more ${rest === 1 ? "line" : "lines"}`] : shownLines
}
