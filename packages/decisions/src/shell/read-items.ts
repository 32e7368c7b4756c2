import type { RedirectOperator } from "./command.js"
import type { Cursor } from "./cursor.js"
import { arithmeticEnd, readHereText, readWord } from "./read-word.js"
import type { Item, Joint, Part, RawAssignment, RawRedirection, RawWord } from "./syntax.js"

// Commands are read into one flat list with marks where blocks open and close: a judge of commands needs to know which may run, in what
// order and whether for sure, not the tree of the language.

const OPENING: Readonly<Record<string, "group" | "condition" | "loop">> = {
  "{": "group",
  if: "condition",
  while: "loop",
  until: "loop",
}
const CLOSING = new Set(["}", "fi", "done", "esac"])
const BRANCHING = new Set(["elif", "else"])
const SKIPPED = new Set(["then", "do", "!", "time", "coproc"])
const DECLARING = new Set(["declare", "typeset", "local", "export", "readonly"])

export function readItems(cursor: Cursor, closer: ")" | undefined): Item[] {
  return cursor.nested(() => readSequence(cursor, closer), [])
}

function readSequence(cursor: Cursor, closer: ")" | undefined): Item[] {
  const items: Item[] = []
  // For every open `case`, whether a pattern comes next.
  const cases: boolean[] = []
  let joint: Joint = "next"
  while (!cursor.isExhausted) {
    skipBlanks(cursor)
    if (cursor.isAtEnd) {
      if (closer !== undefined) cursor.problem("a parenthesis is not closed")
      break
    }
    const separator = readSeparator(cursor, cases)
    if (separator !== undefined) {
      joint = separator
      continue
    }
    if (cases.at(-1) === true) {
      if (cursor.peek() === "(") cursor.at++
      const patterns = readPatterns(cursor)
      if (patterns.length === 1 && plainText(patterns[0]!) === "esac") {
        cases.pop()
        items.push({ kind: "close" })
      } else {
        cases[cases.length - 1] = false
        items.push({ kind: "close" }, { kind: "open", block: "condition", joint: "next" })
        items.push({ kind: "aside", words: patterns })
        if (cursor.peek() === ")") cursor.at++
      }
      joint = "next"
      continue
    }
    if (cursor.peek() === ")") {
      cursor.at++
      if (closer === ")") return items
      cursor.problem("a parenthesis closes nothing")
      continue
    }
    if (cursor.peek() === "(") {
      readParenthesis(cursor, items, joint)
      joint = "next"
      continue
    }
    joint = readCommand(cursor, items, joint, cases)
  }
  return items
}

function skipBlanks(cursor: Cursor): void {
  for (;;) {
    const character = cursor.peek()
    if (character === " " || character === "\t" || character === "\r" || character === "\0") cursor.at++
    else if (character === "\\" && cursor.peek(1) === "\n") cursor.at += 2
    else if (character === "#") skipComment(cursor)
    else return
  }
}

function skipComment(cursor: Cursor): void {
  const end = cursor.text.indexOf("\n", cursor.at)
  cursor.at = end === -1 ? cursor.text.length : end
}

function readSeparator(cursor: Cursor, cases: boolean[]): Joint | undefined {
  const two = cursor.text.slice(cursor.at, cursor.at + 2)
  switch (cursor.peek()) {
    case "\n":
      cursor.at++
      readHereDocuments(cursor)
      return "next"
    case ";":
      if (two === ";;" || two === ";&") {
        cursor.at += cursor.startsWith(";;&") ? 3 : 2
        if (cases.length > 0) cases[cases.length - 1] = true
      } else cursor.at++
      return "next"
    case "&":
      if (two === "&>") return undefined
      cursor.at += two === "&&" ? 2 : 1
      return two === "&&" ? "and" : "background"
    case "|":
      cursor.at += two === "||" || two === "|&" ? 2 : 1
      return two === "||" ? "or" : "pipe"
    default:
      return undefined
  }
}

