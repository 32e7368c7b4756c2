import fc from "fast-check"
import { expect, test } from "vitest"
import { createRuleset, type Mask, type Ruleset, redactText, StreamRedactor } from "../src/index.js"
import { drawn, FAKES, fakePem, KEY, ruleset } from "./fake-secrets.js"
import { FAMILIES } from "./families.js"

function inPieces(pieces: readonly string[], rules: Ruleset = ruleset): { text: string; masks: Mask[] } {
  const redactor = new StreamRedactor(rules)
  const given = [...pieces.map((piece) => redactor.push(piece)), redactor.finish()]
  return { text: given.map(({ text }) => text).join(""), masks: given.flatMap(({ masks }) => masks) }
}

/** Text of everything the rules look at, with words and escapes between. */
const part = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...Object.values(FAKES),
      ...Object.values(FAMILIES),
      fakePem(2),
      fakePem(2).slice(0, 120),
      `"${drawn(20)}"`,
      drawn(24),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        "password = ",
        'password: "',
        "secret: str = ",
        "token:",
        "api_key=",
        '\\"access_token\\": \\"',
        "--password ",
        "<token>\n ",
      ],
      ...[
        "Authorization: Bearer ",
        "Set-Cookie: sid=",
        "://user:",
        "@host ",
        "apiVersion: v1\ndata:\n  a: ",
        "machine x login y password ",
      ],
      ...[
        "-----BEGIN",
        " PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "curl -u me:",
        "the password is '",
        "key-",
        "Secret Key: ",
      ],
      ...[
        "Private-Lines: 2\n",
        '{"kty":"EC", "d": "',
        "password=&quot;",
        "DB_PASSWORD=",
        "?password=",
        "authorization: Bot ",
        "otpauth://totp/a?secret=",
        "1234567890123456|",
        "proceed to installation:\n\n",
        "&quot;",
      ],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      " ",
      "\n",
      "\\n",
      '"',
      "', ",
      ". ",
      "…redacted…",
      "words between ",
      ";",
      "=",
      ": ",
      "\t",
    ),
  },
  { weight: 1, arbitrary: fc.string() },
)
const text = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(""))

function splitAt(whole: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return places.slice(1).map((end, i) => whole.slice(places[i], end))
}

test("[X-04] a text in pieces comes out as the whole text would, wherever it is cut", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (whole, cuts) => {
      expect(inPieces(splitAt(whole, cuts))).toEqual(expectation(whole))
    }),
    { numRuns: 3000 },
  )
})

test("[X-04] character by character too", () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(inPieces(whole.split(""))).toEqual(expectation(whole))
    }),
    { numRuns: 150 },
  )
})

test("[X-04] character by character, a key behind an entity with a line below it that may belong to it", () => {
  const whole = `&quot;     . nvapi-${drawn(64)}\npassword = `
  expect(inPieces(whole.split(""))).toEqual(expectation(whole))
})

test("[X-04] nor is anything of that key given out", () => {
  const key = drawn(64)
  const { text } = inPieces(`&quot;     . nvapi-${key}\npassword = `.split(""))
  expect(text).not.toContain(key.slice(4, 12))
})

test("[X-04] with personal data and a user's pattern as well", () => {
  const rules = createRuleset({
    key: KEY,
    pii: true,
    patterns: [
      { id: "user-badge", about: "Badges", pattern: /B-\d{2,6}/g, longest: 8 },
      {
        id: "user-case",
        about: "Cases",
        pattern: /\bcase (?:no|number)?[ .:]{1,2}[a-f0-9]{4}( |-)[A-Z]{2}\b/gi,
        longest: 22,
      },
      { id: "user-end", about: "Ends", pattern: /(?:seat|row) [A-K]\B./g, longest: 7 },
    ],
  })
  const personal = fc.constantFrom(
    "nobody@example.com",
    "+49 30 1234567",
    "4111 1111 1111 1111",
    "B-1234",
    "B-12",
    "10.1.2.3",
    "case no: 12ab XY",
    "seat A1",
    "row B",
    "DE89 3704 0044 0532 0130 00",
    "+49 (30) ",
    "\u001b[31m30 1234567\u001b[0m",
    "秘密の言葉です。",
    "ok",
    " ",
    "x",
  )
  const words = fc.array(fc.oneof(personal, part), { maxLength: 10 }).map((parts) => parts.join(""))
  fc.assert(
    fc.property(words, fc.array(fc.nat(), { maxLength: 6 }), (whole, cuts) => {
      const { text, masks } = redactText(whole, rules)
      expect(inPieces(splitAt(whole, cuts), rules)).toEqual({ text, masks })
    }),
    { numRuns: 1500 },
  )
})

