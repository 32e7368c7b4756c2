import fc from "fast-check"
import { expect, test } from "vitest"
import {
  createRuleset,
  KnownValues,
  type Ruleset,
  redactBytes,
  redactText,
  redactValue,
  SeenText,
  StreamRedactor,
  valueForms,
} from "../src/index.js"
import { ALPHANUMERIC, drawn, KEY } from "./fake-secrets.js"

const knowing = (...values: string[]): Ruleset => {
  const known = new KnownValues()
  for (const value of values) known.learn(value)
  return createRuleset({ key: KEY, known })
}

const secret = drawn(21)

test("[X-12] a value that a rule found once is masked wherever it stands again, with the same tag", () => {
  const ruleset = knowing()
  const first = redactText(`DB_PASSWORD="${secret}"`, ruleset)
  expect(first.masks).toHaveLength(1)
  const again = redactText(`I tried ${secret} and then /home/${secret}/x`, ruleset)
  expect(again.text).not.toContain(secret)
  expect(again.masks.map(({ rule, tag }) => [rule, tag])).toEqual([
    ["known-value", first.masks[0]!.tag],
    ["known-value", first.masks[0]!.tag],
  ])
})

test("[X-12] before the place where a rule finds it, and under the keys of one value, too", () => {
  expect(redactText(`${secret} is it: password="${secret}"`, knowing()).text).not.toContain(secret)
  expect(JSON.stringify(redactValue({ note: `it is ${secret}`, password: secret }, knowing()).value)).not.toContain(
    secret,
  )
})

test.each([
  ["in hex", (value: string) => Buffer.from(value).toString("hex")],
  ["in capital hex", (value: string) => Buffer.from(value).toString("hex").toUpperCase()],
  ["in base64", (value: string) => Buffer.from(`{"a":"${value}"}`).toString("base64")],
  ["in base64 one byte on", (value: string) => Buffer.from(`{"ab":"${value}"}`).toString("base64")],
  ["in base64 two bytes on", (value: string) => Buffer.from(`{"abc":"${value}"}`).toString("base64")],
  ["in base64 for addresses", (value: string) => Buffer.from(`~~~${value}~~~`).toString("base64url")],
  ["in an address", encodeURIComponent],
  [
    "in an address, in small hex",
    (value: string) => encodeURIComponent(value).replaceAll(/%../g, (byte) => byte.toLowerCase()),
  ],
  ["in JSON", (value: string) => JSON.stringify({ a: value })],
  ["in JSON in JSON", (value: string) => JSON.stringify({ a: JSON.stringify({ b: value }) })],
  ["with colours inside", (value: string) => `${value.slice(0, 6)}\u001b[32m${value.slice(6)}`],
  [
    "in escapes",
    (value: string) => value.replaceAll(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16).padStart(2, "0")}`),
  ],
  [
    "in base64 of base64",
    (value: string) => Buffer.from(Buffer.from(`{"key":"${value}"}`).toString("base64")).toString("base64"),
  ],
  ["in UTF-16", (value: string) => Buffer.from(value, "utf16le").toString("latin1")],
  ["in the middle of a word", (value: string) => `prefix${value}suffix`],
] as const)("[X-12] [X-11] a known value is found %s", (_, dress) => {
  for (const value of [drawn(12, "abcdefgh0123"), drawn(17), `${drawn(9, "abc123")}+"/${drawn(9, "xyz789")}`]) {
    const plain = redactText(`token ${value}`, knowing(value)).masks[0]!.tag
    const dressed = dress(value)
    const bytes = redactBytes(Buffer.from(`before ${dressed} behind`), knowing(value))
    expect(bytes.masks.map(({ tag }) => tag)).toEqual([plain])
    const text = redactText(`before ${dressed} behind`, knowing(value))
    expect(text.masks.map(({ tag }) => tag)).toEqual([plain])
    for (const form of valueForms(value)) expect(text.text).not.toContain(form)
  }
})

test("[X-12] what was searched before it was known is masked all the same: the memory is not asked about it", () => {
  const ruleset = knowing()
  const seen = new SeenText()
  const body = (last: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        messages: [
          { role: "user", content: `${"clean words ".repeat(300)} ${secret}` },
          { role: "user", content: last },
        ],
      }),
    )
  expect(redactBytes(body("nothing"), ruleset, seen).masks).toEqual([])
  const redacted = redactBytes(body(`the api_key is "${secret}"`), ruleset, seen)
  expect(redacted.masks).toHaveLength(2)
  expect(Buffer.from(redacted.bytes).toString()).not.toContain(secret)
  for (const { offset, length } of redacted.masks) {
    const mask = Buffer.from(redacted.bytes.subarray(offset, offset + length)).toString()
    expect(mask).toBe(`${secret.slice(0, 3)}…redacted…${secret.slice(-3)}`)
  }
  expect(redactBytes(body("nothing"), ruleset, seen).masks).toHaveLength(1)
})

