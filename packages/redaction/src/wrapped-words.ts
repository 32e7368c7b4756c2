import { LONGEST_SECRET } from "./rule.js"
import { NORMALISE } from "./rules/rules.generated.js"
import { isSpace } from "./text-edges.js"
import { type View, viewFrom, viewWithout } from "./view.js"

const WIDTHS: ReadonlySet<number> = new Set(NORMALISE.widths)
const LONGEST_LINE = 200
export const BREAK: RegExp = /(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)/g

/**
 * The stretches of a text that begin where a word stands which a fixed width broke, with the breaks of full lines gone. Only what is found
 * across a break counts there: the text as it is has the rest.
 *
 * @param places where keywords stand, in order; no other words matter
 */
export function* unwrapped(text: string, places: readonly number[]): Generator<View> {
  let end = 0
  for (const place of placesOnFullLines(text, places)) {
    if (place < end - REACH / 2) continue
    const start = startOfLine(text, place)
    end = Math.min(text.length, place + REACH)
    const view = withoutBreaks(text.slice(start, end))
    if (view !== undefined) yield viewFrom(start, view)
  }
}

/** As long as most tokens. */
const REACH = 4096

function withoutBreaks(text: string): View | undefined {
  let lineStart = 0
  return viewWithout(text, BREAK, (match) => {
    const isFull = match.index - lineStart <= 2 * LONGEST_LINE && isFullLine(text.slice(lineStart, match.index))
    lineStart = match.index + match[0].length
    return isFull && isInWord(text, match.index, lineStart) ? { start: match.index, end: lineStart, by: "" } : undefined
  })
}

/** Where a last word begins that a full line broke and that may not have ended; undefined where there is none. */
export function startOfBrokenWord(text: string): number | undefined {
  let start = startOfWord(text, text.length)
  let found: number | undefined
  while (start > 0 && text.charCodeAt(start - 1) === 0x0a) {
    const lineEnd = text.charCodeAt(start - 2) === 0x0d ? start - 2 : start - 1
    const line = text.slice(Math.max(text.lastIndexOf("\n", lineEnd - 1) + 1, lineEnd - 2 * LONGEST_LINE), lineEnd)
    if (!isFullLine(line) || !IN_WORD.test(text.charAt(lineEnd - 1))) break
    start = startOfWord(text, lineEnd)
    found = start
  }
  return found
}

function startOfWord(text: string, end: number): number {
  let start = end
  while (start > 0 && end - start < LONGEST_SECRET && !isSpace(text.charCodeAt(start - 1))) start--
  return start
}

/** Those of the places that stand near the end of a line, which ends where it does because it is full. */
function* placesOnFullLines(text: string, places: readonly number[]): Generator<number> {
  let [real, written] = [-1, -1]
  for (const at of places) {
    // Each break is looked for once: this is asked of every text.
    if (real < at) real = orEnd(text.indexOf("\n", at))
    if (written < at) written = orEnd(text.indexOf("\\n", at))
    const lineEnd = Math.min(real, written)
    if (lineEnd - at <= LONGEST_LINE && isNearEnd(text, at, lineEnd) && endsFullLine(text, at, lineEnd)) yield at
  }
}

const orEnd = (index: number): number => (index < 0 ? Number.POSITIVE_INFINITY : index)

/** A name, a sign with blanks around it, and a value that reaches to the end: no more words than that. */
function isNearEnd(text: string, at: number, lineEnd: number): boolean {
  let blanks = 0
  for (let i = at; i < lineEnd && blanks <= 3; i++) if (text.charCodeAt(i) === 0x20) blanks++
  return blanks <= 3
}

function endsFullLine(text: string, at: number, breakAt: number): boolean {
  let lineEnd = breakAt
  while (lineEnd > at && /[\\\r]/.test(text.charAt(lineEnd - 1))) lineEnd--
  const next = text.charCodeAt(breakAt) === 0x0a ? breakAt + 1 : breakAt + 2
  return isInWord(text, lineEnd, next) && isFullLine(text.slice(startOfLine(text, at), lineEnd))
}

function startOfLine(text: string, at: number): number {
  const first = Math.max(0, at - 2 * LONGEST_LINE)
  let start = at
  while (start > first && !endsBreakAt(text, start)) start--
  return start
}

function endsBreakAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at - 1)
  return code === 0x0a || (code === 0x6e && text.charCodeAt(at - 2) === 0x5c)
}

/** As the terminal saw it, to which an escape was one character. */
const isFullLine = (line: string): boolean =>
  WIDTHS.has(line.includes("\\") ? line.replace(/\\{1,8}(?:u[0-9a-f]{4}|.)/gi, "x").length : line.length)

const isInWord = (text: string, lineEnd: number, next: number): boolean =>
  IN_WORD.test(text.charAt(lineEnd - 1)) && IN_WORD.test(text.charAt(next))
const IN_WORD = /[^\s\\"'`<>(){}[\],;|]/
