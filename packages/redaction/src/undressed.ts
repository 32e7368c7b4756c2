import type { DressData } from "./rules/rule-data.js"
import { NORMALISE } from "./rules/rules.generated.js"
import { type View, viewWithout } from "./view.js"

/** What a text may wear, as bits, one for each of `normalise.dresses`. Zero for most texts. */
export type Worn = number

/**
 * What secrets wear in recorded text comes off before any rule looks: this, `gutters.ts`, `wrapped-words.ts` and `encoded-text.ts` give views
 * of the text, in which the rules search as if it were the text, and through which what they find is mapped back. The text itself is searched as
 * well, so nothing that is taken off can hide anything. The patterns are data, `normalise` in `rules.json`.
 *
 * Here: terminal sequences, zero bytes and escapes. Undefined where a text wears none.
 */
export function undressed(text: string, worn: Worn = wornBy(text)): View | undefined {
  if (worn === 0) return undefined
  const { pattern, meanings } = patternOf(worn)
  return viewWithout(text, pattern, (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    by: characterOf(match, meanings),
  }))
}

/** Looking for the one character that a dress begins with costs next to nothing; a pattern for all of them costs more than the rules. */
export function wornBy(text: string): Worn {
  let worn = 0
  for (const { first, needles, signs, all } of SIGNS) {
    if (!text.includes(first)) continue
    needles.lastIndex = 0
    for (let found = 0; found !== all; ) {
      const needle = needles.exec(text)?.[0]
      if (needle === undefined) break
      found |= signs.get(needle)!
      worn |= found
    }
  }
  return worn
}

/** What to look for, by its first character, and which dresses each is a sign of. */
const SIGNS: readonly {
  readonly first: string
  readonly needles: RegExp
  readonly signs: ReadonlyMap<string, Worn>
  readonly all: Worn
}[] = signsByFirstCharacter()

function signsByFirstCharacter(): typeof SIGNS {
  const signs = new Map<string, Worn>()
  NORMALISE.dresses.forEach(({ where }, i) => {
    for (const needle of where) signs.set(needle, (signs.get(needle) ?? 0) | (1 << i))
  })
  // What begins with a shorter one has its dresses too, for the longer is found in its place.
  for (const needle of signs.keys()) {
    for (const [shorter, dresses] of signs)
      if (needle.startsWith(shorter)) signs.set(needle, signs.get(needle)! | dresses)
  }
  const firsts = new Set([...signs.keys()].map((needle) => needle.charAt(0)))
  return [...firsts].map((first) => {
    const own = [...signs.keys()].filter((needle) => needle.startsWith(first)).sort((a, b) => b.length - a.length)
    return {
      first,
      needles: new RegExp(own.map((needle) => needle.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "g"),
      signs,
      all: own.reduce((bits, needle) => bits | signs.get(needle)!, 0),
    }
  })
}

/** Of what is worn the terminal sequences, where something else is worn as well. A zero byte stands for nothing too, but only beside the letter it belongs to. */
export const marksOf = (worn: Worn): Worn => ((worn & MARKS) === worn ? 0 : worn & MARKS)

const MARKS = NORMALISE.dresses.reduce(
  (bits, { as, pattern }, i) => (as === "nothing" && pattern.includes("[0-9;") ? bits | (1 << i) : bits),
  0,
)

interface DressPattern {
  readonly pattern: RegExp
  /** What each group of the pattern holds. */
  readonly meanings: readonly DressData["as"][]
}

const patterns = new Map<number, DressPattern>()

/** One expression for the dresses that a text may wear. Few of the possible ones ever occur, and each is made once. */
function patternOf(worn: number): DressPattern {
  let known = patterns.get(worn)
  if (known === undefined) {
    const dresses = NORMALISE.dresses.filter((_, i) => (worn & (1 << i)) !== 0)
    known = {
      pattern: new RegExp(dresses.map(({ pattern }) => pattern).join("|"), "g"),
      meanings: dresses.map((dress) => dress.as).filter((as) => as !== "nothing"),
    }
    patterns.set(worn, known)
  }
  return known
}

function characterOf(match: RegExpExecArray, meanings: DressPattern["meanings"]): string {
  for (let group = 1; group < match.length; group++) {
    const written = match[group]
    if (written !== undefined) return MEANINGS[meanings[group - 1]!](written)
  }
  return ""
}

const ENTITIES: { readonly [name: string]: string } = { quot: '"', amp: "&", apos: "'", lt: "<", gt: ">" }
const MEANINGS: { readonly [as in DressData["as"]]: (written: string) => string } = {
  nothing: () => "",
  itself: (written) => written,
  hexadecimal: (written) => String.fromCharCode(Number.parseInt(written, 16)),
  decimal: (written) => String.fromCharCode(Number(written)),
  entity: (written) => ENTITIES[written]!,
}
