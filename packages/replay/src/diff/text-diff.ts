import { commonSubsequence, Interner } from "@orangebox/text"
import type { TextDiff, TextHunk } from "../generated.js"

const LONG = 20_000
const MAX_WORD_EDITS = 2_000
const MAX_LINE_EDITS = 1_000
const MAX_HUNKS = 12
const MAX_HUNK = 240
const MAX_BEFORE = 32

/** Words, numbers, spaces, and any other character whole. */
const WORD = /\p{L}+|\p{N}+|\s+|./gsu
/** Lines with what ends them. */
const LINE = /[^\n]*\n|[^\n]+/g

/** What differs between two texts, word by word, never at any price: texts that share too little are shown as replaced. */
export function diffTexts(a: string, b: string): TextDiff {
  const head = sharedHead(a, b)
  const tail = sharedTail(a, b, head)
  const middleA = a.slice(head, a.length - tail)
  const middleB = b.slice(head, b.length - tail)
  const hunks = middleA.length > LONG || middleB.length > LONG ? byLines(middleA, middleB) : byWords(middleA, middleB)
  const found = hunks ?? [{ at: 0, a: middleA, b: middleB }]
  return {
    chars_a: a.length,
    chars_b: b.length,
    form: hunks ? "words" : "replaced",
    hunks: found.slice(0, MAX_HUNKS).map((hunk) => shown(hunk, head, a)),
    more: Math.max(0, found.length - MAX_HUNKS),
  }
}

interface RawHunk {
  readonly at: number
  readonly a: string
  readonly b: string
}

const byWords = (a: string, b: string): RawHunk[] | undefined => hunksBetween(a, b, WORD, MAX_WORD_EDITS)

function byLines(a: string, b: string): RawHunk[] | undefined {
  const hunks = hunksBetween(a, b, LINE, MAX_LINE_EDITS)
  // One hunk from end to end: not a line in common.
  if (!hunks || (hunks.length === 1 && hunks[0]!.a === a && hunks[0]!.b === b)) return undefined
  return hunks.flatMap((hunk) => {
    const isLong = hunk.a.length + hunk.b.length > LONG || hunk.a === "" || hunk.b === ""
    const words = isLong ? undefined : byWords(hunk.a, hunk.b)
    return words?.map((word) => ({ ...word, at: hunk.at + word.at })) ?? [hunk]
  })
}

/** What was taken out and put in between two tokens that stayed belongs together; a space between two changes does not part them. */
function hunksBetween(a: string, b: string, token: RegExp, maxEdits: number): RawHunk[] | undefined {
  const tokensA = a.match(token) ?? []
  const tokensB = b.match(token) ?? []
  const interner = new Interner()
  const numbered = (tokens: readonly string[]): Int32Array => Int32Array.from(tokens, (text) => interner.of(text))
  const kept = commonSubsequence(numbered(tokensA), numbered(tokensB), maxEdits)
  if (!kept) return undefined
  const hunks: { at: number; a: string; b: string; end: number }[] = []
  let at = 0
  let i = 0
  let j = 0
  for (const [nextA, nextB] of [...kept, [tokensA.length, tokensB.length] as const]) {
    if (nextA > i || nextB > j) {
      const removed = tokensA.slice(i, nextA).join("")
      const added = tokensB.slice(j, nextB).join("")
      const last = hunks.at(-1)
      const between = last ? a.slice(last.end, at) : ""
      if (last && /^\s{0,2}$/.test(between)) {
        last.a += between + removed
        last.b += between + added
        last.end = at + removed.length
      } else {
        hunks.push({ at, a: removed, b: added, end: at + removed.length })
      }
      at += removed.length
    }
    at += tokensA[nextA]?.length ?? 0
    i = nextA + 1
    j = nextB + 1
  }
  return hunks
}

function shown(hunk: RawHunk, head: number, whole: string): TextHunk {
  const at = head + hunk.at
  return {
    at,
    before: wordsBefore(whole, at),
    a: cut(hunk.a, MAX_HUNK),
    b: cut(hunk.b, MAX_HUNK),
  }
}

/** What stands right before a place, from a word on; part of a word only where that is all there is. */
function wordsBefore(text: string, at: number): string {
  const from = Math.max(0, at - MAX_BEFORE)
  const piece = wholeCharacters(text.slice(from, at))
  return from === 0 || /\s/.test(text.charAt(from - 1)) ? piece : piece.replace(/^\S+\s+(?=\S)/, "")
}

/** A text cut to a length, saying how much there was. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${wholeCharacters(text.slice(0, length))}… (${text.length} chars)`
}

/** Without half a character at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "")
}

/** Equal beginnings, up to the last break between words: a word that differs is shown whole. */
function sharedHead(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++
  while (length > 0 && (isWord(a, length - 1) || isHalf(a, length))) length--
  return length
}

function sharedTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head
  let length = 0
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++
  while (length > 0 && (isWord(a, a.length - length) || isHalf(a, a.length - length))) length--
  return length
}

const isWord = (text: string, at: number): boolean => /[\p{L}\p{N}]/u.test(text.charAt(at))
const isHalf = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
