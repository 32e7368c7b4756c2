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

/**
 * Lines of finished text, which may hold our own colours, in at most `width` columns: broken at spaces and hanging below their beginning.
 * A word that is wider stays whole.
 */
export function fitLines(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => (paintedWidth(line) <= width ? [line] : fitLine(line, width)))
    .join("\n")
}

const paintedWidth = (text: string): number => displayWidth(text.replace(/\u001b\[\d+m/g, ""))

function fitLine(line: string, width: number): string[] {
  const lead = /^ */.exec(line)![0]
  const indent = " ".repeat(Math.min(lead.length + 4, Math.floor(width / 2)))
  const lines: string[] = []
  let current = lead
  let isEmpty = true
  for (const word of line.slice(lead.length).split(" ")) {
    if (word === "" && isEmpty) continue
    const joined = isEmpty ? current + word : `${current} ${word}`
    if (isEmpty || paintedWidth(joined.trimEnd()) <= width) {
      current = joined
      isEmpty = false
      continue
    }
    lines.push(current.trimEnd())
    current = indent + word
    isEmpty = word === ""
  }
  if (!isEmpty) lines.push(current.trimEnd())
  return lines
}
