/** What a query asks for: texts that must all occur, folded for comparison. */
export function searchTerms(query: string): string[] {
  const terms: string[] = []
  for (const [, quoted, word] of query.matchAll(/"([^"]*)"|([^\s"]+)/g)) {
    const term = fold(quoted ?? word ?? "")
    if (term.trim() !== "" && !terms.includes(term)) terms.push(term)
  }
  return terms
}

/**
 * Without regard to case, as the index folds: character by character and never longer or shorter, so that places in the folded text are
 * places in the text. (`toLowerCase` alone makes two characters of a Turkish İ and leaves the micro sign apart from the letter mu.)
 */
export function fold(text: string): string {
  const ascii = text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
  return /[^\x00-\x7f]/.test(ascii) ? ascii.replace(/[^\x00-\x7f]/gu, foldCharacter) : ascii
}

function foldCharacter(character: string): string {
  const upper = character.toUpperCase()
  const folded = (upper.length === character.length ? upper : character).toLowerCase()
  return folded.length === character.length ? folded : character
}

export interface TermMatch {
  readonly at: number
  readonly length: number
}

/** Where the first term stands, if all of them occur. */
export function matchTerms(text: string, terms: readonly string[]): TermMatch | undefined {
  const folded = fold(text)
  let first: TermMatch | undefined
  for (const term of terms) {
    const at = folded.indexOf(term)
    if (at === -1) return undefined
    first ??= { at, length: term.length }
  }
  return first
}

const AROUND = 80

export interface Snippet {
  readonly snippet: string
  readonly at: number
  readonly length: number
}

/** The match with some text around it, from a word on and to the end of one, and `…` where there is more. */
export function snippetAround(text: string, match: TermMatch): Snippet {
  const length = Math.min(match.length, 4 * AROUND)
  const [before, after] = [text.slice(0, match.at), text.slice(match.at + length)]
  const head = before.length <= AROUND ? before : `… ${before.slice(-AROUND).replace(/^\S*\s+|^[\udc00-\udfff]/, "")}`
  const tail = after.length <= AROUND ? after : `${after.slice(0, AROUND).replace(/\s+\S*$|[\ud800-\udbff]$/, "")} …`
  return { snippet: head + text.slice(match.at, match.at + length) + tail, at: head.length, length }
}

const MOST_AROUND = 120

/** The line a match stands in, as far as it is near: the same words in a request and in the prompt it was made from. */
export function passageAround(text: string, { at, length }: TermMatch): string {
  const from = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - MOST_AROUND)
  const newline = text.indexOf("\n", at + length)
  const to = Math.min(newline === -1 ? text.length : newline, at + length + MOST_AROUND)
  return text.slice(from, to).trim()
}

/** Some trigrams of the terms: what a text must have that can match. Shorter terms have none. */
export function trigramsOf(terms: readonly string[]): string[] {
  const trigrams = new Set<string>()
  for (const term of terms) {
    const characters = [...term]
    for (let at = 0; at + 3 <= characters.length; at++) trigrams.add(characters.slice(at, at + 3).join(""))
  }
  return [...trigrams].slice(0, MAX_TRIGRAMS)
}

/** More terms or longer ones select nothing more; the texts that are left are read anyway. */
const MAX_TRIGRAMS = 64
