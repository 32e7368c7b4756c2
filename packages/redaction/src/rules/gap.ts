import { nextLine } from "../gutters.js"
import { kindOfName } from "./secret-names.js"
import { endOfQuoted } from "./value-end.js"

/** What stands between a name and its value. */
export interface Gap {
  /** Where the value begins, its opening quote left out. */
  readonly valueAt: number
  /** A character, or what HTML writes for it. */
  readonly quote: string
  /** How many backslashes the quote has: how many strings deep the text is. */
  readonly depth: number
  /** A sign that also stands between words of ordinary text, so that only a quoted value, or a strong one, counts. */
  readonly isWeak: boolean
  /** What stands here is the value itself: no name of a variable, as in code. */
  readonly isLiteral: boolean
  /** One of a list, which may as well be one of names. */
  readonly isListed: boolean
  /** What an unquoted value ends with: the word, the line it is alone in, the tag of the element it is the text of, or a blank. */
  readonly ends: "word" | "line of name" | "line" | "tag" | "blank"
}

export type GapTraits = Partial<Pick<Gap, "isWeak" | "isLiteral" | "isListed" | "ends">>

export interface Gaps {
  readonly gaps: readonly Gap[]
  /** Behind the quotes and brackets that close the name. */
  readonly closed: number
  readonly moreOfName: string
}