test("[X-12] a word, a number or the name of a thing is not masked everywhere because it was a password once", () => {
  const ruleset = knowing()
  for (const word of [
    "development",
    "admin123",
    "12345678",
    "my-service-name",
    "/etc/app/key.pem",
    "https://a.example/x",
  ]) {
    redactText(`password="${word}"`, ruleset)
    expect(redactText(`the ${word} of it`, ruleset).text).toBe(`the ${word} of it`)
  }
})

test("[X-12] a short one counts as a whole word only", () => {
  const ruleset = knowing("hunt3r!2")
  expect(redactText("say hunt3r!2 now", ruleset).text).toBe("say h…redacted…2 now")
  expect(redactText("a hunt3r!22 is another", ruleset).masks).toEqual([])
})

test("[X-12] of a private key each line is known, also without its frame", () => {
  const lines = Array.from({ length: 6 }, (_, i) => drawn(64, `${ALPHANUMERIC}+/`, i + 50))
  const ruleset = knowing()
  redactText(`-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----`, ruleset)
  for (const line of lines.slice(1)) expect(redactText(`so: ${line}`, ruleset).text).not.toContain(line)
})

test("[X-12] a passphrase of several words is held back in a stream until it is whole", () => {
  const phrase = "correct horse 9 battery staple"
  const redactor = new StreamRedactor(knowing(phrase))
  const given = ["it was cor", "rect ", "horse 9 ", "battery sta", "ple, and correct ", "horses run "].map(
    (piece) => redactor.push(piece).text,
  )
  expect([...given, redactor.finish().text].join("")).toBe("it was cor…redacted…ple, and correct horses run ")
})

test("[X-12] thousands of values, found as a search for each alone would", () => {
  const words = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 })
  const values = Array.from({ length: 400 }, (_, i) => drawn(6 + (i % 40), ALPHANUMERIC, i + 1))
  const ruleset = knowing(...values)
  const alone = values.filter((value) => redactText(`x ${value} y`, ruleset).masks.length > 0)
  expect(alone.length).toBeGreaterThan(380)
  fc.assert(
    fc.property(words, fc.constantFrom(" ", "\n", ", ", '"'), (chosen, between) => {
      const parts = chosen.map((i) => values[i] ?? "a plain word")
      const { text } = redactText(parts.join(between), ruleset)
      const bytes = Buffer.from(redactBytes(Buffer.from(parts.join(between)), ruleset).bytes).toString()
      for (const value of alone.filter((one) => parts.includes(one))) {
        expect(text).not.toContain(value)
        expect(bytes).not.toContain(value)
      }
    }),
    { numRuns: 200 },
  )
})

test("[X-12] those found last are kept when there are too many, and those given at the start always", () => {
  const known = new KnownValues({ most: 100 })
  const ruleset = createRuleset({ key: KEY, known })
  known.learn(secret)
  known.pin()
  const values = Array.from({ length: 500 }, (_, i) => `${drawn(8, ALPHANUMERIC, i + 900)}-${i}-x9`)
  for (const value of values) known.learn(value)
  expect(known.size).toBeLessThanOrEqual(100)
  expect(redactText(`a ${values.at(-1)} b`, ruleset).masks).toHaveLength(1)
  expect(redactText(`a ${secret} b`, ruleset).masks).toHaveLength(1)
})

test("[X-12] [X-14] values made to look alike do not make the search slow: of those that share every part some are not kept", () => {
  const known = new KnownValues()
  for (let i = 0; i < 4000; i++) known.learn(`same-beginning-${String(i).padStart(4, "0")}a-same-middle-1-and-same-end`)
  const ruleset = createRuleset({ key: KEY, known })
  const hostile = "same-beginning-same-middle-1-and-same-end".repeat(2000)
  expect(redactText(hostile, ruleset).masks).toEqual([])
})

test("[X-12] [X-14] nor does a value that says the same over and over: it is not kept", () => {
  const known = new KnownValues()
  const turn = `${drawn(20)}.`
  known.learn(turn.repeat(90))
  expect(known.findIn(turn.repeat(200))).toEqual([])
  known.learn(drawn(900))
  expect(known.findIn(`see ${drawn(900)}`)).toHaveLength(1)
})

test("[X-12] a mask is not learned, and masking twice changes nothing", () => {
  const ruleset = knowing()
  const once = redactText(`api_key="${secret}" and ${secret}`, ruleset).text
  expect(redactText(once, ruleset)).toEqual({ text: once, masks: [] })
})
