import { isMask } from "../mask.js"
import { type Found, LEAD } from "../rule.js"
import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"

const COOKIE_HEADER = /cookie\\{0,7}["']? {0,2}[:,] {0,2}(?:\\{0,7}["'])?/iy
const COOKIE = /([\w.!#$%&*^|~+-]{1,100})=([^\s;,"'\\]{1,1500})/y
const NEXT_COOKIE = /; {0,2}/y
const ATTRIBUTES = new Set(["path", "domain", "expires", "max-age", "samesite", "priority"])

/** The values of cookies in a `Cookie` or `Set-Cookie` line, as far as they are long enough to open something. */
export const cookie: Finder = {
  patterns: [COOKIE_HEADER, COOKIE, NEXT_COOKIE],
  find(text, keywordAt) {
    COOKIE_HEADER.lastIndex = keywordAt
    if (!COOKIE_HEADER.test(text)) return undefined
    const found: Found[] = []
    let at = COOKIE_HEADER.lastIndex
    // As far as a stream remembers, and no further, so that both see the same cookies.
    while (at < keywordAt + LEAD - 256) {
      COOKIE.lastIndex = at
      const match = COOKIE.exec(text)
      if (match === null) break
      const [, name = "", value = ""] = match
      at = COOKIE.lastIndex
      if (!ATTRIBUTES.has(name.toLowerCase()) && value.length >= 16 && !isMask(value) && !isPlaceholder(value)) {
        found.push({ start: at - value.length, end: at })
      }
      NEXT_COOKIE.lastIndex = at
      if (!NEXT_COOKIE.test(text)) break
      at = NEXT_COOKIE.lastIndex
    }
    return found
  },
}
