import type { Found } from "./rule.js"
import type { Ruleset } from "./ruleset.js"

export interface Secret {
  readonly start: number
  readonly end: number
  readonly rule: string
  /** The secret itself, where it stands here in another form; what its tag is taken of. */
  readonly value?: string
}

export interface Search {
  /** In order, and apart from each other. */
  readonly secrets: readonly Secret[]
  /** From here on more text could change what is found. Infinity if nothing is open. */
  readonly openAt: number
}

/**
 * Every secret in a text. Each rule looks for itself and what overlaps is joined, so the result does not depend on the order of rules nor
 * on where the search began: a stream that remembers a little of what went before finds what a search of the whole text finds.
 */
export function findSecrets(text: string, ruleset: Ruleset, from = 0): Search {
  const found: Secret[] = []
  let openAt = Number.POSITIVE_INFINITY
  const keep = (rule: string, { start, end, open }: Found): void => {
    if (end > start) found.push({ start, end, rule })
    if (open === true && start < openAt) openAt = start
  }
  ruleset.keywords.scan(text, from, (rule, at, keyword) => {
    const result = rule.find(text, at, keyword)
    if (result === undefined) return
    if (Array.isArray(result)) for (const one of result) keep(rule.id, one)
    else keep(rule.id, result as Found)
  })
  for (const { id, pattern, accepts } of ruleset.sweeps) {
    pattern.lastIndex = from
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (accepts?.(match[0]) !== false) keep(id, { start: match.index, end: match.index + match[0].length })
      // Also those that overlap: which of them a search meets first depends on where it began.
      pattern.lastIndex = match.index + 1
    }
  }
  return { secrets: joined(found), openAt }
}

/** What overlaps is one secret. */
export function joined(found: Secret[]): Secret[] {
  if (found.length < 2) return found
  found.sort((a, b) => a.start - b.start || b.end - a.end || (a.rule < b.rule ? -1 : 1))
  const apart: Secret[] = []
  for (const secret of found) {
    const last = apart.at(-1)
    if (last === undefined || secret.start >= last.end) {
      apart.push(secret)
    } else {
      const rule = strongerRule(last.rule, secret.rule)
      const end = Math.max(last.end, secret.end)
      const isWhole = ({ start, end: ending }: Secret): boolean => start === last.start && ending === end
      // Its value only where one of the two is the whole.
      const { value } = isWhole(last) ? last : isWhole(secret) ? secret : NO_VALUE
      apart[apart.length - 1] = { start: last.start, end, rule, ...(value === undefined ? {} : { value }) }
    }
  }
  return apart
}

/** A form of its own says more than the name it was given to, and both more than that it was seen before. */
function strongerRule(first: string, second: string): string {
  if (first === KNOWN_VALUE) return second
  return first === "assignment" && second !== KNOWN_VALUE ? second : first
}

/** The rule that masks of known values name. */
export const KNOWN_VALUE = "known-value"

const NO_VALUE: { readonly value?: string } = {}
