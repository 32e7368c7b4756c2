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
}

const MORE_OF_NAME = / (?:key|token|value|for [\w.@-]{1,32}|is|\d{1,2})(?=[\s:='"])/iy
const CLOSERS = /(?:\\{0,7}["'`]|&quot;|&#3[49];|\[\d{0,4}\]|\]|\)|\*\*){0,3}/y
const TYPED = /[ \t]{1,4}[A-Za-z_][\w.]{0,20}[ \t]{1,4}:?=[ \t]{0,4}(?=\\{0,7}["'`])/y
const ANNOTATED = /:[ \t]{0,4}[A-Za-z_][\w.<>[\]]{0,30}[ \t]{1,4}=[ \t]{0,4}(?=\\{0,7}["'`])/y
const SIGN = /[ \t]{0,8}(?::{1,3}=|={1,3}>?|!={1,2}|\?=|\.=|->|:)[ \t]{0,8}/y
const COMMA = /[ \t]{0,2},[ \t]{0,4}(?=\\{0,7}["'`])/y
const VALUE_ATTRIBUTE = /\s{1,4}value {0,2}= {0,2}(?=\\{0,7}["'])/y
const SPACES = /[ \t]{1,8}(?!-)/y
const ELEMENT = />(?:\s|\\{1,7}[nrt]){0,24}/y
const NEXT_LINE = /(?:\s|\\{1,7}[nrt]){1,16}(?=\\{0,7}["'])/y
const QUOTE = /(?:[fbrLu@]|u8)?(\\{0,7})(["'`]|&quot;|&#3[49];)/y

export const GAP_PATTERNS: readonly RegExp[] = [
  ...[MORE_OF_NAME, CLOSERS, TYPED, ANNOTATED, SIGN, COMMA, VALUE_ATTRIBUTE, SPACES, ELEMENT, NEXT_LINE, QUOTE],
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
  const add = (at: number | undefined, isWeak = false): void => {
    if (at !== undefined) gaps.push(gapAt(text, at, moreOfName, isWeak))
  }
  // One look at the next character spares most names the trial of every sign.
  const next = text.charAt(closed)
  const isSpaced = next === " " || next === "\t" || next === "\n" || next === "\r"
  if (!isSpaced && !":=!?.-,>".includes(next)) return gaps
  if (isSpaced) add(after(TYPED, text, closed))
  if (next === ":") add(after(ANNOTATED, text, closed))
  const isElement = next === ">" && text.charCodeAt(nameStart - 1) === LESS
  const sign =
    after(SIGN, text, closed) ??
    (isClosed ? (after(COMMA, text, closed) ?? after(VALUE_ATTRIBUTE, text, closed)) : undefined) ??
    (isElement ? after(ELEMENT, text, closed) : undefined)
  add(sign === undefined ? undefined : (after(NEXT_LINE, text, sign) ?? sign))
  if (sign === undefined && isSpaced) {
    const isOption = text.charCodeAt(nameStart) === HYPHEN
    const spaces = after(SPACES, text, closed)
    const isStated = more.toLowerCase() === " is"
    if (spaces !== undefined && (isOption || isQuoteAt(text, spaces))) add(spaces, !isOption && !isStated)
  }
  return gaps
}

const SPACE = 0x20
const HYPHEN = 0x2d
const LESS = 0x3c

function isQuoteAt(text: string, at: number): boolean {
  return after(QUOTE, text, at) !== undefined
}

function gapAt(text: string, at: number, moreOfName: string, isWeak: boolean): Gap {
  QUOTE.lastIndex = at
  const match = QUOTE.exec(text)
  if (match === null) return { valueAt: at, quote: "", depth: 0, moreOfName, isWeak }
  return { valueAt: QUOTE.lastIndex, quote: match[2]!, depth: match[1]!.length, moreOfName, isWeak }
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
