import { execFileSync } from "node:child_process"
import { canonicalHash, canonicalJson, canonicalJsonText, type JsonNode, readJson } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonicalNumber } from "../src/json/number.js"

/** Any JSON value, with lone surrogates and awkward keys among its strings. */
const unit = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom("\ud800", "\udc00x", "__proto__", "\u2028", "é", "e\u0301"),
)
const { json: anyJson } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -0),
    unit,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.array(tie("json"), { maxLength: 5 }),
    fc.dictionary(unit, tie("json"), { maxKeys: 5, noNullPrototype: true }),
  ),
}))

/** The same value, each object built in another key order. */
function rebuilt(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rebuilt)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, rebuilt(member)]),
  )
}

/** The same value as text in another hand: spaces, every character escaped, numbers spelled otherwise. */
function respelled(value: unknown): string {
  if (typeof value === "number")
    return value === 0
      ? "-0.0e+5"
      : `${value
          .toExponential()
          .replace("e", "0E")
          .replace(/^(-?\d)0E/, "$1.0E")}`
  if (typeof value === "string") {
    return `"${Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`
  }
  if (Array.isArray(value)) return ` [ ${value.map(respelled).join(" ,\n")} ] `
  if (typeof value !== "object" || value === null) return `\t${String(value)}\r\n`
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${respelled(key)} : ${respelled(member)}`)
    .join(" , ")} }`
}

/** What JSON.parse makes of the text, from our tree. Duplicate keys: the last one wins, as there. */
function parsedBy(node: JsonNode): unknown {
  switch (node.kind) {
    case "object": {
      const entries = node.members.map(({ key, value }) => [key, parsedBy(value)] as const)
      return Object.fromEntries(entries)
    }
    case "array":
      return node.items.map(parsedBy)
    case "number":
      return Number(node.lexeme)
    default:
      return node.value
  }
}

