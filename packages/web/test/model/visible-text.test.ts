import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { endsOf, visibleLine, visibleText } from "../../src/model/visible-text.js"

describe("recorded text on screen", () => {
  test("[O-05] escape codes and bidi characters are marks, told apart from what was written", () => {
    expect(visibleText("a\u202eb\x1b[31m")).toEqual([
      { text: "a", isMark: false },
      { text: "\\u{202e}", isMark: true },
      { text: "b", isMark: false },
      { text: "␛", isMark: true },
      { text: "[31m", isMark: false },
    ])
  })

  test("[O-05] a line break cannot begin a row of its own", () => {
    expect(visibleLine("a\nb").map(({ text }) => text)).toEqual(["a", "␊", "b"])
  })

  test("[O-05] the ends and what is between them are the whole, and no character is torn", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\n", "👩", "𝄞", "é"), minLength: 60, maxLength: 200 }),
        (text) => {
          const ends = endsOf(text, 50)
          if (!ends) return
          expect(ends.head.length + ends.left + ends.tail.length).toBe(text.length)
          for (const end of [ends.head, ends.tail]) expect(end.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
