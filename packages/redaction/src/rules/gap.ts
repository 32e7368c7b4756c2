import { nextLine } from "../gutters.js"

/** What stands between a name and its value. */
export interface Gap {
  /** Where the value begins, its opening quote left out. */
  readonly valueAt: number
  /** A character, or what HTML writes for it. */
  readonly quote: string
  /** How many backslashes the quote has: how many strings deep the text is. */
  readonly depth: number
  readonly moreOfName: string
  /** A sign that also stands between words of ordinary text, so that only a quoted value, or a strong one, counts. */
  readonly isWeak: boolean
  /** What stands here is the value itself: no name of a variable, as in code. */
  readonly isLiteral: boolean
}

const MORE_OF_NAME = / (?:key|token|value|for [\w.@-]{1,32}|is|was|to|as|\d{1,2})(?=[\s:='"])/iy
const CLOSERS = /(?:\\{0,7}["'`]|&quot;|&#3[49];|\[\d{0,4}\]|\]|\)|\*\*){0,3}/y
const TYPED = /[ \t]{1,4}[A-Za-z_][\w.]{0,20}[ \t]{1,4}:?=[ \t]{0,4}(?=\\{0,7}["'`])/y
const ANNOTATED = /:[ \t]{0,4}[A-Za-z_][\w.<>[\]]{0,30}[ \t]{1,4}=[ \t]{0,4}(?=\\{0,7}["'`])/y
const SIGN = /[ \t]{0,8}(?::{1,3}=|={1,3}>?|!={1,2}|\?=|\.=|->|:)[ \t]{0,8}/y
const COMMA = /[ \t]{0,2},[ \t]{0,4}(?=\\{0,7}["'`])/y
/** `<add key="name" value="…">`, `- name: NAME`, `value: …`, `{"name":"NAME","value":"…"}`. */
const VALUE_LABEL = /\\{0,8}["']?value\\{0,8}["']? {0,2}[:=] {0,2}/iy
const BETWEEN_LABELS = /(?:[\s,;]|\\{1,8}[nrt]){1,40}/y
/** `name - 'value'`. */
const DASH = /[ \t]{1,4}[-\u2013\u2014][ \t]{1,4}(?=\\{0,8}["'`])/y
/** `| name | value |`. */
const CELL = /[ \t]{0,8}\|[ \t]{0,8}/y
/** Of a multipart form. */
const HEADER_OF_PART = /[\w-]{4,40}: [\w/;=. -]{1,80}/y
const SPACES = /[ \t]{1,8}(?!-)/y
const ELEMENT = />(?:\s|\\{1,7}[nrt]){0,24}/y
const NEXT_LINE = /(?:\s|\\{1,7}[nrt]){1,16}(?=\\{0,7}["'])/y
const QUOTE = /(?:[fbrLu@]|u8)?(\\{0,7})(["'`]|&quot;|&#3[49];)/y

export const GAP_PATTERNS: readonly RegExp[] = [
  ...[MORE_OF_NAME, CLOSERS, TYPED, ANNOTATED, SIGN, COMMA, VALUE_LABEL, BETWEEN_LABELS, DASH, CELL],
  ...[HEADER_OF_PART, SPACES, ELEMENT, NEXT_LINE, QUOTE],
]

/**
 * Reads on from a name to its value. More than one place can hold it, `token: Text = "…"` having a type in between, and which one does may
 * only show later; a stream cannot wait, so each is judged by itself.
 */
export function readGaps(text: string, nameStart: number, nameEnd: number): Gap[] {
  const moreEnd = text.charCodeAt(nameEnd) === SPACE ? after(MORE_OF_NAME, text, nameEnd) : undefined
  const more = moreEnd === undefined ? "" : text.slice(nameEnd, moreEnd)
  const closed = after(CLOSERS, text, moreEnd ?? nameEnd)!
  const isClosed = closed > (moreEnd ?? nameEnd)
  const moreOfName = /^ (?:key|token)$/i.test(more) ? more : ""

  const gaps: Gap[] = []
  const add = (at: number | undefined, isWeak = false, isLiteral = false): void => {
    if (at !== undefined) gaps.push(gapAt(text, at, moreOfName, isWeak, isLiteral))
  }
  // One look at the next character spares most names the trial of every sign.
  const next = text.charAt(closed)
  const isSpaced = next === " " || next === "\t" || next === "\n" || next === "\r"
  if (!isSpaced && !":=!?.-,>|;\\".includes(next)) return gaps
  const isInLine = next === " " || next === "\t"
  const behind = isInLine ? text.charAt(endOfBlanks(text, closed)) : next
  if (isInLine && WORD.test(behind)) add(after(TYPED, text, closed))
  if (next === ":") add(after(ANNOTATED, text, closed))
  const sign =
    (SIGNS.includes(behind) ? (after(SIGN, text, closed) ?? after(DASH, text, closed)) : undefined) ??
    (isClosed ? after(COMMA, text, closed) : undefined)
  if (sign !== undefined) {
    add(after(NEXT_LINE, text, sign) ?? sign)
    return gaps
  }
  const literal =
    (LABELLED.test(behind) ? labelledValue(text, closed) : undefined) ??
    (isClosed ? partOfForm(text, nameStart, closed) : undefined) ??
    (next === ">" && text.charCodeAt(nameStart - 1) === LESS ? after(ELEMENT, text, closed) : undefined)
  if (literal !== undefined) {
    add(literal, false, true)
    return gaps
  }
  const cell = behind === "|" && isInTable(text, nameStart) ? after(CELL, text, closed) : undefined
  if (cell !== undefined) add(cell)
  else if (isSpaced) {
    const isOption = text.charCodeAt(nameStart) === HYPHEN
    const spaces = after(SPACES, text, closed)
    const isStated = STATED.test(more)
    if (spaces !== undefined && (isOption || isStated || isQuoteAt(text, spaces)))
      add(spaces, !isOption && !isStated, isOption)
  }
  return gaps
}

const WORD = /[A-Za-z_]/
const SIGNS = ":=!?.-\u2013\u2014"
/** What may stand before the word `value`, or begin it. */
const LABELLED = /[vV,;\r\n\\"']/

function endOfBlanks(text: string, from: number): number {
  let at = from
  while (at < from + 20 && (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB)) at++
  return at
}

const STATED = /^ (?:is|was|to|as)$/i

/** Behind the word `value`, in the same line or the next. */
function labelledValue(text: string, closed: number): number | undefined {
  const separated = after(BETWEEN_LABELS, text, closed)
  const inLine = separated === undefined ? undefined : after(VALUE_LABEL, text, separated)
  if (inLine !== undefined) return inLine
  const line = nextLine(text, /[,;]/.test(text.charAt(closed)) ? closed + 1 : closed)
  return line === undefined ? undefined : after(VALUE_LABEL, text, after(BETWEEN_LABELS, text, line) ?? line)
}

/** `name="password"` in the header of a part; its value stands below an empty line. */
function partOfForm(text: string, nameStart: number, closed: number): number | undefined {
  if (!/name=\\{0,8}"$/.test(text.slice(Math.max(0, nameStart - 16), nameStart))) return undefined
  let line = nextLine(text, closed)
  for (let headers = 0; line !== undefined && headers < 3; headers++) {
    const value = nextLine(text, line)
    if (value !== undefined) return value
    const headerEnd = after(HEADER_OF_PART, text, line)
    line = headerEnd === undefined ? undefined : nextLine(text, headerEnd)
  }
  return undefined
}

const isInTable = (text: string, nameStart: number): boolean =>
  /\|[ \t]{0,4}(?:\*\*|`)?$/.test(text.slice(Math.max(0, nameStart - 8), nameStart))

const SPACE = 0x20
const TAB = 0x09
const HYPHEN = 0x2d
const LESS = 0x3c

function isQuoteAt(text: string, at: number): boolean {
  return after(QUOTE, text, at) !== undefined
}

function gapAt(text: string, at: number, moreOfName: string, isWeak: boolean, isLiteral: boolean): Gap {
  QUOTE.lastIndex = at
  const match = QUOTE.exec(text)
  if (match === null) return { valueAt: at, quote: "", depth: 0, moreOfName, isWeak, isLiteral }
  return { valueAt: QUOTE.lastIndex, quote: match[2]!, depth: match[1]!.length, moreOfName, isWeak, isLiteral }
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