function everyNode(node: JsonNode, visit: (node: JsonNode) => void): void {
  visit(node)
  if (node.kind === "array") for (const item of node.items) everyNode(item, visit)
  if (node.kind === "object") for (const { value } of node.members) everyNode(value, visit)
}

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("[C-07] canonical JSON", () => {
  test("[C-07] equal values agree, however they were built or spelled", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const canonical = canonicalJson(value)
        expect(canonicalJson(rebuilt(value))).toBe(canonical)
        expect(canonicalJsonText(JSON.stringify(value))).toBe(canonical)
        expect(canonicalJsonText(JSON.stringify(value, null, 3))).toBe(canonical)
        expect(canonicalJsonText(respelled(value))).toBe(canonical)
      }),
      { numRuns: 500 },
    )
  })

  test("[C-07] the canonical form of a canonical form is itself, and it is the same value", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const canonical = canonicalJson(value)
        expect(canonicalJsonText(canonical)).toBe(canonical)
        expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: 500 },
    )
  })

  test("[C-07] different values differ", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (one, other) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(
          canonicalJsonText(JSON.stringify(one)) === canonicalJsonText(JSON.stringify(other)),
        )
        // Through JSON text, because -0 and 0 are one number there.
        if (canonicalJson(one) === canonicalJson(other)) {
          expect(JSON.parse(JSON.stringify(rebuilt(rebuilt(one))))).toEqual(JSON.parse(JSON.stringify(other)))
        }
      }),
    )
  })

  test.each([
    ["12345678901234567890", "12345678901234567890"],
    ["-12345678901234567891", "-12345678901234567891"],
    ["1e21", "1000000000000000000000"],
    ["1E+2", "100"],
    ["1.50", "1.5"],
    ["100e-2", "1"],
    ["-0", "0"],
    ["-0.000e9", "0"],
    ["0.000001", "0.000001"],
    ["0.0000001", "1e-7"],
    ["1234567890123456789012.5", "1.2345678901234567890125e21"],
    ["1e999999999999999999999999", "1e999999999999999999999999"],
    ["10e999999999999999999999999", "1e1000000000000000000000000"],
    ["1e-999999999999999999999999", "1e-999999999999999999999999"],
  ])("[C-07] the number %s is spelled %s", (lexeme, canonical) => {
    expect(canonicalNumber(lexeme)).toBe(canonical)
    expect(canonicalNumber(canonical)).toBe(canonical)
  })

  test("[C-07] integers keep every digit, and agree with their exponent form at any length", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ max: 10n ** 60n, min: -(10n ** 60n) }),
        fc.integer({ min: 0, max: 900 }),
        (digits, zeros) => {
          const written = digits === 0n ? "0" : `${digits}${"0".repeat(zeros)}`
          if (zeros === 0) expect(canonicalNumber(written)).toBe(written)
          expect(canonicalNumber(written)).toBe(canonicalNumber(`${digits}e${zeros}`))
        },
      ),
    )
    expect(canonicalJson({ id: 12345678901234567890n })).toBe('{"id":12345678901234567890}')
    expect(canonicalJsonText('{"id": 12345678901234567890}')).toBe('{"id":12345678901234567890}')
  })

  test("[C-07] a number of a million digits is spelled in linear time", () => {
    const million = `1${"0".repeat(1_000_000)}1.${"0".repeat(1_000_000)}`
    expect(canonicalNumber(million).length).toBe(1_000_002)
  })

  test("[C-07] duplicate keys are kept in their order: dropping one would make different requests equal", () => {
    expect(canonicalJsonText('{"b":1,"a":2,"b":0}')).toBe('{"a":2,"b":1,"b":0}')
  })

  test("[C-07] lone surrogates survive, and differ from each other", () => {
    expect(canonicalJson("\ud800")).toBe('"\\ud800"')
    expect(canonicalJsonText('"\\uD800"')).toBe('"\\ud800"')
    expect(canonicalHash("\ud800")).not.toBe(canonicalHash("\ud801"))
  })

  test("[C-07] keys are sorted by UTF-16 code unit", () => {
    expect(canonicalJson({ "\ufb33": 1, "\u{1f600}": 2, z: 3, A: 4 })).toBe('{"A":4,"z":3,"\u{1f600}":2,"\ufb33":1}')
  })

  test("[C-07] cycles are refused, the same value twice is not", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = [cycle]
    expect(() => canonicalJson(cycle)).toThrow(expect.objectContaining({ code: "CANONICAL_CYCLE" }))
    const shared = { a: 1 }
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]')
  })

  test("[C-07] what JSON leaves out is left out, what it has no form for is refused", () => {
    const odd = {
      a: undefined,
      b: () => 1,
      c: Symbol("c"),
      d: [undefined, () => 1],
      e: new Date(0),
      f: new Number(1),
      g: new String("s"),
    }
    expect(canonicalJson(odd)).toBe(JSON.stringify(odd))
    for (const none of [undefined, Number.NaN, Number.POSITIVE_INFINITY, () => 1, Symbol("s")]) {
      expect(() => canonicalJson(none)).toThrow(expect.objectContaining({ code: "CANONICAL_NOT_JSON" }))
    }
    expect(() => canonicalJsonText("{")).toThrow(expect.objectContaining({ code: "JSON_SYNTAX" }))
  })

  test("[C-07] toJSON is asked once", () => {
    const endless = { toJSON: () => ({ toJSON: endless.toJSON, a: 1 }) } as { toJSON: () => object }
    expect(canonicalJson(endless)).toBe('{"a":1}')
  })

  test("[C-07] a million levels deep is hashed like anything else", () => {
    const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000)
    expect(canonicalJsonText(deep)).toBe(deep)
    const objects = `${'{"a":'.repeat(100_000)}0${"}".repeat(100_000)}`
    expect(canonicalJsonText(objects)).toBe(objects)
    let value: unknown = 0
    for (let i = 0; i < 100_000; i++) value = [value]
    expect(canonicalJson(value).length).toBe(200_001)
  })

  test("[C-07] hashes are pinned, and the same in another process", () => {
    const texts = ["null", '{"b":[1,2.5,"x"],"a":null}', "1e21", '"\\ud800"']
    const here = texts.map((text) => canonicalHash(JSON.parse(text) as unknown))
    const script = `import { canonicalHash } from "@orangebox/contract"
      console.log(JSON.stringify(${JSON.stringify(texts)}.map((text) => canonicalHash(JSON.parse(text)))))`
    const there = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
    })
    expect(JSON.parse(there)).toEqual(here)
    expect(here).toEqual([
      "sha256:74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
      "sha256:cacedc786abc936ff5388c20aad7a580a43bd81efb4e8df98d138f3816b04bab",
      "sha256:b3c4d9d40b4c90b3995fea02caaf40503883e2b8b9aa1420063f090f42186f21",
      "sha256:8c0c59dd0d275aadcd462a5fe12eb352cbdfeaf961eae4f85a4660521df7d2f5",
    ])
  })
})

