import { isMask } from "../mask.js"
import { type Found, LEAD, type Rule } from "../rule.js"
import { beginsWord } from "../text-edges.js"
import { isPlaceholder } from "./placeholder.js"
import { looksRandom } from "./secret-values.js"

const BEARER = /(?:bearer|token)(?: |%20){1,2}([\w.~+/=-]{12,2000})/iy

/** `Bearer …`, in a header or in a sentence. */
export const bearerToken: Rule = {
  id: "bearer-token",
  about: "Bearer tokens",
  keywords: ["bearer", "authorization: token "],
  patterns: [BEARER],
  find(text, keywordAt, keyword) {
    const at = keyword === "bearer" ? keywordAt : keywordAt + "authorization: ".length
    if (!beginsWord(text, at)) return undefined
    BEARER.lastIndex = at
    const value = BEARER.exec(text)?.[1]
    if (value === undefined || isPlaceholder(value) || !looksRandom(value, 12)) return undefined
    return { start: BEARER.lastIndex - value.length, end: BEARER.lastIndex }
  },
}

const AUTHORIZATION =
  /authorization\\{0,7}["']? {0,2}[:=,] {0,2}(?:\\{0,7}["'])?([A-Za-z][\w-]{1,24})(?: |%20){1,2}(?:token=\\{0,7}["']?)?([\w.~+/=:-]{12,2000})/iy

/** `Authorization: Bot …`, `ApiKey …`, `SSWS …`: whatever the vendor calls its scheme. */
export const authorizationHeader: Rule = {
  id: "authorization-header",
  about: "Tokens in Authorization headers of any scheme",
  keywords: ["authorization"],
  patterns: [AUTHORIZATION],
  find(text, at) {
    AUTHORIZATION.lastIndex = at
    const [, scheme = "", value] = AUTHORIZATION.exec(text) ?? []
    // These have rules of their own, which know what follows.
    if (value === undefined || /^(?:basic|bearer)$/i.test(scheme)) return undefined
    if (isPlaceholder(value) || !looksRandom(value, 12)) return undefined
    return { start: AUTHORIZATION.lastIndex - value.length, end: AUTHORIZATION.lastIndex }
  },
}

const BASIC = /basic(?: |%20){1,2}([A-Za-z0-9+/]{8,500}={0,2})/iy
const LOGIN = /^[\x20-\x39\x3b-\x7e]{1,200}:[\x20-\x7e]{0,300}$/

/** `Basic …`: known by what it decodes to, a name, a colon and a password. */
export const basicLogin: Rule = {
  id: "basic-login",
  about: "Logins in Basic headers",
  keywords: ["basic "],
  patterns: [BASIC, LOGIN],
  find(text, at) {
    if (!beginsWord(text, at)) return undefined
    BASIC.lastIndex = at
    const value = BASIC.exec(text)?.[1]
    if (value === undefined || !LOGIN.test(Buffer.from(value, "base64").toString("latin1"))) return undefined
    return { start: BASIC.lastIndex - value.length, end: BASIC.lastIndex }
  },
}

const COOKIE_HEADER = /cookie\\{0,7}["']? {0,2}[:,] {0,2}(?:\\{0,7}["'])?/iy
const COOKIE = /([\w.!#$%&*^|~+-]{1,100})=([^\s;,"'\\]{1,1500})/y
const NEXT_COOKIE = /; {0,2}/y
const ATTRIBUTES = new Set(["path", "domain", "expires", "max-age", "samesite", "priority"])

/** The values of cookies in a `Cookie` or `Set-Cookie` line, as far as they are long enough to open something. */
export const cookie: Rule = {
  id: "cookie",
  about: "Values in Cookie and Set-Cookie headers",
  keywords: ["cookie:", 'cookie"', "cookie'", "cookie\\"],
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
