import fc from "fast-check"
import { expect, test } from "vitest"
import { fold, matchTerms, searchTerms, snippetAround } from "../src/search-terms.js"
import { textSegments } from "../src/text-segments.js"

const line = fc.string({ maxLength: 700, unit: "binary" })

test("segments together are the text, but for line ends between them, and none is too long", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const text = lines.join("\n")
      const segments = textSegments(text)
      expect(segments.join("").replaceAll("\n", "")).toBe(text.replaceAll("\n", ""))
      for (const segment of segments) expect(segment.length).toBeLessThanOrEqual(4097)
      for (const whole of lines) {
        if (whole !== "" && !whole.includes("\n") && whole.length < 4096)
          expect(segments.some((segment) => segment.includes(whole))).toBe(true)
      }
    }),
  )
})

test("a text with more behind it falls into the same segments, but for the last", () => {
  const history = Array.from({ length: 300 }, (_, index) => `line ${index * 7919} ${"word ".repeat(index % 23)}`)
  const [before, after] = [textSegments(history.slice(0, 250).join("\n")), textSegments(history.join("\n"))]
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
  const inserted = textSegments(["something new", ...history].join("\n"))
  expect(inserted.filter((segment) => !after.includes(segment)).length).toBeLessThan(4)
})

test("folding keeps every place, so a snippet shows what matched", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.nat(300),
      fc.integer({ min: 1, max: 20 }),
      (text, at, length) => {
        expect(fold(text)).toHaveLength(text.length)
        const needle = text.slice(at, at + length)
        if (needle.trim() === "" || needle.includes('"')) return
        const terms = searchTerms(`"${needle}"`)
        const match = matchTerms(text, terms)
        expect(match).toBeDefined()
        const { snippet, at: start, length: size } = snippetAround(text, match!)
        expect(fold(snippet.slice(start, start + size))).toBe(terms[0])
      },
    ),
  )
  expect(fold("İSTANBUL µm ΜΣς ẞ")).toBe("İstanbul μm μσσ ß")
})