function readHereDocuments(cursor: Cursor): void {
  for (const { redirection, stripTabs } of cursor.pending.splice(0)) {
    const delimiter = wordText(redirection.target)
    const isLiteral = redirection.target.parts.some((part) => part.kind === "text" && part.isQuoted)
    const lines: string[] = []
    let isClosed = false
    while (!cursor.isAtEnd) {
      const newline = cursor.text.indexOf("\n", cursor.at)
      const end = newline === -1 ? cursor.text.length : newline
      let line = cursor.text.slice(cursor.at, end)
      cursor.at = newline === -1 ? end : end + 1
      if (stripTabs) line = line.replace(/^\t+/, "")
      if (line === delimiter || line === `${delimiter}\r`) {
        isClosed = true
        break
      }
      lines.push(line)
    }
    if (!isClosed) cursor.problem("a here-document is not closed")
    const text = lines.map((line) => `${line}\n`).join("")
    const inside = cursor.inner(text)
    redirection.body = isLiteral
      ? { parts: [{ kind: "text", text, isQuoted: true }], start: 0, end: 0 }
      : inside.nested(() => readHereText(inside), undefined)
  }
}

/** The patterns of a `case` clause, up to the parenthesis behind them. */
function readPatterns(cursor: Cursor): RawWord[] {
  const words: RawWord[] = []
  while (!cursor.isAtEnd && !cursor.isExhausted) {
    skipBlanks(cursor)
    if (cursor.peek() === "|") {
      cursor.at++
      continue
    }
    const word = readWord(cursor)
    if (word === undefined) break
    words.push(word)
    if (words.length === 1 && plainText(word) === "esac") break
  }
  return words
}

function readParenthesis(cursor: Cursor, items: Item[], joint: Joint): void {
  if (cursor.peek(1) === "(") {
    const end = arithmeticEnd(cursor, cursor.at + 2)
    if (end !== undefined) {
      const start = cursor.at
      const inside = cursor.inner(cursor.text.slice(cursor.at + 2, end))
      readAside(inside, items)
      cursor.at = end + 2
      items.push(emptyCommand(joint, start, cursor.offset))
      return
    }
  }
  cursor.at++
  items.push({ kind: "subshell", joint, items: cursor.readItems(cursor, ")") })
}

function readAside(cursor: Cursor, items: Item[]): void {
  const word = cursor.nested(() => readHereText(cursor), undefined)
  if (word !== undefined) items.push({ kind: "aside", words: [word] })
}

// An arithmetic command changes nothing a check looks at, but what follows it is joined to it.
const emptyCommand = (joint: Joint, start: number, end: number): Item => ({
  kind: "command",
  joint,
  words: [],
  assignments: [],
  redirections: [],
  start,
  end,
})

/** One simple command, or the keyword that stands where one could begin. Answers how what follows is joined. */
function readCommand(cursor: Cursor, items: Item[], joint: Joint, cases: boolean[]): Joint {
  const start = cursor.at
  const words: RawWord[] = []
  const assignments: RawAssignment[] = []
  const redirections: RawRedirection[] = []
  while (!cursor.isAtEnd && !cursor.isExhausted) {
    skipBlanks(cursor)
    const redirection = readRedirection(cursor)
    if (redirection !== undefined) {
      redirections.push(redirection)
      continue
    }
    if (cursor.peek() === "(" && words.length === 1 && assignments.length === 0) {
      const name = plainText(words[0]!)
      cursor.at++
      skipBlanks(cursor)
      if (cursor.peek() === ")") cursor.at++
      else cursor.problem("a parenthesis stands where no command can begin")
      items.push({ kind: "function", name: name ?? "" })
      return readFunctionBody(cursor, items)
    }
    const word = readWord(cursor)
    if (word === undefined) {
      if (cursor.peek() === "(") cursor.problem("a parenthesis stands where no command can begin")
      break
    }
    if (words.length === 0) {
      const assignment = readAssignment(cursor, word)
      if (assignment !== undefined) {
        assignments.push(assignment)
        continue
      }
      if (assignments.length === 0 && redirections.length === 0) {
        const next = readKeyword(cursor, items, word, joint, cases)
        if (next !== undefined) return next
      }
    }
    if (cursor.peek() === "(" && words.length > 0 && isDeclaration(words[0]!, word)) {
      words.push(readArray(cursor, word))
      continue
    }
    words.push(word)
    if (words.length === 1 && plainText(word) === "[[") readTest(cursor, words)
  }
  if (cursor.at === start) {
    // Nothing could be read here; stepping over it keeps the reader moving.
    cursor.problem("a character stands where no command can begin")
    cursor.at++
    return "next"
  }
  items.push({ kind: "command", joint, words, assignments, redirections, start, end: cursor.offset })
  return "next"
}