const MORE_OF_NAME =
  / (?:key|token|value|for [\w.@-]{1,32}|is|was|to|as|lautet|ist|est|es|\u00e8|\u00e9|\d{1,2}(?=[ ]?[:=]))(?=[\s:='"])/iy
const CLOSERS = /(?:\\{0,7}["'`]|&quot;|&#3[49];|\[\d{0,4}\]|\]|\)|\*\*){0,3}/y
const TYPED = /[ \t]{1,4}[A-Za-z_][\w.]{0,20}[ \t]{1,4}:?=[ \t]{0,4}(?=\\{0,7}["'`])/y
const ANNOTATED = /:[ \t]{0,4}[A-Za-z_&]['\w.<>[\]& ]{0,30}=[ \t]{0,4}(?=\\{0,7}["'`])/y
/** The mark that makes a label bold may end behind its colon. */
const SIGN =
  /[ \t\u00a0]{0,40}(?::{1,3}=|={1,3}>?|!={1,2}|\?=|\.=|->|::(?= )|[:\uff1a\uff1d])(?:\*\*|__|<\/(?:b|strong|em|label|span|dt)>)?[ \t]{0,40}/y
/** `process.env.NAME || "value"`, `os.getenv("NAME") or "value"`. */
const FALLBACK = /[ \t]{0,4}(?:\|\||\?\?|\?:|or)[ \t]{0,4}(?=\\{0,7}["'`])/y
/** `${NAME:-value}`. */
const DEFAULT = /:?[-=?+]/y
/** `setPassword("value")`. */
const CALL = /\([ \t]{0,4}(?=\\{0,7}["'`])/y
const LIST = /\[(?:\s|\\{1,8}[nrt]){0,24}(?=\\{0,8}["'])/y
const NEXT_IN_LIST = /\\{0,8}["'](?:\s|\\{1,8}[nrt]){0,24},(?:\s|\\{1,8}[nrt]){0,24}(?=\\{0,8}["'])/y
const ITEM_BELOW = /(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)[ \t]{0,40}-[ \t]{1,4}/y
const COMMA = /[ \t]{0,2},[ \t]{0,24}(?=\\{0,7}["'`])/y
/** `name - 'value'`. */
const DASH = /[ \t]{1,4}[-\u2013\u2014][ \t]{1,4}(?=\\{0,8}["'`])/y
/** `| name | value |`. */
const CELL = /[ \t]{0,8}\|[ \t]{0,8}/y
/** Between columns of a file of tabs. */
const COLUMN = /\t|\\{1,8}t/y
/** Of a multipart form. */
const HEADER_OF_PART = /[\w-]{4,40}: [\w/;=. -]{1,80}/y
const SPACES = /[ \t]{1,8}(?!-)/y
/** Between two columns of a listing, which has no line between them. */
const WIDE_BLANKS = /(?: {2,60}|[ \t]{0,8}\t[ \t]{0,8})(?![ \t-])/y
/** `password 0 …`, as a router says that what follows is plain. */
const NUMBERED = / [0-9] (?! )/y
/** `Enter passphrase for key 'id': …`, `Secret Access Key [None]: …`: what a program asks or tells in words. */
const SPOKEN = /((?: \[[^\]\n\\]{0,24}\]| ['"]?[A-Za-z][\w@.'"/-]{0,40}){1,6}):[ \t]{1,4}/y
/** Words that make another thing of it. */
const OF_SOMETHING_ELSE =
  / (?:ids?|hash|digest|sha\d*|fingerprint|checksum|versions?|commit|revision|names?|url|uri|path|files?|count|usage|length|size|types?|arn|expires?|by|at|on|not|no|error|failed|invalid|policy|rules?)(?![A-Za-z])/i
/** What a program wraps a text in: `Some("…")`, `SecretStr('…')`, `string(20) "…"`. */
const WRAPPER =
  /(?:(?:Some|Just|Ok|Sensitive|Secret(?:Str(?:ing)?)?|NSString|(?:new )?String|str|bytes)\(|string\(\d{1,6}\) )(?=\\{0,8}["'`])/y
/** `getByLabel("Password").fill("…")`: a field that is named, and what is typed into it. */
const TYPED_INTO =
  /[^"'`\n\\()]{0,40}(?:\\{0,8}["'`]){0,1}\]?(?:\\{0,8}["'`]){0,1}\)(?:\.\w{1,20}\(\)){0,1}\.(?:fill|type|send_?[kK]eys|set_?[vV]alue|press_?[sS]equentially|enter)\([ \t]{0,4}(?=\\{0,8}["'`])/y
const ELEMENT = />(?:\s|\\{1,7}[nrt]){0,24}/y
const NEXT_LINE = /(?:\s|\\{1,7}[nrt]){1,16}(?=\\{0,7}["'])/y
const QUOTE = /(?:[fbrLuNERB@$]|u8)?(\\{0,7})(["'`]|&quot;|&#3[49];)/y

export const GAP_PATTERNS: readonly RegExp[] = [
  ...[MORE_OF_NAME, CLOSERS, TYPED, ANNOTATED, SIGN, FALLBACK, DEFAULT, CALL, LIST, NEXT_IN_LIST, ITEM_BELOW, COMMA],
  ...[DASH, CELL, COLUMN, HEADER_OF_PART, SPACES, ELEMENT, NEXT_LINE, QUOTE, WIDE_BLANKS, NUMBERED, SPOKEN],
  ...[WRAPPER, TYPED_INTO],
]

/**
 * Reads on from a name to its value. More than one place can hold it, `token: Text = "…"` having a type in between, and which one does may
 * only show later; a stream cannot wait, so each is judged by itself.
 */
export function readGaps(text: string, nameStart: number, nameEnd: number): Gaps {
  const moreEnd = text.charCodeAt(nameEnd) === SPACE ? after(MORE_OF_NAME, text, nameEnd) : undefined
  const more = moreEnd === undefined ? "" : text.slice(nameEnd, moreEnd)
  const closed = after(CLOSERS, text, moreEnd ?? nameEnd)!
  const isClosed = closed > (moreEnd ?? nameEnd)
  const moreOfName = /^ (?:key|token)$/i.test(more) ? more : ""

  const gaps: Gap[] = []
  const read = { gaps, closed, moreOfName }
  const add = (at: number | undefined, is: GapTraits = {}): void => {
    if (at !== undefined) gaps.push(gapAt(text, at, is))
  }
  // One look at the next character spares most names the trial of every sign.
  const next = text.charAt(closed)
  const isSpaced = next === " " || next === "\t" || next === "\n" || next === "\r" || next === "\u00a0"
  if (!isSpaced && !":=!?.-,>|;\\()\uff1a\uff1d".includes(next)) return read
  const isInLine = next === " " || next === "\t" || next === "\u00a0"
  const behind = isInLine ? text.charAt(endOfBlanks(text, closed)) : next
  if (isInLine && WORD.test(behind)) add(after(TYPED, text, closed))
  if (next === ":") add(after(ANNOTATED, text, closed))
  if (text.startsWith("${", nameStart - 2)) {
    add(after(DEFAULT, text, closed), { isLiteral: true })
    return read
  }
  if (isClosed) add(after(TYPED_INTO, text, nameEnd))
  if (next === "(" && isGivingCall(text.slice(nameStart, nameEnd))) add(after(CALL, text, closed))
  if ("|?".includes(behind) || (behind === "o" && /[)\]]/.test(text.charAt(closed - 1))))
    add(after(FALLBACK, text, closed))
  const sign = SIGNS.includes(behind) ? (after(SIGN, text, closed) ?? after(DASH, text, closed)) : undefined
  if (sign !== undefined) {
    const list = after(LIST, text, sign)
    if (list !== undefined) gaps.push(...itemsFrom(text, list))
    else {
      const item = after(ITEM_BELOW, text, sign)
      add(
        item ?? wrappedAt(text, sign) ?? after(NEXT_LINE, text, sign) ?? sign,
        item === undefined ? { ends: "line of name" } : { isLiteral: true, ends: "line" },
      )
      if (item === undefined) add(valueBelow(text, sign), { ends: "blank" })
    }
    return read
  }
  // `{password, "…"}` of Erlang has no quotes around its name.
  const comma = isClosed || text.startsWith("{", nameStart - 1) ? after(COMMA, text, closed) : undefined
  if (comma !== undefined) {
    add(comma, { isListed: !FIRST_ARGUMENT.test(text.slice(Math.max(0, nameStart - 16), nameStart)) })
    return read
  }
  add(isClosed ? partOfForm(text, nameStart, closed) : undefined, { isLiteral: true, ends: "line" })
  if (next === ">" && text.charCodeAt(nameStart - 1) === LESS)
    add(after(ELEMENT, text, closed), { isLiteral: true, ends: "tag" })
  if (gaps.length > 0) return read
  add(spoken(text, closed), { ends: "blank" })
  const cell = behind === "|" && isInTable(text, nameStart) ? after(CELL, text, closed) : undefined
  if (cell !== undefined) add(cell)
  else if ((next === "\t" || next === "\\") && /(?:\t|\\t)$/.test(text.slice(Math.max(0, nameStart - 2), nameStart)))
    add(after(COLUMN, text, closed), { isLiteral: true })
  else if (isSpaced) {
    const isSet = isSetting(text, nameStart) || isBehindLogin(text, nameStart)
    const isOption = text.charCodeAt(nameStart) === HYPHEN || isSet
    const spaces = after(SPACES, text, closed)
    const isStated = STATED.test(more)
    if (spaces !== undefined && (isOption || isStated || !isClosed || isQuoteAt(text, spaces)))
      add(spaces, {
        isWeak: !isOption && !isStated,
        isLiteral: isOption,
        ends: isSet ? "line" : isStated || !isOption ? "blank" : "word",
      })
    if (!isClosed) {
      add(after(WIDE_BLANKS, text, closed), { ends: "blank" })
      add(after(NUMBERED, text, closed), { isWeak: true, ends: "blank" })
    }
  }
  return read
}

/** Behind what wraps the value, here or on the next line. */
function wrappedAt(text: string, sign: number): number | undefined {
  const below = nextLine(text, endOfBlanks(text, sign), 1)
  return after(WRAPPER, text, below === undefined ? sign : endOfBlanks(text, below))
}

/** `Your new token is:` and the value on a line of its own, or on the one after that. */
function valueBelow(text: string, sign: number): number | undefined {
  let at = endOfBlanks(text, sign)
  for (let lines = 0; lines < 2; lines++) {
    const line = nextLine(text, at, 1)
    if (line === undefined) return undefined
    at = endOfBlanks(text, line)
    if (/[\w+/]/.test(text.charAt(at))) return at
  }
  return undefined
}

function spoken(text: string, closed: number): number | undefined {
  const at = after(SPOKEN, text, closed)
  return at === undefined || OF_SOMETHING_ELSE.test(text.slice(closed, at)) ? undefined : at
}

/** `define('NAME', …`: two of a list are not a name and its value, two arguments are. */
const FIRST_ARGUMENT = /\([ \t]{0,4}\\{0,8}["'`]$/
const MOST_ITEMS = 16

function itemsFrom(text: string, first: number): Gap[] {
  const items: Gap[] = []
  for (let at: number | undefined = first; at !== undefined && items.length < MOST_ITEMS; ) {
    const item = gapAt(text, at, { isListed: true })
    items.push(item)
    const end = endOfQuoted(text, item)
    at = end === undefined ? undefined : after(NEXT_IN_LIST, text, end)
  }
  return items
}

/** `setPassword`, `.withApiKey`, `.password`: a call that is given the secret, not one that makes or asks for it. */
function isGivingCall(name: string): boolean {
  const method = name.slice(name.lastIndexOf(".") + 1)
  const isGiving =
    (name.includes(".") && kindOfName(method) !== undefined) || /^(?:set|with|use|add)[_A-Z]/.test(method)
  return isGiving && !ASKING.test(method) && method !== "pass"
}
const ASKING =
  /^(?:get|read|fetch|load|find|create|generate|encode|decode|parse|validate|verify|check|is|has|hash|compare|make|build|require|assert|expect|test|format|print|log|show|prompt|ask|input|count|split|match)(?![a-z])/i

/** `ENV NAME value`, `setx NAME value`, `aws configure set name value`: what follows the name is its value. */
function isSetting(text: string, nameStart: number): boolean {
  return SETTING.test(text.slice(Math.max(0, nameStart - FURTHEST_SETTING), nameStart))
}
const FURTHEST_SETTING = 128
const SETTING =
  /(?:^|[^A-Za-z0-9_-]|\\[nrt])(?:ENV|set(?= -[A-Za-z]{1,4} )|setenv|SetEnv|d-i [\w/.-]{1,60}|setx(?:\.exe)?|(?:proxy_set|add)_header|RequestHeader set|(?:configure|config|secrets?|env|vars?|variables?)[: ](?:set|add|put|create)|git config)(?: -{1,2}[\w-]{1,20}){0,2}[ \t]{1,4}(?:\/\/[\w.:/-]{1,80}\/:)?$/

/** `machine … login … password …` of a .netrc file, in one line or three. */
function isBehindLogin(text: string, nameStart: number): boolean {
  const from = Math.max(0, nameStart - 160)
  const login = LOGIN.exec(text.slice(from, nameStart))
  if (login === null) return false
  const end = from + login.index + login[0].length
  return end === nameStart || endOfBlanks(text, nextLine(text, end) ?? end) === nameStart
}
const LOGIN = /(?:^|[^A-Za-z])login[ \t]{1,4}[^\s\\]{1,100}[ \t]{0,4}(?=\r?\n|\\|$)(?![\s\S]*login)/

const WORD = /[A-Za-z_]/
const SIGNS = ":=!?.-\u2013\u2014\uff1a\uff1d"

export function endOfBlanks(text: string, from: number): number {
  let at = from
  while (at < from + 40 && (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB)) at++
  return at
}

const STATED = /^ (?:is|was|to|as|lautet|ist|est|es|\u00e8|\u00e9)$/i

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

export function gapAt(
  text: string,
  at: number,
  { isWeak = false, isLiteral = false, isListed = false, ends = "word" }: GapTraits,
): Gap {
  QUOTE.lastIndex = at
  const match = QUOTE.exec(text)
  if (match === null) return { valueAt: at, quote: "", depth: 0, isWeak, isLiteral, isListed, ends }
  const [, backslashes = "", quote = ""] = match
  return { valueAt: QUOTE.lastIndex, quote, depth: backslashes.length, isWeak, isLiteral, isListed, ends }
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
