import { safeLine, safeText } from "./safe-text.js"

/** Safe, on one line, and no longer than asked; says how much is left out. */
export function shortLine(text: string, longest: number): string {
  const head = text
    .slice(0, longest * 2)
    .replace(/\s+/g, " ")
    .trim()
  const isCut = head.length > longest || text.length > longest * 2
  const kept = isCut ? head.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "") : head
  return isCut ? `${safeLine(kept)}…` : safeLine(kept)
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
