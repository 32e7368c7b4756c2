import fc from "fast-check"
import { expect, test } from "vitest"
import { createRuleset, redactBytes, redactNamedText, redactText, redactValue, SeenText } from "../src/index.js"
import { drawn, FAKES, fakePem, KEY, ruleset } from "./fake-secrets.js"

const token = FAKES["github-token"]!
const request = (messages: readonly string[]) =>
  Buffer.from(JSON.stringify({ model: "m", messages: messages.map((content) => ({ role: "user", content })) }))

test("a body without secrets comes back as the very same bytes", () => {
  const body = request(["hello", "world"])
  expect(redactBytes(body, ruleset)).toEqual({ bytes: body, masks: [] })
  expect(redactBytes(body, ruleset).bytes).toBe(body)
})

test("masks in a body are counted in bytes", () => {
  const { bytes, masks } = redactBytes(request([`ключ ${token} 😀 ${token}`]), ruleset)
  expect(masks).toHaveLength(2)
  for (const { offset, length } of masks) {
    expect(
      Buffer.from(bytes)
        .subarray(offset, offset + length)
        .toString(),
    ).toBe(`ghp…redacted…${token.slice(-3)}`)
  }
})

test("bytes that are no text are left alone, and said to be", () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80])
  expect(redactBytes(bytes, ruleset)).toEqual({ bytes, masks: [], isUndecodable: true })
})

test("with a memory and without it, every body comes out the same", () => {
  const message = fc.oneof(fc.string(), fc.constantFrom(token, fakePem(2), drawn(3000), `password: "${drawn(14)}"`))
  fc.assert(
    fc.property(
      fc.array(fc.array(message, { maxLength: 6 }), { maxLength: 6 }),
      fc.constantFrom(1, 2000, 1_000_000),
      (bodies, maxBytes) => {
        const seen = new SeenText({ maxBytes })
        for (const messages of bodies) {
          for (const body of [request(messages), request([...messages, "and one more"])]) {
            expect(redactBytes(body, ruleset, seen)).toEqual(redactBytes(body, ruleset))
          }
        }
      },
    ),
  )
})

test("what was searched before is not searched again", () => {
  let searched = 0
  const rules = createRuleset({
    key: KEY,
    patterns: [{ id: "user-count", about: "Counts", pattern: /marker/g, longest: 6, accepts: () => ++searched < 0 }],
  })
  const seen = new SeenText()
  const history = Array.from({ length: 20 }, (_, i) => `marker ${drawn(2500, undefined, i + 1)}`)
  redactBytes(request(history), rules, seen)
  expect(searched).toBe(20)
  redactBytes(request([...history, "marker: the newest message"]), rules, seen)
  expect(searched).toBeLessThan(20 + 4)
})

test("a body its owner writes over is searched again, also where it stood before", () => {
  const seen = new SeenText()
  const body = request(["a word ".repeat(500), "and a word ".repeat(100)])
  expect(redactBytes(body, ruleset, seen).masks).toEqual([])
  body.write(` ${token} `, body.length - 500)
  expect(redactBytes(body, ruleset, seen).masks).toEqual(redactBytes(body, ruleset).masks)
  expect(redactBytes(body, ruleset, seen).masks).toHaveLength(1)
})

test("a memory forgets what was not used, and stays within its bounds", () => {
  let searched = 0
  const rules = createRuleset({
    key: KEY,
    patterns: [{ id: "user-count", about: "Counts", pattern: /marker/g, longest: 6, accepts: () => ++searched < 0 }],
  })
  const seen = new SeenText({ maxBytes: 3200 })
  for (let i = 0; i < 40; i++) redactBytes(Buffer.from(`marker ${drawn(400, undefined, i + 1)}`), rules, seen)
  redactBytes(Buffer.from(`marker ${drawn(400, undefined, 1)}`), rules, seen)
  expect(searched).toBe(41)
})

test("[X-04] secrets are found in nested values by form and by key, and the shape of the value stays", () => {
  const value = {
    user: { name: "Ada", password: "open-sesame", tokens: [token, "plain"] },
    count: 3,
    nothing: null,
    nested: JSON.stringify({ api_key: drawn(32) }),
  }
  const redacted = redactValue(value, ruleset)
  expect(redacted.value).toMatchObject({
    user: { name: "Ada", password: "op…redacted…me", tokens: [`ghp…redacted…${token.slice(-3)}`, "plain"] },
    count: 3,
    nothing: null,
  })
  expect(redacted.masks.map(({ path }) => path)).toEqual(["user.password", "user.tokens.0", "nested"])
})

test("[X-04] what an object under a telling name calls its value or its key is that secret", () => {
  const secret = "Zx9!kq2wPlm"
  for (const value of [{ credentials: { key: secret } }, { secret: { value: secret } }, { secret: [secret] }]) {
    expect(JSON.stringify(redactValue(value, ruleset).value)).not.toContain(secret)
  }
  expect(redactNamedText("credentials.key", secret, ruleset).text).toBe("Zx…redacted…lm")
  const harmless = { credentials: { region: "eu-west-1", key: "user_name" }, secretKeyRef: { key: "app-config-1" } }
  expect(redactValue(harmless, ruleset).value).toEqual(harmless)
})

test("[X-05] a private key that was cut inside JSON takes no key of the JSON with it", () => {
  const cut = fakePem().slice(0, 200)
  const inner = { a: cut, [drawn(32)]: drawn(64), next: "hello" }
  for (const value of [inner, { arguments: JSON.stringify(inner) }]) {
    const redacted = JSON.parse(redactText(JSON.stringify(value), ruleset).text)
    const found = "arguments" in redacted ? JSON.parse(redacted.arguments) : redacted
    expect(Object.keys(found)).toEqual(Object.keys(inner))
    expect(JSON.stringify(found)).not.toContain(cut.slice(60, 100))
  }
})

test("a key called __proto__ stays a key", () => {
  const { value } = redactValue(JSON.parse(`{"__proto__":{"x":"${token}"}}`), ruleset)
  expect(Object.keys(value as object)).toEqual(["__proto__"])
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined()
})

test("[X-06] [X-07] a rule that throws costs that value alone, and the raw value never comes out", () => {
  const rules = createRuleset({
    key: KEY,
    patterns: [
      {
        id: "user-broken",
        about: "Breaks",
        pattern: /canary/g,
        longest: 6,
        accepts: () => {
          throw new TypeError("canary")
        },
      },
    ],
  })
  expect(redactText("a canary sings", rules)).toEqual({ text: "…redacted…", masks: [], failed: "TypeError" })
  expect(redactBytes(Buffer.from("a canary sings"), rules).failed).toBe("TypeError")
  const redacted = redactValue(
    {
      bad: "a canary sings",
      good: "fine",
      worse: {
        get x(): never {
          throw new Error("canary")
        },
      },
    },
    rules,
  )
  expect(redacted).toEqual({
    value: { bad: "…redacted…", good: "fine", worse: "…redacted…" },
    masks: [],
    failed: ["bad", "worse"],
  })
})

test("a value that holds itself is cut off, not followed for ever", () => {
  const loop: Record<string, unknown> = { name: "x" }
  loop["self"] = loop
  expect(redactValue(loop, ruleset).failed).toHaveLength(1)
})
