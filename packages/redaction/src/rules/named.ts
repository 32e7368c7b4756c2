import { isMask } from "../mask.js"
import type { Rule } from "../rule.js"
import { GAP_PATTERNS, readGaps } from "./gap.js"
import { isPlaceholder } from "./placeholder.js"

interface Named {
  readonly about: string
  readonly keywords: readonly string[]
  /** The rest of the name, from the keyword on. */
  readonly name: RegExp
  /** What the vendor puts there: the value alone would say nothing, nor would the name with another value. */
  readonly value: RegExp
}

/** A secret without a form of its own, known by a vendor's name before it and by fitting that vendor's format. */
export function named(id: string, { about, keywords, name, value }: Named): Rule {
  const stickyName = new RegExp(name.source, `${name.flags}y`)
  const stickyValue = new RegExp(`${value.source}(?![\\w-])`, `${value.flags}y`)
  return {
    id,
    about,
    keywords,
    patterns: [stickyName, stickyValue, ...GAP_PATTERNS],
    find(text, keywordAt) {
      stickyName.lastIndex = keywordAt
      if (!stickyName.test(text)) return undefined
      return readGaps(text, keywordAt, stickyName.lastIndex).flatMap(({ valueAt }) => {
        stickyValue.lastIndex = valueAt
        const found = stickyValue.exec(text)?.[0]
        if (found === undefined || isMask(found) || isPlaceholder(found)) return []
        return [{ start: valueAt, end: valueAt + found.length }]
      })
    },
  }
}
