import { displayWidth, headOf } from "./display-width.js"

export interface WrapOptions {
  /** Where lines may be broken; a piece that is too wide by itself is broken at its spaces. */
  readonly at: string
  /** In front of the first line. Default: nothing. */
  readonly lead?: string
  /** In front of every other line. */
  readonly indent: string
}

/** A line, which may hold our own colours, as several of at most `width` columns, broken between pieces. */
export function wrapText(line: string, width: number, { at, lead = "", indent }: WrapOptions): string[] {
  const lines: string[] = []
  let current: string | undefined
  const begin = (): string => (lines.length === 0 ? lead : indent)
  const fits = (text: string, reserved: number): boolean =>
    paintedWidth(text.replace(/ +$/, "")) + reserved <= Math.max(1, width - displayWidth(begin()))
  const endLine = (): void => {
    if (current !== undefined) lines.push((begin() + current).replace(/ +$/, ""))
    current = undefined
  }
  const addWord = (word: string, reserved: number): void => {
    if (word === "" && current === undefined) return
    const joined = current === undefined ? word : `${current} ${word}`
    if (fits(joined, reserved)) {
      current = joined
      return
    }
    endLine()
    for (const part of wordParts(word, width - Math.max(displayWidth(lead), displayWidth(indent)))) {
      endLine()
      current = part
    }
  }
  // The separator ends the line that it breaks, so that a reader sees that more follows.
  const mark = at.trimEnd()
  const pieces = line.split(at)
  for (const [index, piece] of pieces.entries()) {
    const reserved = index === pieces.length - 1 ? 0 : displayWidth(mark)
    const joined = current === undefined ? piece : current + at + piece
    if (at !== " " && fits(joined, reserved)) {
      current = joined
      continue
    }
    if (at !== " " && current !== undefined) {
      current += mark
      endLine()
    }
    const words = at !== " " && fits(piece, reserved) ? [piece] : piece.split(" ")
    for (const [place, word] of words.entries()) addWord(word, place === words.length - 1 ? reserved : 0)
  }
  endLine()
  return lines.length === 0 ? [lead] : lines
}

/** Pieces of a word of at most `width` columns. What overflowed would begin the terminal's next line, where only our own lines begin. */
function wordParts(word: string, width: number): string[] {
  const room = Math.max(1, width)
  if (paintedWidth(word) <= room || OUR_ID.test(word)) return [word]
  const [, paintOn = "", text = "", paintOff = ""] = PAINTED.exec(word) ?? []
  const parts: string[] = []
  for (let rest = text; rest !== ""; ) {
    const head = headOf(rest, room) || [...rest][0]!
    parts.push(head)
    rest = rest.slice(head.length)
  }
  return parts.map((part, index) => (index === 0 ? paintOn : "") + part + (index === parts.length - 1 ? paintOff : ""))
}

/** Is there to be copied, and cannot pass for a line of ours. */
const OUR_ID =
  /^(?:\u001b\[\d+m)*(?:sha256:[0-9a-f]{64}|run_[0-9A-Z]{26}(?:#\d+)?|[A-Z_]+=http:\/\/127\.0\.0\.1:\d+\/[\w./-]*)(?:\u001b\[\d+m)*$/
const PAINTED = /^((?:\u001b\[\d+m)*)(.*?)((?:\u001b\[\d+m)*)$/s

const paintedWidth = (text: string): number => displayWidth(text.replace(/\u001b\[\d+m/g, ""))

/**
 * Lines of finished text, which may hold our own colours, in at most `width` columns: broken at ` · ` and at spaces, and hanging below their
 * beginning. A bar in front of recorded lines stands in front of all their parts.
 */
export function fitLines(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => (paintedWidth(line) <= width ? [line] : fitLine(line, width)))
    .join("\n")
}

function fitLine(line: string, width: number): string[] {
  const bar = /^ *│ +/.exec(line)?.[0]
  if (bar !== undefined) {
    const indent = bar.slice(0, Math.max(bar.trimEnd().length + 1, Math.floor(width / 2)))
    return wrapText(line.slice(bar.length), width, { at: " ", lead: indent, indent })
  }
  const lead = /^ */.exec(line)![0]
  const indent = " ".repeat(Math.min(lead.length + 4, Math.floor(width / 2)))
  const { before, command } = withCommand(line.slice(lead.length))
  if (command === "") return wrapText(before, width, { at: " · ", lead, indent })
  // Of several commands each has its own lines.
  const lines = before === "" ? [] : fitLines((lead + before).replace(/(?: ·)? +$/, ""), width).split("\n")
  const start = lines.length === 0 ? lead : indent
  return [...lines, ...wrapCommand(command, width - start.length).map((part) => start + part)]
}

/**
 * A command at the end of a line is there to be pasted: it gets lines of its own. Only one of ours: recorded text stands in quotes or
 * behind a bar.
 */
function withCommand(text: string): { readonly before: string; readonly command: string } {
  const at =
    /(?<=^|: |· |→ | {2}|\u001b\[\d+m ?)(?:npx )?orangebox [a-z]+ [\x20-\x7e]*(?:\u001b\[\d+m)*$/.exec(text)?.index ??
    -1
  const isQuoted = at >= 0 && (text.slice(0, at).match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1
  return at < 0 || isQuoted ? { before: text, command: "" } : { before: text.slice(0, at), command: text.slice(at) }
}

/** A command in lines of at most `width` columns that a shell takes for one: broken between words, and gone on with behind a backslash. */
export function wrapCommand(command: string, width: number): string[] {
  const words = command.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"])+/gs) ?? [command]
  const lines: string[] = []
  let current = words[0]!
  for (const [index, word] of words.entries()) {
    if (index === 0) continue
    const isLast = index === words.length - 1
    if (paintedWidth(`${current} ${word}`) + (isLast ? 0 : 2) <= width) current += ` ${word}`
    else {
      lines.push(`${current} \\`)
      current = `  ${word}`
    }
  }
  return [...lines, current]
}
