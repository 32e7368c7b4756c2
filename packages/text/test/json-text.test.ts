import fc from "fast-check"
import { expect, test } from "vitest"
import { prettyJsonText } from "../src/index.js"
import { hostileText } from "./hostile-text.js"

test("[Q-02] pretty JSON changes white space and nothing else", () => {
  const text = '{"a":[1.0,1e400,"\\u00e9 \\" {x}"],"a":{},"b":[ ],"n":9007199254740993}'
  const pretty = prettyJsonText(text)
  expect(pretty.split("\n").slice(0, 4)).toEqual(["{", '  "a": [', "    1.0,", "    1e400,"])
  expect(pretty.replace(/\n */g, "").replaceAll(": ", ":")).toBe(text)

  const keys = fc.constantFrom("a", "b", '"', "\\", "{")
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      hostileText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(value, (any) => {
      const text = JSON.stringify(any)
      expect(JSON.parse(prettyJsonText(text))).toEqual(JSON.parse(text))
    }),
  )
})

test("[Q-02] a string of megabytes inside JSON is indented like any other", () => {
  const text = JSON.stringify({ image: "A".repeat(8_000_000), quoted: '"\\'.repeat(500_000) })
  expect(prettyJsonText(text).length).toBe(text.length + "\n  ".length * 2 + " ".length * 2 + "\n".length)
})
