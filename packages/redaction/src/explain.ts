import { maskedSecret, secretTag } from "./mask.js"
import { describeRules, type Ruleset } from "./ruleset.js"
import { searchText } from "./search-text.js"

export interface Explanation {
  readonly rule: string
  readonly about: string
  /** Where the secret stands in the text as it was given, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** Both from 1. */
  readonly line: number
  readonly column: number
  /** What would be stored. Never the secret itself. */
  readonly masked: string
  readonly tag: string
}

/** Why each part of a text would be masked: `orangebox redact --explain`. */
export function explain(text: string, ruleset: Ruleset): Explanation[] {
  const about = new Map(describeRules(ruleset).map((rule) => [rule.id, rule.about]))
  let line = 1
  let lineStart = 0
  return searchText(text, ruleset).secrets.map(({ start, end, rule, plain }) => {
    // Secrets come in order, so the lines between two of them are counted once.
    for (let next = text.indexOf("\n", lineStart); next !== -1 && next < start; next = text.indexOf("\n", lineStart)) {
      line++
      lineStart = next + 1
    }
    const secret = text.slice(start, end)
    return {
      rule,
      about: about.get(rule) ?? "",
      start,
      end,
      line,
      column: start - lineStart + 1,
      masked: maskedSecret(secret),
      tag: secretTag(ruleset.key, plain ?? secret),
    }
  })
}
