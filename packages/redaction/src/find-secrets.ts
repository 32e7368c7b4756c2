import { encodedTexts } from "./encoded-text.js"
import { withoutGutters } from "./gutters.js"
import type { KeywordIndex } from "./keyword-index.js"
import { isEndOfMask, MASK_MIDDLE } from "./mask.js"
import { startOfOpenMatch } from "./open-pattern.js"
import { type Found, LONGEST_SECRET } from "./rule.js"
import type { Ruleset } from "./ruleset.js"
import { marksOf, undressed, type Worn, wornBy } from "./undressed.js"
import { type View, viewThrough } from "./view.js"
import { startOfBrokenWord, unwrapped } from "./wrapped-words.js"

export interface Secret {
  readonly start: number
  readonly end: number
  readonly rule: string
  /** What was found, where that is not what stands there: coloured, escaped, encoded. Its tag is the one it has in plain. */
  readonly plain?: string
  /** A number of a JSON text: what masks it has to be a string. */
  readonly isNumber?: true
  readonly isLoose?: true
}

export interface Search {
  /** In order, and apart from each other. */
  readonly secrets: readonly Secret[]
  /** From here on more text could change what is found. Infinity if nothing is open. */
  readonly openAt: number
  /** How many rules were asked. */
  readonly asked: number
  /** About what the search cost, in characters passed over without a thought: some 10 ns each. Counted, so that it is the same every time. */
  readonly cost: number
  /** What the text says once its dress is taken off, where it wears one. */
  readonly views: readonly View[]
}

/**
 * Every secret in a text: normalise, match, map back. Each rule looks for itself, in the text as it is and in what it says once its dress is
 * taken off, and what overlaps is joined; so the result does not depend on the order of rules nor on where the search began: a stream that
 * remembers a little of what went before finds what a search of the whole text finds.
 */
export function findSecrets(text: string, ruleset: Ruleset): Search {
  const findings = new Findings()
  searchAll(text, undefined, ruleset, findings, 0)
  const { openAt, asked, views } = findings
  const cost = findings.cost + PER_SECRET * findings.secrets.length
  return { secrets: joined(findings.secrets), openAt, asked, cost, views }
}

// Measured on windows of a stream that were made to cost: what is counted is half to twice of what was spent.
const PER_CHARACTER = 4
const PER_WORN_CHARACTER = 10
const PER_RULE = 600
const PER_RULE_OF_LINES = 1500
const PER_SECRET = 200

const allOf = (worn: Worn): Worn => worn
const NOTHING_WORN: readonly (typeof allOf)[] = []

/** Base64 in base64 is looked into once more, and no further. */
const DEEPEST = 2

function searchAll(text: string, outer: View | undefined, ruleset: Ruleset, findings: Findings, depth: number): void {
  const { keywords, multiLine } = ruleset
  const look = (text: string, index: KeywordIndex, sweeps: Ruleset["sweeps"], keep: Keep): Places => {
    const places = search(text, index, sweeps, keep)
    findings.asked += places.all.length
    findings.cost +=
      PER_CHARACTER * text.length + PER_RULE * places.all.length + PER_RULE_OF_LINES * places.ofLines.length
    return places
  }
  if (outer !== undefined) findings.views.push(outer)
  let places = look(text, keywords, ruleset.sweeps, findings.through(outer))
  let inner = outer
  let bare = text
  // Colours come off before escapes are read, for they may stand inside of one, and what was read may be an escape again.
  const worn = wornBy(text)
  if (worn !== 0) findings.cost += PER_WORN_CHARACTER * text.length
  for (const what of worn === 0 ? NOTHING_WORN : [marksOf, allOf, allOf]) {
    const view = undressed(bare, what(bare === text ? worn : wornBy(bare)))
    if (view === undefined) continue
    inner = viewThrough(inner, view)
    bare = view.text
    places = look(bare, keywords, ruleset.sweeps, findings.through(inner))
    findings.views.push(inner)
  }
  if (depth === 0) {
    openSweeps(text, inner, ruleset, findings)
    openBrokenWord(text, undefined, findings)
    // A line that is as wide as a terminal only without its dress breaks a word just the same.
    if (inner !== undefined) openBrokenWord(bare, inner, findings)
  }
  for (const whole of unwrapped(bare, places.all)) {
    const keep = findings.through(viewThrough(inner, whole))
    look(whole.text, keywords, ruleset.sweeps, (rule, found, text) => {
      if (isOneWord(text, found) && isAcross(whole, found) && !holdsMask(text, found)) keep(rule, found, text)
    })
  }
  for (const lines of withoutGutters(bare, places.ofLines)) {
    look(lines.text, multiLine, [], findings.through(viewThrough(inner, lines)))
  }
  if (depth === DEEPEST) return
  for (const encoded of encodedTexts(bare)) {
    const view = viewThrough(inner, encoded)
    searchAll(encoded.text, view, ruleset, findings, depth + 1)
    if (encoded.isOpen && encoded.text.length < LONGEST_SECRET / 2) findings.open(view.original(0, 0).start)
  }
}

function openBrokenWord(text: string, view: View | undefined, findings: Findings): void {
  const start = startOfBrokenWord(text)
  if (start !== undefined) findings.open(view === undefined ? start : view.original(start, text.length).start)
}

