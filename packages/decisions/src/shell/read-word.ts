import type { Cursor } from "./cursor.js"
import type { Part, RawWord } from "./syntax.js"

// A word is read into parts: what is literal, what names a variable, what runs commands. Nothing is expanded here.

const ENDS_WORD = new Set([" ", "\t", "\n", "\r", ";", "&", "|", "<", ">", "(", ")", ""])

/** The word at the cursor; undefined where none stands. */
export function readWord(cursor: Cursor): RawWord | undefined {
  const start = cursor.at
  const parts = readParts(cursor, isEndOfWord)
  return cursor.at === start ? undefined : { parts, start, end: cursor.offset }
}

/** A here-document's body, in which only `$`, backticks and backslashes mean something. */
export function readHereText(cursor: Cursor): RawWord {
  const parts: Part[] = []
  readQuotedParts(cursor, parts, undefined)
  return { parts, start: 0, end: cursor.offset }
}

function isEndOfWord(cursor: Cursor): boolean {
  const character = cursor.peek()
  if (!ENDS_WORD.has(character)) return false
  // `<(…)` and `>(…)` are words; `@(a|b)` is a pattern inside one.
  if ((character === "<" || character === ">") && cursor.peek(1) === "(") return false
  return true
}

function readParts(cursor: Cursor, isEnd: (cursor: Cursor) => boolean): Part[] {
  const parts: Part[] = []
  let literal = ""
  const flush = (): void => {
    if (literal !== "") parts.push({ kind: "text", text: literal, isQuoted: false })
    literal = ""
  }
  while (!cursor.isAtEnd && !cursor.isExhausted && !isEnd(cursor)) {
    const character = cursor.peek()
    if (character === "\\") {
      const next = cursor.peek(1)
      cursor.at += 2
      if (next === "\n" || next === "") continue
      flush()
      parts.push({ kind: "text", text: next, isQuoted: true })
    } else if (character === "'") {
      flush()
      parts.push({ kind: "text", text: readSingleQuoted(cursor), isQuoted: true })
    } else if (character === '"') {
      flush()
      readDoubleQuoted(cursor, parts)
    } else if (character === "$" && cursor.peek(1) === "'") {
      flush()
      cursor.at++
      parts.push({ kind: "text", text: readAnsiQuoted(cursor), isQuoted: true })
    } else if (character === "$" && cursor.peek(1) === '"') {
      flush()
      cursor.at++
      readDoubleQuoted(cursor, parts)
    } else if (character === "$" || character === "`") {
      const part = readExpansion(cursor, false)
      if (part === undefined) {
        literal += character
        cursor.at++
      } else {
        flush()
        parts.push(part)
      }
    } else if ((character === "<" || character === ">") && cursor.peek(1) === "(") {
      flush()
      const start = cursor.at
      cursor.at += 2
      parts.push(script(cursor, start, true))
    } else if (character === "{" || character === "}" || character === ",") {
      flush()
      parts.push({ kind: "brace", text: character })
      cursor.at++
    } else if (isExtendedPattern(cursor, literal)) {
      flush()
      parts.push(readExtendedPattern(cursor))
    } else {
      if (character !== "\0") literal += character
      cursor.at++
    }
  }
  flush()
  return parts
}

const isExtendedPattern = (cursor: Cursor, before: string): boolean =>
  "@!+?*".includes(cursor.peek()) && cursor.peek(1) === "(" && (before !== "" || cursor.peek() === "@")

function readExtendedPattern(cursor: Cursor): Part {
  const start = cursor.at
  cursor.at += 2
  const parts = cursor.nested(() => readParts(cursor, (inside) => inside.peek() === ")"), [])
  cursor.at++
  return { kind: "unknown", parts, isQuoted: false, raw: cursor.text.slice(start, cursor.at) }
}

function readSingleQuoted(cursor: Cursor): string {
  const close = cursor.text.indexOf("'", cursor.at + 1)
  const start = cursor.at + 1
  if (close === -1) cursor.problem("a single quote is not closed")
  const end = close === -1 ? cursor.text.length : close
  cursor.at = end + 1
  return cursor.text.slice(start, end)
}

function readDoubleQuoted(cursor: Cursor, parts: Part[]): void {
  cursor.at++
  // Even an empty pair of quotes makes a word.
  parts.push({ kind: "text", text: "", isQuoted: true })
  readQuotedParts(cursor, parts, '"')
  if (cursor.isAtEnd) cursor.problem("a double quote is not closed")
  cursor.at++
}

function readQuotedParts(cursor: Cursor, parts: Part[], closer: '"' | "}" | undefined): void {
  let literal = ""
  const flush = (): void => {
    if (literal !== "") parts.push({ kind: "text", text: literal, isQuoted: true })
    literal = ""
  }
  while (!cursor.isAtEnd && !cursor.isExhausted) {
    const character = cursor.peek()
    if (character === closer) break
    if (character === "\\") {
      const next = cursor.peek(1)
      cursor.at += 2
      if (next === "$" || next === "`" || next === "\\" || next === closer) literal += next
      else if (next !== "\n") literal += `\\${next}`
    } else if (character === "$" || character === "`") {
      const part = readExpansion(cursor, true)
      if (part === undefined) {
        literal += character
        cursor.at++
      } else {
        flush()
        parts.push(part)
      }
    } else if (character === '"' && closer === "}") {
      flush()
      readDoubleQuoted(cursor, parts)
    } else {
      if (character !== "\0") literal += character
      cursor.at++
    }
  }
  flush()
}

const ANSI_ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "?": "?" },
}
const NUMBERED_ESCAPE = /x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)/y

