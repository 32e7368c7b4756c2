import { isMask } from "../mask.js"
import { type Found, LEAD } from "../rule.js"
import type { Finder } from "./finder.js"

const PRIVATE_PART = /\\{0,7}"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"([\w-]{16,1400})\\{0,7}"/g

const LONGEST_PART = 1500
const END_OF_KEY = /[{}]|"kty|kty\\/

/**
 * The private numbers of a JSON web key: `{"kty":"RSA","n":…,"d":…}`. Only those behind `kty`, where most libraries write it first: a stream
 * has given away what stood before it.
 */
export const jsonWebKey: Finder = {
  patterns: [PRIVATE_PART, END_OF_KEY],
  find(text, keywordAt) {
    const found: Found[] = []
    const key = text.slice(keywordAt, keywordAt + LEAD + LONGEST_PART)
    // As far as a stream remembers, and no further than the key itself, which holds no other object.
    const keyEnd = key.slice(5).search(END_OF_KEY)
    const own = keyEnd < 0 ? key : key.slice(0, keyEnd + 5)
    for (const match of own.matchAll(PRIVATE_PART)) {
      if (match.index >= LEAD - 64) break
      const value = match[1]!
      const start = keywordAt + match.index + match[0].lastIndexOf(value)
      if (!isMask(value)) found.push({ start, end: start + value.length })
    }
    return found
  },
}
