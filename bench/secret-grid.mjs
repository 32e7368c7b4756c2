// Secrets of our own making, in the contexts they stand in and the dresses they wear: the second ruler of redaction, beside the labelled rows.
// Everything is drawn at run time, so that no scanner that reads this repository finds a key in it.
import { CONTEXTS } from "./secret-contexts.mjs"

export { CONTEXTS }

/** The same characters for the same seed. */
export function drawer(seed) {
  let state = Math.imul(seed, 2654435761) >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
  const draw = (length, alphabet = ALPHANUMERIC) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join("")
  return draw
}

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const UPPER = LOWER.toUpperCase()
const DIGITS = "0123456789"
const ALPHANUMERIC = LOWER + UPPER + DIGITS
const HEX = `${DIGITS}abcdef`
const BASE64 = `${ALPHANUMERIC}+/`
const PUNCTUATED = `${ALPHANUMERIC}!#%*+-.:=?@^_~`
/** What people type into a password, every sign as often as two letters. */
const ANY_SIGN = `${LOWER}${UPPER}${DIGITS}${"&(;,<'\"!@#$%^*)_+-=[]{}|:>?/~`.".repeat(2)}`

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url")

const pick = (draw, list) => list[Math.floor((Number.parseInt(draw(4, DIGITS), 10) / 10_000) * list.length)]

/** A name that someone would give to a secret of this kind. */
const named = (draw, tellings) => {
  const before = pick(draw, ["", "", "DB_", "APP_", "PROD_", "MY_SERVICE_", "STAGING_", "ACME_"])
  return before + pick(draw, tellings)
}
const PASSWORDS = ["PASSWORD", "PASSWD", "PASSPHRASE", "DB_PASSWORD", "ADMIN_PASSWORD", "USER_PASS"]
const KEYS = ["API_KEY", "CLIENT_SECRET", "AUTH_TOKEN", "ACCESS_TOKEN", "SECRET_KEY", "SIGNING_SECRET", "API_TOKEN"]
const length = (draw, least, most) =>
  pick(
    draw,
    Array.from({ length: most - least + 1 }, (_, i) => least + i),
  )

/** A name that tells, or none for those known by their form, and the secret. */
export const SECRETS = {
  "github token": (draw) => ({ name: "GITHUB_TOKEN", secret: `ghp${"_"}${draw(36)}` }),
  "openai key": (draw) => ({ name: "OPENAI_API_KEY", secret: `sk-${"proj-"}${draw(48)}` }),
  "anthropic key": (draw) => ({ name: "ANTHROPIC_API_KEY", secret: `sk-ant${"-api03-"}${draw(93)}AA` }),
  "aws key id": (draw) => ({ name: "AWS_ACCESS_KEY_ID", secret: `AK${"IA"}${draw(16, `${UPPER}234567`)}` }),
  "slack token": (draw) => ({
    name: "SLACK_BOT_TOKEN",
    secret: `xox${"b-"}${draw(12, "123456789")}-${draw(12, "123456789")}-${draw(24)}`,
  }),
  "stripe key": (draw) => ({ name: "STRIPE_SECRET_KEY", secret: `sk${"_live_"}${draw(24)}` }),
  "npm token": (draw) => ({ name: "NPM_TOKEN", secret: `npm${"_"}${draw(36)}` }),
  "web token": (draw) => ({
    name: "SESSION_TOKEN",
    secret: [encoded({ alg: "HS256", typ: "JWT" }), encoded({ sub: draw(6), role: "admin" }), draw(43)].join("."),
  }),
  "hex secret": (draw) => ({ name: named(draw, KEYS), secret: draw(40, HEX) }),
  "base64 secret": (draw) => ({ name: "AWS_SECRET_ACCESS_KEY", secret: `${draw(1)}7${draw(38, BASE64)}` }),
  "short random value": (draw) => ({ name: named(draw, KEYS), secret: draw(length(draw, 16, 20)) }),
  "punctuated password": (draw) => ({
    name: named(draw, PASSWORDS),
    // A digit and a colon in front would be the number of a line.
    secret: `${draw(1, LOWER)}9${draw(14, PUNCTUATED)}${draw(2)}`,
  }),
  "password of any signs": (draw) => ({
    name: named(draw, PASSWORDS),
    secret: `${draw(2)}${draw(length(draw, 8, 14), ANY_SIGN)}${draw(3)}`,
  }),
  "password of letters": (draw) => ({
    name: named(draw, PASSWORDS),
    secret: Array.from({ length: length(draw, 4, 7) }, () => draw(1, "bcdfghklmnprstvwz") + draw(1, "aeiou")).join(""),
  }),
  passphrase: (draw) => ({
    name: named(draw, PASSWORDS),
    secret: `${draw(5, LOWER)}-${draw(6, LOWER)}.${draw(7, LOWER)}4`,
  }),
}

