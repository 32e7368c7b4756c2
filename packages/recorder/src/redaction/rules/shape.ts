import type { Rule } from "../rule.js"
import { beginsWord, endsWord } from "../text-edges.js"
import { isPlaceholder } from "./placeholder.js"

interface Shape {
  readonly about: string
  readonly keywords: readonly string[]
  /** Where the secret begins, where that is not at its keyword. */
  begin?(text: string, keywordAt: number): number
  /** From the beginning of the secret to its end. Bounded, like every pattern here. */
  readonly pattern: RegExp
  accepts?(secret: string): boolean
}

/** A secret known by its own form: a prefix its vendor chose so that it can be found, and what may follow. */
export function shape(id: string, { about, keywords, begin, pattern, accepts }: Shape): Rule {
  const sticky = new RegExp(pattern.source, `${pattern.flags}y`)
  return {
    id,
    about,
    keywords,
    patterns: [sticky],
    find(text, keywordAt) {
      const start = begin?.(text, keywordAt) ?? keywordAt
      if (start < 0 || !beginsWord(text, start)) return undefined
      sticky.lastIndex = start
      const secret = sticky.exec(text)?.[0]
      if (secret === undefined || !endsWord(text, start + secret.length)) return undefined
      if (isPlaceholder(secret) || accepts?.(secret) === false) return undefined
      return { start, end: start + secret.length }
    },
  }
}

export const charactersBefore =
  (count: number) =>
  (_: string, keywordAt: number): number =>
    keywordAt - count
