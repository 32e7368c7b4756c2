import { findSecrets, joined, type Search } from "./find-secrets.js"
import type { Ruleset } from "./ruleset.js"

/**
 * What the rules find in a text, and every other place in it where a value stands that was found before, here or elsewhere in the recording
 * of this process.
 */
export function searchText(text: string, ruleset: Ruleset): Search {
  const found = findSecrets(text, ruleset)
  const { known } = ruleset
  if (known === undefined) return found
  for (const { start, end, plain } of found.secrets) known.learn(plain ?? text.slice(start, end))
  const again = [...known.findIn(text)]
  let searched = text.length
  for (const view of found.views) {
    searched += view.text.length
    for (const secret of known.findIn(view.text)) {
      again.push({ ...secret, ...view.original(secret.start, secret.end) })
    }
  }
  const openAt = Math.min(found.openAt, known.openAt(text))
  const cost = found.cost + PER_CHARACTER * searched + PER_VALUE * again.length
  if (again.length === 0) return { ...found, openAt, cost }
  return { ...found, secrets: joined([...found.secrets, ...again]), openAt, cost }
}

/** In the unit of `Search.cost`. */
const PER_CHARACTER = 2
const PER_VALUE = 2000
