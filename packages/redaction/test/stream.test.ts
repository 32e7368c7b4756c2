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

test("[X-04] with personal data and a user's pattern as well", () => {
  const rules = createRuleset({
    key: KEY,
    pii: true,
    patterns: [{ id: "user-badge", about: "Badges", pattern: /B-\d{2,6}/g, longest: 8 }],
  })
  const personal = fc.constantFrom(
    "nobody@example.com",
    "+49 30 1234567",
    "4111 1111 1111 1111",
    "B-1234",
    "B-12",
    "10.1.2.3",
    " ",
    "x",
  )
  const words = fc.array(fc.oneof(personal, part), { maxLength: 10 }).map((parts) => parts.join(""))
  fc.assert(
    fc.property(words, fc.array(fc.nat(), { maxLength: 6 }), (whole, cuts) => {
      const { text, masks } = redactText(whole, rules)
      expect(inPieces(splitAt(whole, cuts), rules)).toEqual({ text, masks })
    }),
    { numRuns: 500 },
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
