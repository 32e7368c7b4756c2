import { isMask } from "../mask.js"
import type { Found } from "../rule.js"
import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"
import { isSecretValue } from "./secret-values.js"

// All of these begin behind the slashes of `scheme://`. A user may be an e-mail address, and a password may hold an unescaped `@`: the one before the host counts. It may hold a slash, but for
// the one behind a port.
const USER_INFO =
  /([^\s/:@"'`<>\\]{0,100}(?:@[\w.-]{1,80})?):(?!\d{1,5}[/?#])([^\s@"'`<>\\]{1,200}(?:@[^\s/?#&=,:@"'`<>\\]{1,60}){0,2})@[\w[]/y
/** The same with any sign before an `@` that a whole host follows. */
const ANY_SIGNS =
  /[^\s/:@"'`<>\\]{1,100}:(?!\d{1,5}[/?#<>])((?:[^\s/"'\\]|'(?![;,)])){1,120}?)@(?:[A-Za-z0-9][A-Za-z0-9._-]{0,100}|\[[0-9a-f:]{2,40}\])(?=:\d{1,5}(?!\d)|[/?,)\]}|]|[\s"'`<>\\]|$)/y
/** The same where a host with a port follows: then everything before its `@` is the login, more of them included. */
const BEFORE_PORT =
  /[^\s/:@"'`<>\\]{1,100}:(?!\d{1,5}[/?#<>])([^\s/"'\\]{1,120})@[A-Za-z0-9][A-Za-z0-9._-]{0,100}:\d{2,5}(?!\d)/y
/** The same where the text breaks off before the host. */
const CUT_OFF = /([^\s/:@"'`<>\\]{1,100}):([^\s/@"'`<>\\]{8,200})$/y
const OAUTH_BASIC = /([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@[\w[]/y

/** The password in `scheme://user:password@host`, of databases, brokers and repositories alike. The rest of the address stays. */
export const connectionString: Finder = {
  patterns: [USER_INFO, ANY_SIGNS, BEFORE_PORT, CUT_OFF, OAUTH_BASIC],
  find(text, keywordAt, keyword) {
    const at = keywordAt + keyword.length
    return passwordOf(text, at) ?? loneTokenOf(text, at) ?? cutOffPassword(text, at)
  },
}

function passwordOf(text: string, at: number): Found | undefined {
  const [user, password] = loginOf(text, at) ?? []
  if (user === undefined || password === undefined) return undefined
  if (isMask(password) || isPlaceholder(password) || OPEN_PASSWORDS.has(password.toLowerCase())) return undefined
  if (password === "x-oauth-basic") return undefined
  const start = at + user.length + 1
  const end = start + password.length
  return { start, end: isCutOffInHost(text, end) ? text.length : end }
}

/** Where the text breaks off in what should be the host and no host is written so, it was the password that held the `@`. */
function isCutOffInHost(text: string, end: number): boolean {
  return text.length - end < 80 && /^@[^\s/:?,"'`<>\\]*[A-Z][^\s/:?,"'`<>\\]*$/.test(text.slice(end))
}

function loginOf(text: string, at: number): readonly [user: string, password: string] | undefined {
  const any = captured(BEFORE_PORT, text, at) ?? captured(ANY_SIGNS, text, at)
  USER_INFO.lastIndex = at
  const [whole, user = "", password = ""] = USER_INFO.exec(text) ?? []
  if (any !== undefined && any.length > password.length) return [text.slice(at, text.indexOf(":", at)), any]
  return whole === undefined ? undefined : [user, password]
}

function captured(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[1]
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
  return { start: at, end: at + token.length }
}

/** Addresses that are written into web pages: see `sentry-dsn`. */
const PUBLISHED_AT = /^@[a-z0-9.]{0,40}sentry\.io\//
/** What stands for a password where an address is explained. */
const OPEN_PASSWORDS = new Set(["password", "pass", "passwd", "pwd", "token", "port", "[password]", "@"])
