import { isMask } from "../mask.js"
import type { Found } from "../rule.js"
import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"
import { isSecretValue } from "./secret-values.js"

// A user may be an e-mail address, and a password may hold an unescaped `@`: the last one before the host counts. It may hold a slash, but for
// the one behind a port.
const USER_INFO =
  /:\/\/([^\s/:@"'`<>\\]{0,100}(?:@[\w.-]{1,80})?):(?!\d{1,5}[/?#])([^\s@"'`<>\\]{1,200}(?:@[^\s/?#&=,:@"'`<>\\]{1,60}){0,2})@[\w[]/y
/** The same where the text breaks off before the host. */
const CUT_OFF = /:\/\/([^\s/:@"'`<>\\]{1,100}):([^\s/@"'`<>\\]{8,200})$/y
const OAUTH_BASIC = /:\/\/([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@[\w[]/y

/** The password in `scheme://user:password@host`, of databases, brokers and repositories alike. The rest of the address stays. */
export const connectionString: Finder = {
  patterns: [USER_INFO, CUT_OFF, OAUTH_BASIC],
  find(text, at) {
    return passwordOf(text, at) ?? loneTokenOf(text, at) ?? cutOffPassword(text, at)
  },
}

function passwordOf(text: string, at: number): Found | undefined {
  USER_INFO.lastIndex = at
  const match = USER_INFO.exec(text)
  if (match === null) return undefined
  const [, user = "", password = ""] = match
  if (isMask(password) || isPlaceholder(password) || OPEN_PASSWORDS.has(password.toLowerCase())) return undefined
  if (password === "x-oauth-basic") return undefined
  const start = at + 3 + user.length + 1
  return { start, end: start + password.length }
}

function cutOffPassword(text: string, at: number): Found | undefined {
  if (text.length - at > 310) return undefined
  CUT_OFF.lastIndex = at
  const password = CUT_OFF.exec(text)?.[2]
  if (password === undefined || isPlaceholder(password) || !isSecretValue(password, "password", "literal"))
    return undefined
  return { start: text.length - password.length, end: text.length }
}

/** `https://<token>@host`: the user is the secret. */
function loneTokenOf(text: string, at: number): Found | undefined {
  OAUTH_BASIC.lastIndex = at
  const token = OAUTH_BASIC.exec(text)?.[1]
  if (token === undefined || !/\d/.test(token) || isPlaceholder(token)) return undefined
  if (PUBLISHED_AT.test(text.slice(OAUTH_BASIC.lastIndex - 2, OAUTH_BASIC.lastIndex + 60))) return undefined
  return { start: at + 3, end: at + 3 + token.length }
}

/** Addresses that are written into web pages: see `sentry-dsn`. */
const PUBLISHED_AT = /^@[a-z0-9.]{0,40}sentry\.io\//
/** What stands for a password where an address is explained. */
const OPEN_PASSWORDS = new Set(["password", "pass", "passwd", "pwd", "token", "port", "[password]", "@"])
