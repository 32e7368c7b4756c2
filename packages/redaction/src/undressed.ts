import type { DressData } from "./rules/rule-data.js"
import { NORMALISE } from "./rules/rules.generated.js"
import { type View, viewWithout } from "./view.js"

/**
 * What secrets wear in recorded text comes off before any rule looks: this, `gutters.ts`, `wrapped-words.ts` and `encoded-text.ts` give views
 * of the text, in which the rules search as if it were the text, and through which what they find is mapped back. The text itself is searched as
 * well, so nothing that is taken off can hide anything. The patterns are data, `normalise` in `rules.json`.
 *
 * Here: terminal sequences, zero bytes and escapes. Undefined where a text wears none.
 */
export function undressed(text: string): View | undefined {
  // Looking for the few characters that each of them begins with costs next to nothing; a pattern for all of them costs more than the rules.
  let worn = 0
  for (let i = 0; i < NEEDLES.length; i++) {
    const { dresses, needle } = NEEDLES[i]!
    if ((worn & dresses) !== dresses && text.includes(needle)) worn |= dresses
  }
  if (worn === 0) return undefined
  const { pattern, meanings } = patternOf(worn)
  return viewWithout(text, pattern, (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    by: characterOf(match, meanings),
  }))
}

/** What to look for, and which dresses (as bits) it is a sign of. */
const NEEDLES: { readonly needle: string; dresses: number }[] = []
NORMALISE.dresses.forEach(({ where }, i) => {
  for (const needle of where) {
    const known = NEEDLES.find((one) => one.needle === needle)
    if (known === undefined) NEEDLES.push({ needle, dresses: 1 << i })
    else known.dresses |= 1 << i
  }
})

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