function readAnsiQuoted(cursor: Cursor): string {
  let value = ""
  cursor.at++
  while (!cursor.isAtEnd && cursor.peek() !== "'") {
    const character = cursor.peek()
    if (character !== "\\") {
      value += character
      cursor.at++
      continue
    }
    NUMBERED_ESCAPE.lastIndex = cursor.at + 1
    const numbered = NUMBERED_ESCAPE.exec(cursor.text)
    if (numbered === null) {
      const next = cursor.peek(1)
      value += ANSI_ESCAPES[next] ?? `\\${next}`
      cursor.at += 2
      continue
    }
    const hex = numbered[1] ?? numbered[2] ?? numbered[3]
    const code =
      hex !== undefined ? Number.parseInt(hex, 16) : numbered[4] !== undefined ? Number.parseInt(numbered[4], 8) : -1
    if (code === -1) value += String.fromCharCode((numbered[5] as string).charCodeAt(0) & 0x1f)
    else if (code <= 0x10ffff) value += String.fromCodePoint(code)
    cursor.at += 1 + numbered[0].length
  }
  if (cursor.isAtEnd) cursor.problem("a quoted text is not closed")
  cursor.at++
  // A shell ends the value at a NUL.
  const end = value.indexOf("\0")
  return end === -1 ? value : value.slice(0, end)
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]/y

/** What a `$` or a backtick begins; undefined when it stands for itself. */
function readExpansion(cursor: Cursor, isQuoted: boolean): Part | undefined {
  const start = cursor.at
  if (cursor.peek() === "`") return readBackticks(cursor, isQuoted)
  if (cursor.startsWith("$((")) {
    const end = arithmeticEnd(cursor, cursor.at + 3)
    if (end !== undefined) {
      const inside = cursor.inner(cursor.text.slice(cursor.at + 3, end))
      const parts: Part[] = []
      inside.nested(() => readQuotedParts(inside, parts, undefined), undefined)
      cursor.at = end + 2
      return { kind: "unknown", parts, isQuoted, raw: cursor.text.slice(start, cursor.at) }
    }
  }
  if (cursor.startsWith("$(")) {
    cursor.at += 2
    return script(cursor, start, isQuoted)
  }
  if (cursor.startsWith("${")) return readParameter(cursor, isQuoted)
  NAME.lastIndex = cursor.at + 1
  const name = NAME.exec(cursor.text)?.[0]
  if (name === undefined) return undefined
  cursor.at += 1 + name.length
  return { kind: "variable", name, isQuoted, raw: `$${name}` }
}

/** The commands of `$(…)`, `<(…)` or `>(…)`; the cursor stands behind the opening parenthesis. */
function script(cursor: Cursor, start: number, isQuoted: boolean): Part {
  const items = cursor.readItems(cursor, ")")
  return { kind: "script", items, isQuoted, raw: cursor.text.slice(start, cursor.at) }
}

function readBackticks(cursor: Cursor, isQuoted: boolean): Part {
  const start = cursor.at
  let inner = ""
  cursor.at++
  while (!cursor.isAtEnd && cursor.peek() !== "`") {
    const next = cursor.peek(1)
    if (cursor.peek() === "\\" && (next === "`" || next === "\\" || next === "$" || (isQuoted && next === '"')))
      cursor.at++
    inner += cursor.peek()
    cursor.at++
  }
  if (cursor.isAtEnd) cursor.problem("a backtick is not closed")
  cursor.at++
  const raw = cursor.text.slice(start, cursor.at)
  const inside = cursor.inner(inner)
  return { kind: "script", items: cursor.readItems(inside, undefined), isQuoted, raw }
}

/** `${…}`: a plain name is a variable, everything cleverer is unknown. */
function readParameter(cursor: Cursor, isQuoted: boolean): Part {
  const start = cursor.at
  cursor.at += 2
  NAME.lastIndex = cursor.at
  const name = NAME.exec(cursor.text)?.[0]
  if (name !== undefined && cursor.text[cursor.at + name.length] === "}") {
    cursor.at += name.length + 1
    return { kind: "variable", name, isQuoted, raw: cursor.text.slice(start, cursor.at) }
  }
  const parts: Part[] = []
  cursor.nested(() => {
    // Inside double quotes a single quote is a character like any other, also here.
    if (isQuoted) readQuotedParts(cursor, parts, "}")
    else parts.push(...readParts(cursor, (inside) => inside.peek() === "}"))
  }, undefined)
  if (cursor.isAtEnd) cursor.problem("a ${ is not closed")
  cursor.at++
  return { kind: "unknown", parts, isQuoted, raw: cursor.text.slice(start, cursor.at) }
}

const ARITHMETIC = /^[\w\s+\-*/%<>=!&|^~?:,.()$[\]{}#]*$/

/**
 * Where `))` ends an arithmetic expression that begins at `from`; undefined if it is no arithmetic but a subshell in a substitution. Text
 * with quotes or separators in it is never taken for arithmetic: reading it as commands can only show more of them.
 */
export function arithmeticEnd(cursor: Cursor, from: number): number | undefined {
  let open = 0
  for (let at = from; at < cursor.text.length; at++) {
    const character = cursor.text[at]
    if (character === "(") open++
    else if (character === ")") {
      if (open === 0) {
        if (!cursor.spend(at - from)) return undefined
        return cursor.text[at + 1] === ")" && ARITHMETIC.test(cursor.text.slice(from, at)) ? at : undefined
      }
      open--
    } else if (character === ";" || character === '"' || character === "'" || character === "`") {
      cursor.spend(at - from)
      return undefined
    }
  }
  cursor.spend(cursor.text.length - from)
  return undefined
}
