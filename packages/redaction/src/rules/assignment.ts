import type { Found } from "../rule.js"
import { endsEscape, isAlphanumeric, isSpace } from "../text-edges.js"
import type { Finder } from "./finder.js"
import { GAP_PATTERNS, type Gap, readGaps } from "./gap.js"
import { isPublishedExample } from "./published-example.js"
import { kindOfName, type NameKind } from "./secret-names.js"
import { isSecretValue, type Quoting } from "./secret-values.js"

/**
 * Values given to telling names, in any notation: `KEY=value`, `"key": "value"`, `key => 'value'`, `--key value`, `<key>value</key>`, also
 * inside JSON strings, where every quote has its backslashes.
 */
export const assignment: Finder = {
  patterns: GAP_PATTERNS,
  find(text, keywordAt, keyword) {
    const start = startOfName(text, keywordAt)
    const nameEnd = endOfName(text, keywordAt + keyword.replace(/[^a-z.]+$/, "").length)
    if (isNameCharacter(text.charCodeAt(nameEnd)) || isEndOfPath(text, start, nameEnd)) return undefined
    const gaps = readGaps(text, start, nameEnd)
    if (gaps.length === 0) return undefined
    const kind = kindOfName(text.slice(startOfTwoWords(text, start, nameEnd), nameEnd) + gaps[0]!.moreOfName)
    if (kind === undefined) return undefined
    const isLiteral = standsForItself(text, start, nameEnd)
    return gaps.flatMap((gap) => readValue(text, gap, kind, isLiteral || gap.isLiteral ? "literal" : "bare") ?? [])
  },
}

/** `"/etc/passwd","content":…` names a file; only a sign right behind the name makes it a name that is given something. */
function isEndOfPath(text: string, start: number, nameEnd: number): boolean {
  return text.charCodeAt(start - 1) === 0x2f && !"=:".includes(text.charAt(nameEnd) || " ")
}

const LONGEST_NAME = 48

/**
 * `DB_PASSWORD=…` in an environment, `;Pwd=…` in a connection string and `?password=…` in an address: what follows is the value itself, never
 * the name of a variable, as it may be in code.
 */
function standsForItself(text: string, start: number, nameEnd: number): boolean {
  if (text.charCodeAt(nameEnd) !== 0x3d || isSpace(text.charCodeAt(nameEnd + 1))) return false
  if (start > 0 && ";?&".includes(text.charAt(start - 1))) return true
  return (
    nameEnd - start > 3 && /^[A-Z][A-Z0-9_]*$/.test(text.slice(start, nameEnd)) && !text.endsWith("OLDPWD", nameEnd)
  )
}

const isNameCharacter = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x5f || code === 0x2d || code === 0x2e || code === 0x24

export function startOfName(text: string, at: number): number {
  const first = Math.max(0, at - LONGEST_NAME)
  let start = at
  while (start > first && isNameCharacter(text.charCodeAt(start - 1)) && !endsEscape(text, start)) start--
  return start
}

/** `Secret Key: …` and `API token = …` are names of two words; `is DB_PASSWORD=…` is a name of one. */
function startOfTwoWords(text: string, start: number, end: number): number {
  if (text.charCodeAt(start - 1) !== 0x20 || text.slice(start, end).includes("_")) return start
  let before = start - 1
  while (before > 0 && start - before < 20 && isAlphanumeric(text.charCodeAt(before - 1))) before--
  return before < start - 1 ? before : start
}

function endOfName(text: string, at: number): number {
  const last = Math.min(text.length, at + LONGEST_NAME)
  let end = at
  while (end < last && isNameCharacter(text.charCodeAt(end))) end++
  return end
}

export const LONGEST_VALUE = 4096
/** Shorter, for a text can be made of nothing but names and values, each the beginning of the next. */
const LONGEST_BARE_VALUE = 1024

function readValue(text: string, gap: Gap, kind: NameKind, unquoted: "bare" | "literal"): Found | undefined {
  if (gap.isWeak && kind !== "password") return undefined
  const start = gap.valueAt
  const end = gap.quote === "" ? endOfBareValue(text, start) : endOfQuoted(text, gap)
  if (end !== undefined) {
    const quoting = gap.quote === "" ? unquoted : gap.isWeak ? "named" : "quoted"
    return end > start && isSecret(text.slice(start, end), kind, quoting) ? { start, end } : undefined
  }
  // A quote that is not closed: it may be before long, if the text ends here; until then the value is what a bare one would be.
  const bareEnd = endOfBareValue(text, start)
  const isOpen = text.length - start < LONGEST_VALUE && !text.slice(start).includes("\n")
  const isFound = bareEnd > start && isSecret(text.slice(start, bareEnd), kind, isOpen ? "quoted" : "bare")
  if (isOpen) return { start, end: isFound ? bareEnd : start, open: true }
  return isFound ? { start, end: bareEnd } : undefined
}

export const isSecret = (value: string, kind: NameKind, quoting: Quoting): boolean =>
  isSecretValue(value, kind, quoting) && !isPublishedExample(value)

/** Where a quoted value ends: at its quote, with no more backslashes than the opening one had. */
function endOfQuoted(text: string, { valueAt, quote, depth }: Gap): number | undefined {
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
    if (code === 0x5c) {
      backslashes++
      continue
    }
    if (code === quoteCode && backslashes <= depth) return at - backslashes
    if (code === 0x0a) return undefined
    backslashes = 0
  }
  return undefined
}

export function endOfBareValue(text: string, start: number): number {
  let end = endOfWord(text, start)
  if (end - start > LONGEST_BARE_VALUE) return start
  // Three dots say that the rest was left out: there is nothing to hide.
  if (text.startsWith("...", end - 3)) return start
  while (end > start && isTrailing(text, start, end)) end--
  return end
}

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
for (const character of " \t\n\v\f\r\\\"'`,;&<") ENDS_BARE_VALUE[character.charCodeAt(0)] = 1

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