const hexOf = (character) => character.charCodeAt(0).toString(16).padStart(2, "0")
const everyLine = (text, gutter) =>
  text
    .split("\n")
    .map((line, i) => `${typeof gutter === "function" ? gutter(i + 1) : gutter}${line}`)
    .join("\n")
const utf16 = (text) => Buffer.from(text, "utf16le").toString("latin1")
const wrapped = (text, width) => text.replace(new RegExp(`(.{${width}})(?=.)`, "g"), "$1\n")

/** A colour begins between two characters, never inside an escape of its syntax. */
const cutAt = (secret, at) => (/[\\%&]/.test(secret.slice(Math.max(0, at - 4), at + 4)) ? 1 : at)
const head = (secret, at) => secret.slice(0, cutAt(secret, at))
const tail = (secret, at) => secret.slice(cutAt(secret, at))

/** What a text wears: from the plain text and the secret in it to the text as it is recorded. */
export const DRESSES = {
  plain: (text) => text,
  "colour around it": (text, secret) => text.replaceAll(secret, `\x1b[1;32m${secret}\x1b[0m`),
  "colour inside it": (text, secret) =>
    text.replaceAll(
      secret,
      `\x1b[31m${head(secret, 5)}\x1b[0m${tail(secret, 5).slice(0, 4)}\x1b[1m${tail(secret, 5).slice(4)}\x1b[0m`,
    ),
  "colour in JSON": (text, secret) =>
    JSON.stringify({ out: text.replaceAll(secret, `\x1b[32m${head(secret, 6)}\x1b[39m${tail(secret, 6)}\x1b[0m`) }),
  "colour, written out": (text, secret) =>
    text.replaceAll(secret, `\\033[32m${head(secret, 6)}\\033[0m${tail(secret, 6)}`),
  "line numbers with arrows": (text) => everyLine(text, (line) => `${String(line).padStart(6)}→`),
  "line numbers with arrows, in JSON": (text) =>
    JSON.stringify({ content: everyLine(text, (line) => `${String(line).padStart(6)}→`) }),
  "line numbers with tabs": (text) => everyLine(text, (line) => `${String(line).padStart(6)}\t`),
  "lines of grep": (text) => everyLine(text, (line) => `src/app/config.yml:${line}:`),
  "added lines": (text) => everyLine(text, "+"),
  "removed lines": (text) => everyLine(text, "- "),
  "quoted lines": (text) => everyLine(text, "> "),
  "lines behind a bar": (text) => everyLine(text, "│ "),
  "lines of a container": (text) => everyLine(text, "web-1  | "),
  "lines with a time": (text) => everyLine(text, "2026-11-18T01:02:03.456Z "),
  "JSON string": (text) => JSON.stringify({ content: text }),
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify({ content: text })),
  "JSON in JSON in JSON": (text) => JSON.stringify(JSON.stringify(JSON.stringify({ content: text }))),
  "JSON with escaped slashes": (text) => JSON.stringify({ content: text }).replaceAll("/", "\\/"),
  "percent encoded": (text) => `q=${encodeURIComponent(text)}`,
  "percent encoded throughout": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `%${hexOf(character)}`).join("")),
  "percent encoded twice": (text) => `q=${encodeURIComponent(encodeURIComponent(text))}`,
  "\\u escapes": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `\\u00${hexOf(character)}`).join("")),
  "\\x escapes": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `\\x${hexOf(character)}`).join("")),
  "HTML entities": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `&#${character.charCodeAt(0)};`).join("")),
  "UTF-16": (text) => utf16(text),
  "UTF-16, big-endian": (text) => Buffer.from(text, "utf16le").swap16().toString("latin1"),
  base64: (text) => `payload: ${Buffer.from(text).toString("base64")}\n`,
  "base64 in lines": (text) => `${wrapped(Buffer.from(`${"note ".repeat(30)}\n${text}`).toString("base64"), 76)}\n`,
  "base64 for addresses": (text) => `/v1/${Buffer.from(text).toString("base64url")}?x=1`,
  "UTF-16 in base64": (text) => `powershell -e ${Buffer.from(text, "utf16le").toString("base64")}`,
  "cut off behind it": (text, secret) => text.slice(0, text.indexOf(secret) + secret.length),
  "wrapped at 80": (text, secret) => wrapAround(text, secret, 80),
}