const isDeclaration = (command: RawWord, word: RawWord): boolean =>
  DECLARING.has(plainText(command) ?? "") && (plainText(word)?.endsWith("=") ?? false)

/** Between `[[` and `]]` the operators of the shell are those of the test. */
function readTest(cursor: Cursor, words: RawWord[]): void {
  while (!cursor.isAtEnd && !cursor.isExhausted) {
    skipBlanks(cursor)
    const word = readWord(cursor)
    if (word === undefined) {
      if (cursor.peek() === ";") return
      cursor.at++
      continue
    }
    words.push(word)
    if (plainText(word) === "]]") return
  }
  cursor.problem("a [[ is not closed")
}

function readKeyword(cursor: Cursor, items: Item[], word: RawWord, joint: Joint, cases: boolean[]): Joint | undefined {
  const keyword = keywordText(word)
  if (keyword === undefined) return undefined
  if (SKIPPED.has(keyword)) {
    skipBlanks(cursor)
    if (keyword === "time" && /^-p\s/.test(cursor.text.slice(cursor.at, cursor.at + 3))) cursor.at += 2
    return joint
  }
  if (BRANCHING.has(keyword)) {
    items.push({ kind: "close" }, { kind: "open", block: "condition", joint: "next" })
    return "next"
  }
  const block = OPENING[keyword]
  if (Object.hasOwn(OPENING, keyword) && block !== undefined) {
    items.push({ kind: "open", block, joint })
    return "next"
  }
  if (CLOSING.has(keyword)) {
    if (keyword === "esac") cases.pop()
    items.push({ kind: "close" })
    return "next"
  }
  if (keyword === "case") {
    skipBlanks(cursor)
    const subject = readWord(cursor)
    items.push({ kind: "open", block: "condition", joint })
    if (subject !== undefined) items.push({ kind: "aside", words: [subject] })
    skipSpace(cursor)
    const before = cursor.at
    const next = readWord(cursor)
    if (next === undefined || plainText(next) !== "in") {
      cursor.at = before
      cursor.problem("a case without in")
    } else cases.push(true)
    return "next"
  }
  if (keyword === "for" || keyword === "select") {
    items.push({ kind: "open", block: "loop", joint })
    readEach(cursor, items)
    return "next"
  }
  if (keyword === "function") {
    skipBlanks(cursor)
    const name = readWord(cursor)
    skipBlanks(cursor)
    if (cursor.startsWith("()")) cursor.at += 2
    items.push({ kind: "function", name: name === undefined ? "" : (plainText(name) ?? "") })
    return readFunctionBody(cursor, items)
  }
  return undefined
}

/** The body of a function is a block of its own kind: it runs later, in a folder and with arguments of its own. */
function readFunctionBody(cursor: Cursor, items: Item[]): Joint {
  skipSpace(cursor)
  if (cursor.peek() === "{") {
    cursor.at++
    items.push({ kind: "open", block: "function", joint: "next" })
  }
  return "next"
}

function readEach(cursor: Cursor, items: Item[]): void {
  skipBlanks(cursor)
  if (cursor.startsWith("((")) {
    const start = cursor.at + 2
    const end = cursor.text.indexOf("))", start)
    const inside = cursor.inner(cursor.text.slice(start, end === -1 ? undefined : end))
    readAside(inside, items)
    cursor.at = end === -1 ? cursor.text.length : end + 2
    return
  }
  const variable = readWord(cursor)
  const name = variable === undefined ? undefined : plainText(variable)
  skipSpace(cursor)
  const before = cursor.at
  const next = readWord(cursor)
  const values: RawWord[] = []
  const hasValues = next !== undefined && plainText(next) === "in"
  if (hasValues) {
    for (;;) {
      skipBlanks(cursor)
      const value = readWord(cursor)
      if (value === undefined) break
      values.push(value)
    }
  } else cursor.at = before
  if (name !== undefined) items.push({ kind: "each", name, values: hasValues ? values : undefined })
}