describe("[C-07] the JSON reader", () => {
  test("[C-07] agrees with JSON.parse on every JSON text", () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const reading = readJson(text)
        expect(reading.ok && parsedBy(reading.node)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test("[C-07] refuses exactly what JSON.parse refuses", () => {
    const token = fc.constantFrom(
      ..."{}[]:,\"\\/ \t\n\r\u00a0\ufeff\u0000\u001f\u007f-+.eE0123456789truefalsnuN'".split(""),
      "null",
      "\\u00e",
      "\\x",
      "01",
      "1.",
      ".5",
      "-",
      "1e",
    )
    const garbled = fc
      .tuple(
        anyJson,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.oneof(token, fc.constant(""))), {
          minLength: 1,
          maxLength: 3,
        }),
      )
      .map(([value, edits]) =>
        edits.reduce((text, [at, drop, insert]) => {
          const place = at % (text.length + 1)
          return text.slice(0, place) + insert + text.slice(place + drop)
        }, JSON.stringify(value)),
      )
    const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(""))
    fc.assert(
      fc.property(fc.oneof(garbled, soup), (text) => {
        const reading = readJson(text)
        expect(reading.ok).toBe(parses(text))
        if (reading.ok) expect(parsedBy(reading.node)).toEqual(JSON.parse(text))
        else expect(reading.at).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 5000 },
    )
  })

  test("[C-07] says of every value where it stands in the text", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = ` ${JSON.stringify(value, null, 1)}\n`
        const reading = readJson(text)
        if (!reading.ok) throw new Error(reading.reason)
        everyNode(reading.node, (node) => {
          expect(JSON.parse(text.slice(node.start, node.end))).toEqual(parsedBy(node))
          expect(text.slice(node.start, node.end).trim()).toBe(text.slice(node.start, node.end))
        })
      }),
    )
  })

  test("[C-07] keeps number lexemes and duplicate keys", () => {
    const reading = readJson('{"a":1.0,"a":12345678901234567890}')
    expect(reading.ok && reading.node).toMatchObject({
      members: [
        { key: "a", value: { lexeme: "1.0" } },
        { key: "a", value: { lexeme: "12345678901234567890" } },
      ],
    })
  })

  test.each([
    ["plain", "x".repeat(10_000_000)],
    ["escaped", "\n".repeat(5_000_000)],
    ["non-ASCII", "é\u{1f600}".repeat(3_000_000)],
  ])("[C-07] reads a %s string of ten megabytes", (_, value) => {
    const reading = readJson(JSON.stringify({ value }))
    expect(reading.ok && reading.node.kind === "object" && reading.node.members[0]!.value).toMatchObject({
      kind: "string",
    })
    expect(reading.ok && canonicalJsonText(JSON.stringify(value)) === JSON.stringify(value)).toBe(true)
  })

  test("[C-07] reads a number of ten million digits", () => {
    const digits = "7".repeat(10_000_000)
    const reading = readJson(`[${digits}]`)
    expect(reading.ok).toBe(true)
    expect(canonicalJsonText(digits) === digits).toBe(true)
  })
})
