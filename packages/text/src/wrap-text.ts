import { displayWidth } from "./display-width.js"

export interface WrapOptions {
  /** Where lines may be broken; a piece that is too wide by itself is broken at its spaces. */
  readonly at: string
  /** In front of every line but the first. */
  readonly indent: string
}

/** A line as several of at most `width` columns, broken between pieces. A single word that is wider stays whole: half an id helps nobody. */
export function wrapText(line: string, width: number, { at, indent }: WrapOptions): string[] {
  const lines: string[] = []
  let current = ""
  const room = (): number => width - (lines.length === 0 ? 0 : displayWidth(indent))
  const mark = at.trimEnd()
  const pieces = line.split(at)
  for (const [index, piece] of pieces.entries()) {
    const joined = current === "" ? piece : current + at + piece
    const isLast = index === pieces.length - 1
    if (displayWidth(joined) + (isLast ? 0 : displayWidth(mark)) <= room()) {
      current = joined
      continue
    }
    // The separator ends the line that it breaks, so that a reader sees that more follows.
    if (current !== "") lines.push(current + mark)
    const isWord = at === " " || displayWidth(piece) <= room()
    const parts = isWord ? [piece] : wrapText(piece, room(), { at: " ", indent: "" })
    lines.push(...parts.slice(0, -1))
    current = parts.at(-1)!
  }
  if (current !== "" || lines.length === 0) lines.push(current)
  return lines.map((text, index) => (index === 0 ? text : indent + text))
}