/** Only of the text itself: what is encoded in it ends somewhere before its end. */
function openSweeps(text: string, plain: View | undefined, ruleset: Ruleset, findings: Findings): void {
  const { openSweeps } = ruleset
  if (openSweeps.length === 0) return
  const look = (text: string, plain: View | undefined): void => {
    findings.open(startOfOpenMatch(text, openSweeps))
    const start = plain === undefined ? text.length : startOfOpenMatch(plain.text, openSweeps)
    if (plain !== undefined && start < plain.text.length) findings.open(plain.original(start, plain.text.length).start)
  }
  look(text, plain)
  // A dress that has begun and not ended is no part of what it stands in.
  const begun = BEGUN_DRESS.exec(text.slice(-LONGEST_DRESS))
  if (begun === null) return
  const before = text.slice(0, text.length - begun[0].length)
  look(before, undressed(before))
}

const LONGEST_DRESS = 256
const BEGUN_DRESS = /[\0\x1b%^&\\]+[^\0\x1b%^&\\]*$/

/** A stream waits for the end of a word, and for no more. */
const isOneWord = (text: string, { start, end }: Found): boolean => !/\s/.test(text.slice(start, end))

/** A line that a mask made as wide as a terminal broke no word. */
const holdsMask = (text: string, { start, end }: Found): boolean =>
  isEndOfMask(text, start) || text.slice(start, end).includes(MASK_MIDDLE)

function isAcross(view: View, { start, end }: Found): boolean {
  const place = view.original(start, end)
  return place.end - place.start > end - start
}

type Writable<T> = { -readonly [field in keyof T]: T[field] }
type Keep = (rule: string, found: Found, text: string) => void

/** Where keywords stood. */
interface Places {
  readonly all: number[]
  /** Those of rules that reach over lines. */
  readonly ofLines: number[]
}

function search(text: string, keywords: KeywordIndex, sweeps: Ruleset["sweeps"], keep: Keep): Places {
  const places: Places = { all: [], ofLines: [] }
  keywords.scan(text, (rule, at, keyword) => {
    places.all.push(at)
    if (rule.multiLine) places.ofLines.push(at)
    const result = rule.find(text, at, keyword)
    if (result === undefined) return
    if (Array.isArray(result)) for (const one of result) keep(rule.id, one, text)
    else keep(rule.id, result as Found, text)
  })
  for (const { id, pattern, accepts } of sweeps) {
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (accepts?.(match[0]) !== false) keep(id, { start: match.index, end: match.index + match[0].length }, text)
      // Also those that overlap: which of them a search meets first depends on where it began.
      pattern.lastIndex = match.index + 1
    }
  }
  return places
}

class Findings {
  readonly secrets: Secret[] = []
  readonly views: View[] = []
  openAt = Number.POSITIVE_INFINITY
  asked = 0
  cost = 0

  open(at: number): void {
    if (at < this.openAt) this.openAt = at
  }

  /** Keeps what is found in a view where it stands in the text. */
  through(view: View | undefined): Keep {
    return (rule, { start, end, open, isLoose }, text) => {
      const place = view === undefined ? { start, end } : view.original(start, end)
      if (place.end > place.start) {
        // Written out: a hostile text has a hundred thousand of these, and copies of copies cost as much as finding them.
        const secret: Writable<Secret> = { start: place.start, end: place.end, rule }
        if (view !== undefined) secret.plain = text.slice(start, end)
        if (isLoose) secret.isLoose = isLoose
        this.secrets.push(secret)
      }
      if (open === true) this.open(place.start)
    }
  }
}

/** What overlaps is one secret. */
export function joined(found: Secret[]): Secret[] {
  if (found.length < 2) return found
  found.sort(
    (a, b) => a.start - b.start || b.end - a.end || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : plainFirst(a, b)),
  )
  const apart: Secret[] = []
  for (const secret of found) {
    const last = apart.at(-1)
    if (last === undefined || secret.start >= last.end) {
      apart.push(secret)
    } else {
      apart[apart.length - 1] = union(last, secret)
    }
  }
  return apart
}

/** A form of its own says more than a part of one, that more than the name it was given to, and all more than that it was seen before. */
function strongerRule(first: Secret, second: Secret): string {
  return strengthOf(second) > strengthOf(first) ? second.rule : first.rule
}

const strengthOf = ({ rule, isLoose }: Secret): number =>
  rule === KNOWN_VALUE ? 0 : rule === "assignment" ? 1 : isLoose ? LOOSE : 3
const LOOSE = 2

/** The rule that masks of known values name. */
export const KNOWN_VALUE = "known-value"

const plainFirst = (a: Secret, b: Secret): number => (a.plain ?? "").length - (b.plain ?? "").length

function union(a: Secret, b: Secret): Secret {
  const one: Writable<Secret> = { start: a.start, end: Math.max(a.end, b.end), rule: strongerRule(a, b) }
  // In plain only where one of the two is the whole.
  const plain =
    (a.end === one.end ? a.plain : undefined) ?? (b.start === a.start && b.end === one.end ? b.plain : undefined)
  if (plain !== undefined) one.plain = plain
  if (Math.max(strengthOf(a), strengthOf(b)) === LOOSE) one.isLoose = true
  return one
}