/** A line so long before the secret that a terminal breaks it inside. */
function wrapAround(text, secret, width) {
  const at = text.indexOf(secret)
  const lineStart = text.lastIndexOf("\n", at) + 1
  const room = width - Math.floor(Math.min(secret.length, width) / 2)
  const padding = Math.max(0, room - (at - lineStart))
  return wrapped(
    `${text.slice(0, lineStart)}${"#".repeat(Math.max(0, padding - 1))}${padding > 0 ? " " : ""}${text.slice(lineStart)}`,
    width,
  )
}

/** One cell: the text as it is recorded, and the part of it that is the secret's, known by what changes with it. */
export function cell(context, dress, kind, seed) {
  const one = SECRETS[kind](drawer(seed))
  const text = dressed(context, dress, one)
  const second = dressed(context, dress, { ...one, secret: another(one.secret) })
  return { text, secret: changing(text, second), other: changing(second, text) }
}

/** Another secret of the same length in every encoding, for only its letters and digits differ. */
const another = (secret) => secret.replace(/[A-Za-z0-9]/g, neighbour)

/** The part of a text that is not the same in another. */
function changing(text, other) {
  let start = 0
  while (start < text.length && text[start] === other[start]) start++
  let end = 0
  while (end < text.length - start && text.at(-1 - end) === other.at(-1 - end)) end++
  return text.slice(start, text.length - end)
}

const neighbour = (character) => {
  const row = [LOWER, UPPER, DIGITS].find((letters) => letters.includes(character))
  return row[(row.indexOf(character) + 1) % row.length]
}

function dressed(context, dress, { name, secret }) {
  const text = CONTEXTS[context](name, secret)
  const other = CONTEXTS[context](name, another(secret))
  return DRESSES[dress](text, changing(text, other))
}

/**
 * Whether a quarter of the secret, or eight characters of it, can still be read. What another secret wears at the same place is no part of it, nor
 * what the text around it says as well.
 */
export function leaks(redacted, { text, secret, other }) {
  const around = text.replaceAll(secret, other)
  const width = Math.min(secret.length, Math.max(8, Math.ceil(secret.length / 4)))
  for (let at = 0; at + width <= secret.length; at++) {
    const part = secret.slice(at, at + width)
    if (bare(part).length < OWN) continue
    if (timesIn(redacted, part) > timesIn(around, part) && ownCharacters(part, other.slice(at)) >= OWN) return true
  }
  return false
}

const timesIn = (text, part) => text.split(part).length
const OWN = 5
/** Without its colours: of a token that is masked inside of them its ends and they are left. */
const bare = (part) =>
  part.replace(/^[\\u0-3b]{0,7}\[[0-9;]*m/, "").replace(/(?:\x1b|\\{1,4}(?:u001b|033))\[[0-9;]*m/g, "")
const ownCharacters = (part, other) => [...part].filter((character, i) => character !== other[i]).length
