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

type Frame =
  | { kind: "object"; start: number; members: JsonMember[]; key: string | undefined }
  | { kind: "array"; start: number; items: JsonNode[] }

export function readJson(text: string): JsonReading {
  const stack: Frame[] = []
  let at = skipSpace(text, 0)

  // Each turn begins where a value must stand.
  for (;;) {
    let done: JsonNode | undefined
    const char = text[at]
    if (char === "{" || char === "[") {
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
        const afterKey = readKey(text, at, frame)
        if (typeof afterKey !== "number") return afterKey
        at = afterKey
        stack.push(frame)
        continue
      }
    } else {
      const scalar = readScalar(text, at)
      if (!("kind" in scalar)) return scalar
      done = scalar
      at = scalar.end
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
          const afterKey = readKey(text, at, frame!)
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

function readKey(text: string, at: number, frame: Frame & { kind: "object" }): number | (JsonReading & { ok: false }) {
  if (text[at] !== '"') return fail(at, "an object key must be a string")
  const key = readString(text, at)
  if (!("kind" in key)) return key
  const colon = skipSpace(text, key.end)
  if (text[colon] !== ":") return fail(colon, "a key must be followed by a colon")
  frame.key = key.value
  return skipSpace(text, colon + 1)
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERALS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const

function readScalar(text: string, at: number): JsonNode | (JsonReading & { ok: false }) {
  if (text[at] === '"') return readString(text, at)
  for (const [word, value] of LITERALS) {
    if (text.startsWith(word, at)) return { kind: "literal", start: at, end: at + word.length, value }
  }
  NUMBER.lastIndex = at
  const lexeme = NUMBER.exec(text)?.[0]
  if (lexeme) return { kind: "number", start: at, end: at + lexeme.length, lexeme }
  return fail(at, at >= text.length ? "the text ends where a value should stand" : "a value should stand here")
}

// Found by scanning, not by a regular expression: a pattern with alternatives keeps a way back for every character, and a string of ten
// megabytes would overflow that stack.
function readString(text: string, at: number): JsonString | (JsonReading & { ok: false }) {
  let isPlain = true
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) {
      const value = isPlain ? text.slice(at + 1, i) : decodeEscapes(text.slice(at, i + 1))
      return value === undefined
        ? fail(at, "a string with an invalid escape")
        : { kind: "string", start: at, end: i + 1, value }
    }
    if (code === 0x5c) {
      isPlain = false
      i++
    } else if (code < 0x20) {
      return fail(i, "a control character inside a string")
    }
  }
  return fail(at, "a string that does not end")
}

function decodeEscapes(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string
  } catch {
    return undefined
  }
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
