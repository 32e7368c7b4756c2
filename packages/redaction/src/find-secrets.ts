import { encodedTexts } from "./encoded-text.js"
import { withoutGutters } from "./gutters.js"
import type { KeywordIndex } from "./keyword-index.js"
import { type Found, LONGEST_SECRET } from "./rule.js"
import type { Ruleset } from "./ruleset.js"
import { undressed } from "./undressed.js"
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
  /** How many rules were asked: what the search cost, beside the length of the text. */
  readonly work: number
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
  findings.open(startOfBrokenWord(text) ?? findings.openAt)
  const { openAt, work, views } = findings
  return { secrets: joined(findings.secrets), openAt, work, views }
}

/** Base64 in base64 is looked into once more, and no further. */
const DEEPEST = 2

function searchAll(text: string, outer: View | undefined, ruleset: Ruleset, findings: Findings, depth: number): void {
  const { keywords, multiLine } = ruleset
  const look = (text: string, index: KeywordIndex, sweeps: Ruleset["sweeps"], keep: Keep): Places => {
    const places = search(text, index, sweeps, keep)
    findings.work += places.all.length
    return places
  }
  if (outer !== undefined) findings.views.push(outer)
  let places = look(text, keywords, ruleset.sweeps, findings.through(outer))
  const plain = undressed(text)
  const inner = plain === undefined ? outer : viewThrough(outer, plain)
  if (plain !== undefined) places = look(plain.text, keywords, ruleset.sweeps, findings.through(inner))
  if (plain !== undefined && inner !== undefined) findings.views.push(inner)
  const bare = plain?.text ?? text
  for (const whole of unwrapped(bare, places.all)) {
    const keep = findings.through(viewThrough(inner, whole))
    look(whole.text, keywords, ruleset.sweeps, (rule, found, text) => {
      if (isOneWord(text, found) && isAcross(whole, found)) keep(rule, found, text)
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

/** A stream waits for the end of a word, and for no more. */
const isOneWord = (text: string, { start, end }: Found): boolean => !/\s/.test(text.slice(start, end))

function isAcross(view: View, { start, end }: Found): boolean {
  const place = view.original(start, end)
  return place.end - place.start > end - start
}

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
  work = 0

  open(at: number): void {
    if (at < this.openAt) this.openAt = at
  }

  /** Keeps what is found in a view where it stands in the text. */
  through(view: View | undefined): Keep {
    return (rule, { start, end, open, isLoose }, text) => {
      const place = view === undefined ? { start, end } : view.original(start, end)
      if (place.end > place.start) {
        const secret = isLoose ? { ...place, rule, isLoose } : { ...place, rule }
        this.secrets.push(view === undefined ? secret : { ...secret, plain: text.slice(start, end) })
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
  const end = Math.max(a.end, b.end)
  // In plain only where one of the two is the whole.
  const { plain } = [a, b].find((one) => one.start === a.start && one.end === end && one.plain !== undefined) ?? {}
  return {
    start: a.start,
    end,
    rule: strongerRule(a, b),
    ...(plain === undefined ? {} : { plain }),
    ...(Math.max(strengthOf(a), strengthOf(b)) === LOOSE ? { isLoose: true } : {}),
  }
}
