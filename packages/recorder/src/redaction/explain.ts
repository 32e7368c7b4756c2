import { findSecrets } from "./find-secrets.js"
import { maskedSecret } from "./mask.js"
import { describeRules, type Ruleset } from "./ruleset.js"

export interface Explanation {
  readonly rule: string
  readonly about: string
  /** Both from 1, in the text as it was given. */
  readonly line: number
  readonly column: number
  /** What would be stored. Never the secret itself. */
  readonly masked: string
}

/** Why each part of a text would be masked: `orangebox redact --explain`. */
export function explain(text: string, ruleset: Ruleset): Explanation[] {
  const about = new Map(describeRules(ruleset).map((rule) => [rule.id, rule.about]))
  return findSecrets(text, ruleset).secrets.map(({ start, end, rule }) => {
    const before = text.slice(0, start)
    const lineStart = before.lastIndexOf("\n") + 1
    return {
      rule,
      about: about.get(rule) ?? "",
      line: before.split("\n").length,
      column: start - lineStart + 1,
      masked: maskedSecret(text.slice(start, end)),
    }
  })
}
