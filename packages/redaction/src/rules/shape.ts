import type { Rule } from "../rule.js"
import { beginsWord, endsWord } from "../text-edges.js"
import { isInsideBase64 } from "./character-run.js"
import { isPlaceholder } from "./placeholder.js"
import { isPublishedExample } from "./published-example.js"

export interface Shape {
  readonly about: string
  readonly keywords: readonly string[]
  /** Where the secret begins, where that is not at its keyword. */
  begin?(text: string, keywordAt: number): number
  /** From the beginning of the secret to its end. Bounded, like every pattern here. */
  readonly pattern: RegExp
  accepts?(secret: string): boolean
  /** A row of x of the right length counts as a secret. */
  readonly takesFiller?: boolean
}

/** A secret known by its own form: a prefix its vendor chose so that it can be found, and what may follow. */
export function shape(id: string, { about, keywords, begin, pattern, accepts, takesFiller = false }: Shape): Rule {
  const sticky = new RegExp(pattern.source, `${pattern.flags}y`)
  return {
    id,
    about,
    keywords,
    patterns: [sticky],
    find(text, keywordAt, keyword) {
      const start = begin?.(text, keywordAt) ?? keywordAt
      if (start < 0 || !beginsWord(text, start)) return undefined
      sticky.lastIndex = start
      const secret = sticky.exec(text)?.[0]
      if (secret === undefined || !endsWord(text, start + secret.length)) return undefined
      if (
        isPlaceholder(takesFiller ? secret.replace(/[xX]{6,}/g, "") : secret) ||
        accepts?.(secret) === false ||
        isPublishedExample(secret)
      )
        return undefined
      if (isPlain(keyword) && isInsideBase64(text, start, start + secret.length)) return undefined
      return { start, end: start + secret.length }
    },
  }
}

/** Nothing in it that base64 does not have: a picture holds such a word sooner or later. */
const isPlain = (keyword: string): boolean => /^[A-Za-z0-9+/]{1,8}$/.test(keyword)

export const hasDigit = (secret: string): boolean => /\d/.test(secret)
/** Behind the prefix, which may have capitals of its own. */
export const hasBothCases = (secret: string): boolean => /[a-z]/.test(secret.slice(4)) && /[A-Z]/.test(secret.slice(4))
export const looksDrawn = (secret: string): boolean => hasDigit(secret.slice(4)) && hasBothCases(secret)

export const charactersBefore =
  (count: number) =>
  (_: string, keywordAt: number): number =>
    keywordAt - count
