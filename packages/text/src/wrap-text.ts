import { displayWidth, headOf } from "./display-width.js"

export interface WrapOptions {
  /** Where lines may be broken; a piece that is too wide by itself is broken at its spaces. */
  readonly at: string
  /** In front of every line but the first. */
  readonly indent: string
  /** Words that are wider stay whole. For our own ids and commands, which are copied; recorded words are broken wherever they must be. */
  readonly keepsWords?: boolean
}

/** A line as several of at most `width` columns, broken between pieces. */
export function wrapText(line: string, width: number, { at, indent, keepsWords = false }: WrapOptions): string[] {
  const lines: string[] = []
  let current = ""
  const room = (): number => Math.max(1, width - (lines.length === 0 ? 0 : displayWidth(indent)))
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
    const parts =
      at === " " ? wordParts(piece, room(), keepsWords) : wrapText(piece, room(), { at: " ", indent: "", keepsWords })
    lines.push(...parts.slice(0, -1))
    current = parts.at(-1)!
  }
  if (current !== "" || lines.length === 0) lines.push(current)
  return lines.map((text, index) => (index === 0 ? text : indent + text))
}

/** Pieces of a word of at most `width` columns. What overflowed would begin the terminal's next line, where only our own lines begin. */
function wordParts(word: string, width: number, keepsWords: boolean): string[] {
  if (keepsWords || paintedWidth(word) <= width) return [word]
  const [, paintOn = "", text = "", paintOff = ""] = PAINTED.exec(word) ?? []
  const parts: string[] = []
  for (let rest = text; rest !== ""; ) {
    const head = headOf(rest, width) || [...rest][0]!
    parts.push(head)
    rest = rest.slice(head.length)
  }
  return parts.map((part, index) => (index === 0 ? paintOn : "") + part + (index === parts.length - 1 ? paintOff : ""))
}

const PAINTED = /^((?:\u001b\[\d+m)*)(.*?)((?:\u001b\[\d+m)*)$/s

const paintedWidth = (text: string): number => displayWidth(text.replace(/\u001b\[\d+m/g, ""))

/**
 * Lines of finished text, which may hold our own colours, in at most `width` columns: broken at spaces and hanging below their beginning. A
 * bar in front of recorded lines stands in front of all their parts.
 */
export function fitLines(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => (paintedWidth(line) <= width ? [line] : fitLine(line, width)))
    .join("\n")
}

function fitLine(line: string, width: number): string[] {
  const bar = /^ *│ /.exec(line)?.[0]
  const lead = bar ?? /^ */.exec(line)![0]
  const indent = bar ?? " ".repeat(Math.min(lead.length + 4, Math.floor(width / 2)))
  const lines: string[] = []
  let current = lead
  let isEmpty = true
  const { before, command } =
    bar === undefined ? withCommand(line.slice(lead.length)) : { before: line.slice(lead.length), command: "" }
  for (const word of before.split(" ")) {
    if (word === "" && isEmpty) continue
    const joined = isEmpty ? current + word : `${current} ${word}`
    if (paintedWidth(joined.trimEnd()) <= width) {
      current = joined
      isEmpty = false
      continue
    }
    if (!isEmpty) lines.push(current.trimEnd())
    const parts = wordParts(word, width - indent.length, false)
    for (const part of parts.slice(0, -1)) lines.push((lines.length === 0 ? lead : indent) + part)
    current = (lines.length === 0 ? lead : indent) + parts.at(-1)!
    isEmpty = word === ""
  }
  if (!isEmpty) lines.push(current.trimEnd())
  if (command !== "") lines.push((lines.length === 0 ? lead : indent) + command)
  return lines
}

/**
 * A command at the end of a line is there to be pasted: it gets a line of its own and stays whole, however wide. Only one of ours: recorded
 * text stands in quotes or behind a bar.
 */
function withCommand(text: string): { readonly before: string; readonly command: string } {
  const at = /(?:npx )?\borangebox [a-z]+ [\x20-\x7e]*$/.exec(text)?.index ?? -1
  const isQuoted = at >= 0 && (text.slice(0, at).match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1
  return at < 0 || isQuoted ? { before: text, command: "" } : { before: text.slice(0, at), command: text.slice(at) }
}
