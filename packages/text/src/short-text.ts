import { displayWidth, headOf } from "./display-width.js"
import { safeLine, safeText } from "./safe-text.js"

/** Safe, on one line, and no longer than asked, in columns and in characters. */
export function shortLine(text: string, longest: number): string {
  const head = text.slice(0, longest * 2).replace(/[\ud800-\udbff]$/, "")
  const safe = safeLine(head.replace(/\s+/g, " ").trim())
  const isCut = text.length > longest * 2 || safe.length > longest || displayWidth(safe) > longest
  return isCut ? `${headOf(safe, longest - 1, longest - 1)}…` : safe
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
