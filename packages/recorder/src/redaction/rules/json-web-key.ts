import { isMask } from "../mask.js"
import { type Found, LEAD, type Rule } from "../rule.js"

const PRIVATE_PART = /\\{0,7}"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"([\w-]{16,1400})\\{0,7}"/g

const LONGEST_PART = 1500

/**
 * The private numbers of a JSON web key: `{"kty":"RSA","n":…,"d":…}`. Only those behind `kty`, where most libraries write it first: a stream
 * has given away what stood before it.
 */
export const jsonWebKey: Rule = {
  id: "json-web-key",
  about: "Private parts of JSON web keys",
  keywords: ['"kty"', 'kty\\"'],
  patterns: [PRIVATE_PART],
  find(text, keywordAt) {
    const found: Found[] = []
    const key = text.slice(keywordAt, keywordAt + LEAD + LONGEST_PART)
    // As far as a stream remembers, and no further than the key itself.
    const brace = key.indexOf("}")
    const end = brace < 0 ? LEAD - 64 : Math.min(brace, LEAD - 64)
    PRIVATE_PART.lastIndex = 0
    for (let match = PRIVATE_PART.exec(key); match !== null && match.index < end; match = PRIVATE_PART.exec(key)) {
      const value = match[1]!
      const start = keywordAt + match.index + match[0].lastIndexOf(value)
      if (!isMask(value)) found.push({ start, end: start + value.length })
    }
    return found
  },
}
