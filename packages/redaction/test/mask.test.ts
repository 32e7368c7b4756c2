import fc from "fast-check"
import { expect, test } from "vitest"
import { MASK_MIDDLE, maskedSecret, redactText } from "../src/index.js"
import { isMask, secretTag } from "../src/mask.js"
import { drawn, FAKES, fakePem, KEY, ruleset } from "./fake-secrets.js"
import { FAMILIES } from "./families.js"

test("[X-03] a mask shows three characters of each end from 13 on, two from 11, one from 8, and none below", () => {
  const shown = (length: number) => maskedSecret("abcdefghijklmnop".slice(0, length))
  expect(shown(7)).toBe("…redacted…")
  expect(shown(8)).toBe("a…redacted…h")
  expect(shown(10)).toBe("a…redacted…j")
  expect(shown(11)).toBe("ab…redacted…jk")
  expect(shown(12)).toBe("ab…redacted…kl")
  expect(shown(13)).toBe("abc…redacted…klm")
})

test("[X-03] the length of a secret does not show in its mask", () => {
  expect(maskedSecret(drawn(20)).length).toBe(maskedSecret(drawn(2000)).length)
})

test("[X-03] different secrets that mask alike keep different tags, equal ones the same, and another store's key gives others", () => {
  const [one, two] = [`abc${drawn(20)}xyz`, `abc${drawn(20, undefined, 9)}xyz`]
  expect(maskedSecret(one)).toBe(maskedSecret(two))
  expect(secretTag(KEY, one)).not.toBe(secretTag(KEY, two))
  expect(secretTag(KEY, one)).toBe(secretTag(KEY, one))
  expect(secretTag(new Uint8Array(32), one)).not.toBe(secretTag(KEY, one))
})

test("[X-03] a private key has one tag with real line breaks and with escaped ones", () => {
  const pem = fakePem()
  const tag = (text: string) => redactText(text, ruleset).masks.map((mask) => mask.tag)
  expect(tag(JSON.stringify({ key: pem }))).toEqual(tag(pem))
  expect(tag(JSON.stringify(JSON.stringify({ key: pem })))).toEqual(tag(pem))
})

test("[X-03] each mask says where it stands in the redacted text, which rule made it, and its tag", () => {
  const token = FAKES["github-token"]!
  const { text, masks } = redactText(`first ${token} then ${token}.`, ruleset)
  expect(masks).toHaveLength(2)
  for (const { offset, length, rule, tag } of masks) {
    expect(text.slice(offset, offset + length)).toBe(maskedSecret(token))
    expect(rule).toBe("github-token")
    expect(tag).toBe(secretTag(KEY, token))
  }
})

test("[X-03] masking twice changes nothing", () => {
  const secret = fc.constantFrom(...Object.values(FAKES), ...Object.values(FAMILIES), fakePem())
  const framed = fc.tuple(fc.constantFrom(...FRAMES), fc.oneof(secret, fc.string())).map((parts) => parts.join(""))
  // Something stands between two secrets: glued to each other they are a third, which has no first and no last character of its own.
  const text = fc.tuple(fc.array(fc.oneof(fc.string(), secret, framed), { maxLength: 8 }), fc.constantFrom(...BETWEEN))
  fc.assert(
    fc.property(text, ([parts, between]) => {
      const once = redactText(parts.join(between), ruleset).text
      expect(redactText(once, ruleset)).toEqual({ text: once, masks: [] })
    }),
    { numRuns: 500 },
  )
})

test("[X-03] masking twice changes nothing where the mask makes a line as wide as a terminal", () => {
  const secret = drawn(40)
  for (const width of [72, 80, 100, 120, 132, 160]) {
    const before = "password="
    const line = `${"x".repeat(width - before.length - 1 - maskedSecret(secret).length)} ${before}${secret}`
    const once = redactText(`${line}\nofTheNextLine and more`, ruleset).text
    expect(once.indexOf("\n")).toBe(width)
    expect(redactText(once, ruleset)).toEqual({ text: once, masks: [] })
  }
})

test("[X-03] masking twice changes nothing where the mask hides the line breaks behind an open quote", () => {
  const once = redactText(`password is '-#((-# ${fakePem()}`, ruleset).text
  expect(once).toContain("-#((-#")
  expect(redactText(once, ruleset)).toEqual({ text: once, masks: [] })
})

const BETWEEN = [" ", "\n", '", "', ", ", "; ", "\\n"]
const FRAMES = [
  "DB_PASSWORD=",
  "password is '",
  "password=&quot;",
  "authorization: Bot ",
  "1234567890123456|",
  "://a@b.c:",
  "password = ",
  'api_key: "',
  "Authorization: Bearer ",
  "postgres://user:",
  "@host/db",
  "token=",
  "--password ",
]

test("the mask's middle inside a longer value does not protect it", () => {
  const { text } = redactText(`password = "hunter22${MASK_MIDDLE}hunter22"`, ruleset)
  expect(text).not.toContain("hunter22")
})

test("a mask is a mask, and nothing that only holds one", () => {
  expect(isMask(maskedSecret(drawn(40)))).toBe(true)
  expect(isMask(MASK_MIDDLE)).toBe(true)
  expect(isMask(`abcd${MASK_MIDDLE}efgh`)).toBe(false)
  expect(isMask(`a${MASK_MIDDLE}`)).toBe(false)
})

test("no end is shown that is half an escape or half a character", () => {
  expect(maskedSecret(`\\u00e9${drawn(20)}`)).toBe(MASK_MIDDLE)
  expect(maskedSecret(`${drawn(20)}\\u00e9`)).toBe(MASK_MIDDLE)
  expect(maskedSecret(`ab😀${drawn(20)}`)).toBe(MASK_MIDDLE)
})

test("JSON stays the JSON it was, with masks inside its strings", () => {
  const secret = fc.constantFrom(...Object.values(FAKES), fakePem(), `pässword\n"${drawn(12)}`)
  const name = fc.constantFrom("password", "api_key", "text", "client_secret")
  fc.assert(
    fc.property(fc.array(fc.tuple(name, secret, fc.string())), (members) => {
      const value = members.map(([key, hidden, more]) => ({ [key]: hidden, note: `${more} ${key}: "${hidden}"` }))
      const redacted = JSON.parse(redactText(JSON.stringify(value), ruleset).text)
      expect(redacted.map(Object.keys)).toEqual(value.map(Object.keys))
    }),
  )
})