function expectation(whole: string): { text: string; masks: readonly Mask[] } {
  const { text, masks } = redactText(whole, ruleset)
  return { text, masks }
}

test("only the word still being written is held back", () => {
  const redactor = new StreamRedactor(ruleset)
  expect(redactor.push("The weather is fi").text).toBe("The weather is ")
  expect(redactor.push("ne today").text).toBe("fine ")
  expect(redactor.finish().text).toBe("today")
})

test.each([
  ["with personal data", "The weather is fi", "The weather is "],
  ["before an address", "write to ada@exam", "write to "],
  ["a number that may be a phone's", "call +49 30 12", "call "],
  ["a number that is none", "there are 12 of ", "there are 12 of "],
  ["a script without spaces", "今日は天気がいいですね。明日も", "今日は天気がいいですね。明日も"],
  ["the word behind it", "今日は天気が ghp_abc", "今日は天気が "],
])("[F-08] held back is what may become a match and no more: %s", (_, text, given) => {
  const redactor = new StreamRedactor(createRuleset({ key: KEY, pii: true }))
  expect(redactor.push(text).text).toBe(given)
  expect(given.length + redactor.held.length).toBe(text.length)
  expect(redactor.held.bytes).toBe(Buffer.byteLength(text.slice(given.length)))
})

/** Texts that have a rule asked at every word, or that are one word. */
const DEAR = [
  "token=x ",
  'password="x',
  "eyJhbGciOiJIUzI1NiJ9.x",
  "\\u001b[x",
  "-----BEGIN PRIVATE KEY-----\n12→x",
  "://a:x",
]

test.each(DEAR)("[X-12] a stream is not searched again and again, whatever it is made of: %j", (unit) => {
  let asked = 0
  const accepts = (): boolean => {
    asked++
    return false
  }
  const counting = { id: "count", about: "how often a place is looked at", pattern: /x/g, longest: 1, accepts }
  const redactor = new StreamRedactor(createRuleset({ key: KEY, patterns: [counting] }))
  const text = unit.repeat(Math.ceil(400_000 / unit.length))
  for (let at = 0; at < text.length; at += 16) redactor.push(text.slice(at, at + 16))
  redactor.finish()
  // Looked at through five views at most; a window of 2,600 characters searched at every piece would be 160 times.
  expect(asked / (text.length / unit.length)).toBeLessThan(20)
})

test.each(DEAR)("[X-12] and what is found is what is found in the whole: %j", (unit) => {
  const secret = FAKES["github-token"]!
  const text = `${unit.repeat(2000)} ${secret} ${unit.repeat(3000)}\n${secret} and on`
  const redactor = new StreamRedactor(ruleset)
  let streamed = ""
  for (let at = 0; at < text.length; at += 37) streamed += redactor.push(text.slice(at, at + 37)).text
  streamed += redactor.finish().text
  expect(streamed).not.toContain(secret)
  expect(streamed.split("ghp…redacted…").length).toBe(redactText(text, ruleset).text.split("ghp…redacted…").length)
})

test("a private key is held back until it ends, and what stands before it is not", () => {
  const redactor = new StreamRedactor(ruleset)
  const lines = fakePem().split("\n")
  expect(redactor.push("Here it is:\n").text).toBe("Here it is:\n")
  for (const line of lines) expect(redactor.push(`${line}\n`).text.replace(/\s/g, "")).toMatch(/^$|^---…redacted…---$/)
  expect(redactor.push("and that was it. ").text.trim()).toMatch(/and that was it\.$/)
})

test("a word without end is let go piece by piece", () => {
  const redactor = new StreamRedactor(ruleset)
  let given = 0
  for (let i = 0; i < 40; i++) given += redactor.push(drawn(1000, "abcdef", i + 1)).text.length
  expect(given).toBeGreaterThan(20_000)
  expect(given + redactor.finish().text.length).toBe(40_000)
})

test("[X-06] a rule that throws in mid-stream drops the rest of the block and never gives it out", () => {
  let isBroken = false
  const rules = createRuleset({
    key: KEY,
    patterns: [
      {
        id: "user-broken",
        about: "Breaks",
        pattern: /boom/g,
        longest: 4,
        accepts: () => {
          if (isBroken) throw new Error("the text was boom")
          return false
        },
      },
    ],
  })
  const redactor = new StreamRedactor(rules)
  expect(redactor.push("fine words here ").text).toContain("fine")
  isBroken = true
  expect(redactor.push("boom secret words ")).toEqual({ text: "…redacted…", masks: [], failed: "Error" })
  expect(redactor.push("more secret words ").text).toBe("")
  expect(redactor.finish().text).toBe("")
})