function skipSpace(cursor: Cursor): void {
  skipBlanks(cursor)
  while (cursor.peek() === "\n") {
    cursor.at++
    skipBlanks(cursor)
  }
}

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=/

function readAssignment(cursor: Cursor, word: RawWord): RawAssignment | undefined {
  const first = word.parts[0]
  if (first?.kind !== "text" || first.isQuoted) return undefined
  const match = ASSIGNMENT.exec(first.text)
  if (match === null) return undefined
  const name = match[1] as string
  const isAppend = match[3] === "+"
  if (cursor.peek() === "(" && word.parts.length === 1 && first.text.length === match[0].length) {
    return { name, isAppend, value: readArray(cursor, word) }
  }
  const rest = first.text.slice(match[0].length)
  const parts: Part[] = rest === "" ? [] : [{ kind: "text", text: rest, isQuoted: false }]
  parts.push(...word.parts.slice(1))
  const value: RawWord = { parts, start: word.start + match[0].length, end: word.end }
  if (match[2] !== undefined) {
    return { name, isAppend, value: { ...value, parts: [{ kind: "unknown", parts, isQuoted: false, raw: "" }] } }
  }
  return { name, isAppend, value }
}

/** `(a b c)` behind an equals sign. Its elements may hold substitutions, so they are read like any words; its value is not followed. */
function readArray(cursor: Cursor, word: RawWord): RawWord {
  cursor.at++
  const parts: Part[] = []
  for (;;) {
    skipSpace(cursor)
    const element = readWord(cursor)
    if (element === undefined) break
    for (const part of element.parts) parts.push(part)
  }
  if (cursor.peek() === ")") cursor.at++
  else cursor.problem("an array is not closed")
  const raw = cursor.text.slice(word.start, cursor.at)
  return { parts: [{ kind: "unknown", parts, isQuoted: false, raw }], start: word.start, end: cursor.offset }
}

const REDIRECTION = /(?:\d{1,4}|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)/y

function readRedirection(cursor: Cursor): RawRedirection | undefined {
  REDIRECTION.lastIndex = cursor.at
  const match = REDIRECTION.exec(cursor.text)
  if (match === null) return undefined
  const operator = (match[1] ?? match[2]) as RedirectOperator
  const end = cursor.at + match[0].length
  if ((operator === "<" || operator === ">") && cursor.text[end] === "(") return undefined
  cursor.at = end
  skipBlanks(cursor)
  const target = readWord(cursor)
  if (target === undefined) {
    cursor.problem("a redirection names no file")
    return undefined
  }
  const redirection: RawRedirection = { operator, target, body: undefined }
  if (operator === "<<" || operator === "<<-") cursor.pending.push({ redirection, stripTabs: operator === "<<-" })
  return redirection
}

/** The text of a word that is literal and unquoted throughout: only such a word can be a keyword. */
function plainText(word: RawWord): string | undefined {
  let text = ""
  for (const part of word.parts) {
    if (part.kind === "brace") text += part.text
    else if (part.kind === "text" && !part.isQuoted) text += part.text
    else return undefined
  }
  return text
}

const BLOCKS = ["case", "for", "select", "function"]
const KEYWORDS = new Set([...Object.keys(OPENING), ...CLOSING, ...BRANCHING, ...SKIPPED, ...BLOCKS])

function keywordText(word: RawWord): string | undefined {
  // No keyword is longer.
  const text = word.end - word.start <= 8 ? plainText(word) : undefined
  return text !== undefined && KEYWORDS.has(text) ? text : undefined
}

function wordText(word: RawWord): string {
  return word.parts.map((part) => ("text" in part ? part.text : part.raw)).join("")
}
