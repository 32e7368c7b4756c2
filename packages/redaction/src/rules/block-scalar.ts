import { endOfGutter } from "../gutters.js"
import type { Found } from "../rule.js"
import { isSecret, startOfName } from "./assignment.js"
import type { Finder } from "./finder.js"
import { kindOfName } from "./secret-names.js"
import { endOfBareValue, isRestOfText, LONGEST_VALUE } from "./value-end.js"

const LINE_BREAK = /\r?\n|\\{1,8}(?:r\\{1,8})?n/g
const HEADER = /: {1,2}[|>][-+0-9]{0,2}[ \t]{0,4}(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)((?:[ \t]|\\{1,8}t){1,32})/y
const CLOSER = /(?:\\{0,8}["'])?$/
const MOST_LINES = 100

/** `password: |` in YAML, and the lines below as long as they stand as deep as the first, which tells whether it is a secret. */
export const blockScalar: Finder = {
  patterns: [HEADER, LINE_BREAK],
  find(text, colon) {
    HEADER.lastIndex = colon
    const indent = HEADER.exec(text)?.[1]
    const start = HEADER.lastIndex
    // With its gutters it would be read wrong: there is a view of it without.
    if (indent === undefined || endOfGutter(text, start) > start) return undefined
    const nameEnd = colon - CLOSER.exec(text.slice(Math.max(0, colon - 9), colon))![0].length
    const kind = kindOfName(text.slice(startOfName(text, nameEnd), nameEnd))
    if (kind === undefined) return undefined
    const first = endOfLine(text, start)
    if (!isSecret(text.slice(start, first.end), kind, "quoted")) return undefined
    return blockFrom(text, indent, start, first)
  },
}

interface LineEnd {
  readonly end: number
  /** Where the next line begins; undefined where the text ends with this one. */
  readonly next: number | undefined
}

function endOfLine(text: string, from: number): LineEnd {
  LINE_BREAK.lastIndex = 0
  const lineBreak = LINE_BREAK.exec(text.slice(from, from + LONGEST_VALUE))
  if (lineBreak === null)
    return { end: isRestOfText(text, from) ? text.length : endOfBareValue(text, from), next: undefined }
  return { end: from + lineBreak.index, next: from + lineBreak.index + lineBreak[0].length }
}

function blockFrom(text: string, indent: string, start: number, first: LineEnd): Found {
  let { end, next } = first
  for (let line = 1; next !== undefined && line < MOST_LINES && next - start < LONGEST_VALUE; line++) {
    if (!text.startsWith(indent, next)) return { start, end, open: isBeginning(text, next, indent) }
    const from = next + indent.length
    const last = endOfLine(text, from)
    if (last.end > from) end = last.end
    next = last.next
  }
  return { start, end, open: next === undefined && text.slice(end, end + LONGEST_VALUE).trim() === "" }
}

/** Whether the text ends inside what may become the indent of one more line. */
const isBeginning = (text: string, at: number, indent: string): boolean =>
  text.length - at < indent.length && indent.startsWith(text.slice(at))
