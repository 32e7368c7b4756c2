import { endsOfGutters } from "../gutters.js"
import { isSpace } from "../text-edges.js"

export const LONGEST_VALUE = 4096
/** Shorter, for a text can be made of nothing but names and values, each the beginning of the next. */
const LONGEST_BARE_VALUE = 1024

export interface Quote {
  readonly valueAt: number
  /** A character, or what HTML writes for it. */
  readonly quote: string
  /** How many backslashes the quote has: how many strings deep the text is. */
  readonly depth: number
}

/** Where a quoted value ends: at its quote, with no more backslashes than the opening one had. */
export function endOfQuoted(text: string, { valueAt, quote, depth }: Quote): number | undefined {
  const last = Math.min(text.length, valueAt + LONGEST_VALUE)
  if (quote.length > 1) {
    const within = text.slice(valueAt, last)
    const end = within.indexOf(quote)
    return end < 0 || within.lastIndexOf("\n", end) >= 0 ? undefined : valueAt + end
  }
  const quoteCode = quote.charCodeAt(0)
  let backslashes = 0
  for (let at = valueAt; at < last; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) {
      backslashes++
      continue
    }
    if (code === quoteCode && backslashes <= depth) {
      // So a shell writes a single quote inside two of them.
      QUOTE_IN_SHELL.lastIndex = at
      if (quote === "'" && QUOTE_IN_SHELL.test(text)) {
        at = QUOTE_IN_SHELL.lastIndex - 1
        backslashes = 0
        continue
      }
      // SQL, Visual Basic and CSV write a quote inside as two of them.
      const second = at + 1 + depth
      if (at === valueAt + depth || text.charAt(second) !== quote || !isDoubled(text, at, second, quote))
        return at - backslashes
      at = second
    }
    if (code === 0x0a) return undefined
    backslashes = 0
  }
  return undefined
}

/** `'it''s'`: two quotes, written alike, with more of the value behind them, and one that ends it. `'' ''` and `"""` are something else. */
function isDoubled(text: string, first: number, second: number, quote: string): boolean {
  DOUBLED.lastIndex = second + 1
  return isBackslashes(text, first + 1, second) && text.charAt(second + 1) !== quote && DOUBLED.test(text)
}

function isBackslashes(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) !== BACKSLASH) return false
  return true
}
const QUOTE_IN_SHELL = /'\\{1,8}''/y
const DOUBLED = /[^\s,;:)\]}"'\\]/y

/** Where an unquoted value ends that stands in the middle of a line. */
export function endOfBareValue(text: string, start: number): number {
  let end = endOfWord(text, start)
  if (end - start > LONGEST_BARE_VALUE) return start
  // Three dots say that the rest was left out: there is nothing to hide.
  if (text.startsWith("...", end - 3)) return start
  while (end > start && isTrailing(text, start, end)) end--
  return end
}

/** Whether an unquoted value is longer than any that is looked at: then its line is as well. */
export const isTooLong = (text: string, start: number): boolean => endOfWord(text, start) - start > LONGEST_BARE_VALUE

// A text can be made of nothing but names and values, each inside the value of the one before: then all of them end at one place.
let word = { text: "", start: 0, end: 0 }

function endOfWord(text: string, start: number): number {
  if (word.text !== text || start < word.start || start > word.end) {
    let end = start
    while (end < text.length && !endsBareValue(text.charCodeAt(end))) end++
    word = { text, start, end }
  }
  return word.end
}

const ENDS_BARE_VALUE = new Uint8Array(128)
for (const character of "\0 \t\n\v\f\r\\\"'`,;&<") ENDS_BARE_VALUE[character.charCodeAt(0)] = 1

// A table, because a hostile text can have this asked for every character hundreds of times.
function endsBareValue(code: number): boolean {
  return code < 128 && ENDS_BARE_VALUE[code] === 1
}

// A bracket that the value did not open belongs to the sentence around it, and so do its full stop and colon.
function isTrailing(text: string, start: number, end: number): boolean {
  const character = text.charAt(end - 1)
  if (character === "." || character === ":") return true
  const opening = character === ")" ? "(" : character === "]" ? "[" : character === "}" ? "{" : undefined
  return opening !== undefined && !text.slice(start, end).includes(opening)
}

/** Whether the text breaks off in this word: whatever would have ended it has not come. */
export function isRestOfText(text: string, start: number): boolean {
  return text.length - start <= LONGEST_BARE_VALUE && !/\s|\\[nrt]/.test(text.slice(start))
}

