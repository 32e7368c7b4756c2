/**
 * A lossless JSON reader: number lexemes, duplicate keys and the place of every value in the text survive, and nesting a million deep is
 * walked with a list, not with the call stack. `JSON.parse` keeps none of these.
 */
export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonLiteral

interface Span {
  /** Character offsets in the text: `text.slice(start, end)` is the value as written. */
  readonly start: number
  readonly end: number
}
export interface JsonObject extends Span {
  readonly kind: "object"
  readonly members: readonly JsonMember[]
}
export interface JsonMember {
  readonly key: string
  readonly value: JsonNode
}
export interface JsonArray extends Span {
  readonly kind: "array"
  readonly items: readonly JsonNode[]
}
export interface JsonString extends Span {
  readonly kind: "string"
  readonly value: string
}
export interface JsonNumber extends Span {
  readonly kind: "number"
  readonly lexeme: string
}
export interface JsonLiteral extends Span {
  readonly kind: "literal"
  readonly value: true | false | null
}

export type JsonReading =
  | { readonly ok: true; readonly node: JsonNode }
  | { readonly ok: false; readonly at: number; readonly reason: string }

/** Why a text is no JSON and where, without quoting it: it may be a file of secrets that was named by mistake. */
export function whyNotJson(text: string): string | undefined {
  const reading = readJson(text)
  if (reading.ok) return undefined
  const before = text.slice(0, reading.at).split("\n")
  const what =
    text.trim() === "" ? "it is empty" : reading.at >= text.length ? "it ends too early" : "something else stands there"
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`
}

type Frame =
  | { kind: "object"; start: number; members: JsonMember[]; key: string | undefined }
  | { kind: "array"; start: number; items: JsonNode[] }

/** The reading of another text, and what the text to be read has in common with it. */
export interface EarlierReading {
  readonly node: JsonNode
  readonly length: number
  /** So many characters are the same at the beginning. */
  readonly head: number
  /** And so many at the end, none of them counted twice. */
  readonly tail: number
}

/**
 * @param earlier a text that is much like this one: what it shares is taken over. A client that resends its history is read at the cost of
 * what it added.
 */
export function readJson(text: string, earlier?: EarlierReading): JsonReading {
  const stack: Frame[] = earlier ? openAt(earlier.node, earlier.head) : []
  const last = earlier ? movedMembers(earlier, text.length - earlier.length) : undefined
  const keys: KnownKeys = []
  let isBehindValue = stack.length > 0
  let at = isBehindValue ? endOfLast(stack.at(-1)!) : skipSpace(text, 0)

  // Each turn begins where a value must stand; the first of a reading that goes on begins behind the last complete one.
  for (;;) {
    let done: JsonNode | undefined
    const char = text[at]
    const known = last && stack.length === 1 ? last.get(at) : undefined
    if (isBehindValue) {
      isBehindValue = false
    } else if (known !== undefined) {
      done = known
      at = known.end
    } else if (char === "{" || char === "[") {
      const start = at
      at = skipSpace(text, at + 1)
      if (char === "[" && text[at] === "]") {
        at++
        done = { kind: "array", start, end: at, items: [] }
      } else if (char === "{" && text[at] === "}") {
        at++
        done = { kind: "object", start, end: at, members: [] }
      } else if (char === "[") {
        stack.push({ kind: "array", start, items: [] })
        continue
      } else {
        const frame: Frame = { kind: "object", start, members: [], key: undefined }
        const afterKey = readKey(text, at, frame, keys)
        if (typeof afterKey !== "number") return afterKey
        at = afterKey
        stack.push(frame)
        continue
      }
    } else {
      done = readScalar(text, at)
      if (done === undefined) return failInScalar(text, at)
      at = done.end
    }

    // A value is complete: hand it to its container, and close every container that ends here.
    for (;;) {
      const frame = stack.at(-1)
      if (done !== undefined) {
        if (frame === undefined) {
          at = skipSpace(text, at)
          return at === text.length ? { ok: true, node: done } : fail(at, "text after the end of the value")
        }
        if (frame.kind === "array") frame.items.push(done)
        else frame.members.push({ key: frame.key!, value: done })
        done = undefined
      }
      at = skipSpace(text, at)
      if (text[at] === ",") {
        at = skipSpace(text, at + 1)
        if (frame!.kind === "object") {
          const afterKey = readKey(text, at, frame!, keys)
          if (typeof afterKey !== "number") return afterKey
          at = afterKey
        }
        break
      }
      if (frame!.kind === "object" && text[at] === "}") {
        at++
        done = { kind: "object", start: frame!.start, end: at, members: frame!.members }
      } else if (frame!.kind === "array" && text[at] === "]") {
        at++
        done = { kind: "array", start: frame!.start, end: at, items: frame!.items }
      } else {
        return fail(at, at >= text.length ? "the text ends inside a value" : `unexpected ${JSON.stringify(text[at])}`)
      }
      stack.pop()
    }
  }
}

// The containers that are open where the shared text ends, with what is complete in them. A value counts as complete when another character
// follows it there: a number may be longer in the new text. The innermost one holds at least one value, so the reading can go on behind it.
function openAt(root: JsonNode, shared: number): Frame[] {
  const stack: Frame[] = []
  let resumable = 0
  let node: JsonNode | undefined = root
  while (node?.kind === "object" || node?.kind === "array") {
    const values: readonly JsonNode[] = node.kind === "array" ? node.items : node.members.map((member) => member.value)
    const open = values.findIndex((value) => value.end >= shared)
    const count = open < 0 ? values.length : open
    const { start } = node
    if (node.kind === "array") stack.push({ kind: "array", start, items: values.slice(0, count) })
    else stack.push({ kind: "object", start, members: node.members.slice(0, count), key: node.members[count]?.key })
    if (count > 0) resumable = stack.length
    node = open >= 0 && values[open]!.start < shared ? values[open] : undefined
  }
  return stack.slice(0, resumable)
}

/** The members of the outermost value that stand in the shared end, by where they begin in a text that is `shift` characters longer. */
function movedMembers({ node, length, tail }: EarlierReading, shift: number): ReadonlyMap<number, JsonNode> {
  const found = new Map<number, JsonNode>()
  for (const { value } of node.kind === "object" ? node.members : []) {
    const moved = value.start >= length - tail ? movedBy(shift, value, 0) : undefined
    if (moved) found.set(moved.start, moved)
  }
  return found
}

const DEEPEST_MOVED = 64

/** Undefined for what is nested too deep to be walked with the call stack; it is read again. */
function movedBy(shift: number, node: JsonNode, depth: number): JsonNode | undefined {
  if (shift === 0) return node
  if (depth === DEEPEST_MOVED) return undefined
  const start = node.start + shift
  const end = node.end + shift
  switch (node.kind) {
    case "array": {
      const items: JsonNode[] = []
      for (const item of node.items) {
        const moved = movedBy(shift, item, depth + 1)
        if (moved === undefined) return undefined
        items.push(moved)
      }
      return { kind: "array", start, end, items }
    }
    case "object": {
      const members: JsonMember[] = []
      for (const { key, value } of node.members) {
        const moved = movedBy(shift, value, depth + 1)
        if (moved === undefined) return undefined
        members.push({ key, value: moved })
      }
      return { kind: "object", start, end, members }
    }
    case "string":
      return { kind: "string", start, end, value: node.value }
    case "number":
      return { kind: "number", start, end, lexeme: node.lexeme }
    case "literal":
      return { kind: "literal", start, end, value: node.value }
  }
}

function endOfLast(frame: Frame): number {
  return frame.kind === "array" ? frame.items.at(-1)!.end : frame.members.at(-1)!.value.end
}

function readKey(
  text: string,
  at: number,
  frame: Frame & { kind: "object" },
  keys: KnownKeys,
): number | (JsonReading & { ok: false }) {
  if (text[at] !== '"') return fail(at, "an object key must be a string")
  const slot = (text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2) * 7 + text.charCodeAt(at + 3)) & 127
  const known = keys[slot]
  let end: number
  if (known !== undefined && text.startsWith(known.literal, at)) {
    frame.key = known.key
    end = at + known.literal.length
  } else {
    const read = readString(text, at)
    if (read === undefined) return failInString(text, at)
    end = read.end
    frame.key = read.value
    if (end - at <= LONGEST_KNOWN_KEY) keys[slot] = { key: read.value, literal: text.slice(at, end) }
  }
  const colon = skipSpace(text, end)
  if (text[colon] !== ":") return fail(colon, "a key must be followed by a colon")
  return skipSpace(text, colon + 1)
}

/** The keys met so far, by their first characters: a list of messages has the same few in every one, and one string is enough for all. */
type KnownKeys = { readonly key: string; readonly literal: string }[]
const LONGEST_KNOWN_KEY = 32

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function readScalar(text: string, at: number): JsonNode | undefined {
  switch (text[at]) {
    case '"':
      return readString(text, at)
    case "t":
      return readLiteral(text, at, "true", true)
    case "f":
      return readLiteral(text, at, "false", false)
    case "n":
      return readLiteral(text, at, "null", null)
    default: {
      NUMBER.lastIndex = at
      const lexeme = NUMBER.exec(text)?.[0]
      if (!lexeme) return undefined
      const own = lexeme.length > SHORT ? decode(`"${lexeme}"`)! : lexeme
      return { kind: "number", start: at, end: at + lexeme.length, lexeme: own }
    }
  }
}

function readLiteral(text: string, at: number, word: string, value: JsonLiteral["value"]): JsonLiteral | undefined {
  return text.startsWith(word, at) ? { kind: "literal", start: at, end: at + word.length, value } : undefined
}

function failInScalar(text: string, at: number): JsonReading & { ok: false } {
  if (text[at] === '"') return failInString(text, at)
  return fail(at, at >= text.length ? "the text ends where a value should stand" : "a value should stand here")
}

// Found by searching, not by a regular expression: a pattern with alternatives keeps a way back for every character, and a string of ten
// megabytes would overflow that stack. The engine looks for quotes and reads escapes several times faster than a loop here could.
function readString(text: string, at: number): JsonString | undefined {
  const quote = closingQuote(text, at)
  if (quote < 0) return undefined
  const value = isShortAndPlain(text, at + 1, quote) ? text.slice(at + 1, quote) : decode(text.slice(at, quote + 1))
  return value === undefined ? undefined : { kind: "string", start: at, end: quote + 1, value }
}

function closingQuote(text: string, open: number): number {
  let quote = text.indexOf('"', open + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote
}

// Every run of backslashes is looked at once, by the quote behind it, so hostile text costs no more than its length.
function isEscaped(text: string, quote: number): boolean {
  let from = quote
  while (text.charCodeAt(from - 1) === BACKSLASH) from--
  return (quote - from) % 2 === 1
}

const BACKSLASH = 0x5c
// Most keys and values are so short, and a loop is quicker for them than a call into the engine's own reader. A slice of more characters
// would also keep the whole text in memory for as long as a caller keeps the value.
const SHORT = 12

function isShortAndPlain(text: string, from: number, to: number): boolean {
  if (to - from > SHORT) return false
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH || code < 0x20) return false
  }
  return true
}

function decode(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined
  }
}

/** What is wrong with a string that cannot be read, at the first place where something is. */
function failInString(text: string, at: number): JsonReading & { ok: false } {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) return fail(at, "a string with an invalid escape")
    if (code === BACKSLASH) i++
    else if (code < 0x20) return fail(i, "a control character inside a string")
  }
  return fail(at, "a string that does not end")
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

function fail(at: number, reason: string): JsonReading & { ok: false } {
  return { ok: false, at, reason }
}