/** Of an element's text: whatever stands before the tag that ends it. */
export function endOfElementText(text: string, start: number): number | undefined {
  const tag = text.slice(start, start + LONGEST_BARE_VALUE).search(TAG_BEHIND)
  if (tag >= 0) return start + text.slice(start, start + tag).replace(BLANKS_LAST, "").length
  return isRestOfText(text, start) ? text.length : undefined
}
const BLANKS_LAST = /\s{1,40}$/
const TAG_BEHIND = /(?:<|&lt;)\\{0,8}\/[A-Za-z][\w:.-]{0,40}(?:>|&gt;|\s|$)/

/** One of several, as in an address or in a connection string: it ends where the next begins. */
export function endOfOneOfSeveral(text: string, start: number, separator: string): number {
  const last = Math.min(text.length, start + LONGEST_BARE_VALUE)
  for (let end = start; end < last; end++) {
    const character = text.charAt(end)
    if (character === separator || isSpace(text.charCodeAt(end))) return end
    if (character === "\\") {
      QUOTE_INSIDE.lastIndex = end
      if (!QUOTE_INSIDE.test(text)) return end
      end = QUOTE_INSIDE.lastIndex - 1
      continue
    }
    if (character === "<" && isTagAt(text, end)) return end
    if (character === ")" && text.startsWith("](", end + 1)) return end
    if (QUOTES.includes(character) && closes(text, start, end, character)) return end
  }
  return last === text.length ? last : start
}

/** Whether a quote closes what is around the value, and is no sign of the value's own: one stands in front of it, or what follows ends a string of JSON. */
function closes(text: string, start: number, at: number, quote: string): boolean {
  const isOpen = text.slice(Math.max(0, start - FURTHEST_QUOTE), start).includes(quote)
  const next = text.charAt(at + 1)
  const mayBeFurther = start > FURTHEST_QUOTE && /^[\s,:\]}]?$/.test(next)
  return quote === '"' ? isOpen || mayBeFurther : isOpen && /^[\s),;\]}>]?$/.test(next)
}
const FURTHEST_QUOTE = 1024

/** `</b>`, `<br/>`, `<a href=…`. */
function isTagAt(text: string, at: number): boolean {
  TAG.lastIndex = at
  return TAG.test(text)
}
const TAG = /<(?:\/|[A-Za-z][\w:-]{0,20}(?:\s|\/?>))/y

/** In a sentence: up to a blank, and without the sentence's own signs. */
export function endOfStated(text: string, start: number): number {
  const last = Math.min(text.length, start + LONGEST_BARE_VALUE + 1)
  let end = start
  while (end < last && !isSpace(text.charCodeAt(end))) {
    if (text.charCodeAt(end) !== BACKSLASH) {
      end++
      continue
    }
    const inside = endOfQuoteInside(text, start, end)
    if (inside === undefined) break
    end = inside
  }
  while (end > start && ".,;:!?)]}\"'`*".includes(text.charAt(end - 1))) end--
  return end
}
/** Behind a quote that a string around it has escaped and that is the value's own: more of the word follows, or there is nothing it could close. */
function endOfQuoteInside(text: string, start: number, at: number): number | undefined {
  QUOTE_INSIDE.lastIndex = at
  if (QUOTE_INSIDE.test(text)) return QUOTE_INSIDE.lastIndex
  ESCAPED_QUOTE.lastIndex = at
  const quote = ESCAPED_QUOTE.exec(text)?.[0]
  const before = text.slice(Math.max(0, start - FURTHEST_QUOTE), start)
  return quote === undefined || before.includes(quote) ? undefined : at + quote.length
}
const QUOTE_INSIDE = /\\{1,8}["'](?=[^\s,:;}\]\\])/y
const ESCAPED_QUOTE = /\\{1,8}["']/y

/** The line that a name begins: how it was opened tells where it ends. */
export interface Line {
  /** How many backslashes its line breaks are written with; none for real ones. */
  readonly depth: number
  /** The quote that opened the string which the line is in, where it is the string's first. */
  readonly quote: string
}

const FURTHEST_START = 96
/** What may stand between the beginning of a line and a name that is given a value there. */
const BEFORE_NAME =
  /^[ \t]{0,40}(?:[\w.-]{1,20}=)?(?:(?:export|set|setx|declare|local|readonly|typeset|env|ENV|ARG|-x|-e|--env|\$env:|[$@#*+-]|__|\/\/|--)[ \t]{0,4}){0,4}(?:[A-Z]?[a-z]{1,15} ){0,3}$/

/** Undefined where the name stands in the middle of a line. */
export function lineOfName(text: string, nameStart: number): Line | undefined {
  const at = startOfLine(text, nameStart)
  if (at === undefined) return undefined
  const isBegun = endsOfGutters(text, at).some(
    (end) => end <= nameStart && BEFORE_NAME.test(text.slice(end, nameStart)),
  )
  return isBegun ? lineFrom(text, at) : undefined
}

/** The line that something stands in, wherever in it. */
export function lineAround(text: string, at: number): Line | undefined {
  const start = startOfLine(text, at)
  return start === undefined ? undefined : lineFrom(text, start)
}

function startOfLine(text: string, from: number): number | undefined {
  const earliest = Math.max(0, from - FURTHEST_START)
  let at = from
  for (; at > earliest; at--) {
    const code = text.charCodeAt(at - 1)
    if (code === 0x0a || code === 0x22 || code === 0x27 || code === 0x60) break
    if (code === 0x6e && text.charCodeAt(at - 2) === BACKSLASH) break
  }
  return at === earliest && earliest > 0 ? undefined : at
}

function lineFrom(text: string, at: number): Line {
  if (at === 0 || text.charCodeAt(at - 1) === 0x0a) return { depth: 0, quote: "" }
  const opener = text.charAt(at - 1)
  let backslashes = 0
  while (text.charCodeAt(at - 2 - backslashes) === BACKSLASH && backslashes < 16) backslashes++
  return opener === "n" ? { depth: backslashes, quote: '"' } : { depth: backslashes + 1, quote: opener }
}
const QUOTES = "\"'`"

/** Where an unquoted value ends that has its line to itself: at a blank, whatever else it holds. */
export function endOfValueInLine(text: string, start: number, { depth, quote }: Line): number {
  const last = Math.min(text.length, start + LONGEST_BARE_VALUE + 1)
  let backslashes = 0
  let end = start
  for (; end < last; end++) {
    const code = text.charCodeAt(end)
    if (isSpace(code) || code === 0) break
    if (code === BACKSLASH) {
      backslashes++
      continue
    }
    // The break of a line that is as deep as the one before it, and the quote that ends the string around both.
    if (backslashes > 0 && backslashes <= depth && "nrt".includes(text.charAt(end))) break
    if (quote !== "" && text.charAt(end) === quote && backslashes < depth) break
    if (SEPARATES.includes(text.charAt(end)) && beginsNext(text, start, end)) break
    backslashes = 0
  }
  if (end === last && last < text.length) return start
  end -= backslashes
  if (text.startsWith("...", end - 3)) return start
  while (
    end > start &&
    (",;".includes(text.charAt(end - 1)) || isTrailing(text, start, end) || isLoneQuote(text, start, end))
  )
    end--
  return end
}

const SEPARATES = "&;,<}"
/** `&user=bob`, `;Encrypt=true`, `, "user": …`, `</div>`, `},`: the next of several, or the end of what is around it. */
const NEXT =
  /[&;,]\\{0,8}["']?[A-Za-z_][\w.-]{1,40}\\{0,8}["']?(?:=|: )|<\/[A-Za-z][\w:-]{0,30}>|<br ?\/?>|\}[,;}\])]{0,3}(?:\s|$)/y

/** An ampersand parts what is written with signs, and nothing that stands behind a blank. */
function beginsNext(text: string, start: number, at: number): boolean {
  NEXT.lastIndex = at
  return NEXT.test(text) && !(text.charAt(at) === "&" && SEPARATE_WORD.test(text.slice(Math.max(0, start - 2), start)))
}
const SEPARATE_WORD = /[A-Za-z ] $/

/** A quote at the end that stands nowhere else in the value closes something around it. */
function isLoneQuote(text: string, start: number, end: number): boolean {
  const last = text.charAt(end - 1)
  return QUOTES.includes(last) && !text.slice(start, end - 1).includes(last)
}

const BACKSLASH = 0x5c
export const VALUE_END_PATTERNS: readonly RegExp[] = [
  ...[QUOTE_IN_SHELL, QUOTE_INSIDE, ESCAPED_QUOTE, DOUBLED, TAG_BEHIND, TAG, BEFORE_NAME, NEXT],
]
