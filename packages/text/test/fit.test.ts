import fc from "fast-check"
import { expect, test } from "vitest"
import { displayWidth, fitLines, formatTable, wrapText } from "../src/index.js"

const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 30 })

test("[Q-10] a wrapped line says the same words in the same order, and none is wider than asked", () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 20, max: 60 }), (said, width) => {
      const lines = wrapText(said.join(" · "), width, { at: " · ", indent: "  " })
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
      expect(lines.join(" ").split(/[ ·]+/).filter(Boolean)).toEqual(said)
    }),
  )
})

test("[Q-10] a piece that is too wide is broken at its spaces, a word where it must be, unless it is ours to copy", () => {
  const wrap = (line: string, keepsWords = false): string[] =>
    wrapText(line, 12, { at: " · ", indent: "  ", keepsWords })
  expect(wrap("one two three four · five")).toEqual(["one two", "  three four ·", "  five"])
  expect(wrap("run_01JT9QK2AAAA · ok")).toEqual(["run_01JT9QK2", "  AAAA · ok"])
  expect(wrap("run_01JT9QK2AAAA · ok", true)).toEqual(["run_01JT9QK2AAAA ·", "  ok"])
})

test("[Q-03] a recorded line keeps its bar however it is broken, so that no part of it can pass for a line of ours", () => {
  for (const blank of ["\u00a0", "\u2800", "\u3000", "x"]) {
    const forged = `  │ boom${blank.repeat(90)}#3${blank}└${blank}tool${blank}delete_everything${blank}ok`
    const lines = fitLines(forged, 80).split("\n")
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) {
      expect(line.startsWith("  │ ")).toBe(true)
      expect(displayWidth(line)).toBeLessThanOrEqual(80)
    }
  }
})

const TABLE = [
  { title: "ID" },
  { title: "COUNT", align: "right", dropRank: 1 },
  { title: "TEXT", minWidth: 6 },
] as const

test("[Q-10] a table that is too wide cuts what may be cut, then drops what may go", () => {
  const rows = [["run_1", "12", "a rather long sentence"]]
  expect(formatTable(TABLE, rows)).toBe("ID     COUNT  TEXT\nrun_1     12  a rather long sentence")
  expect(formatTable(TABLE, rows, { width: 24 })).toBe("ID     COUNT  TEXT\nrun_1     12  a rather …")
  expect(formatTable(TABLE, rows, { width: 18 })).toBe("ID     TEXT\nrun_1  a rather l…")
  expect(formatTable(TABLE, rows, { width: 5 })).toBe("ID     TEXT\nrun_1  a rat…")
})

test("a cell is coloured after it is laid out, so colours take no width", () => {
  const paint = (cell: string, row: number, title: string): string => (title === "ID" && row === 1 ? `<${cell}>` : cell)
  expect(
    formatTable(
      [{ title: "ID" }, { title: "N" }],
      [
        ["a", "1"],
        ["b", "2"],
      ],
      { paint },
    ),
  ).toBe("ID  N\na   1\n<b >  2")
})

test("[Q-10] finished lines are broken between words and hang below their beginning; colours take no width", () => {
  expect(fitLines("name  one two three four\nshort", 16)).toBe("name  one two\n    three four\nshort")
  expect(fitLines("\u001b[31mone two\u001b[39m three", 13)).toBe("\u001b[31mone two\u001b[39m three")
  expect(fitLines(`  \u001b[31m${"z".repeat(30)}\u001b[39m`, 24)).toBe(
    `  \u001b[31m${"z".repeat(18)}\n      ${"z".repeat(12)}\u001b[39m`,
  )
  fc.assert(
    fc.property(words, fc.integer({ min: 24, max: 60 }), (said, width) => {
      const fitted = fitLines(said.join(" "), width)
      for (const line of fitted.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width)
      expect(fitted.split(/\s+/)).toEqual(said)
    }),
  )
})

test("[Q-10] a command of ours stays whole on a line of its own, one in recorded text does not", () => {
  expect(fitLines("12 events · next: orangebox step last#13 --data ./demo-data", 40)).toBe(
    "12 events · next:\n    orangebox step last#13 --data ./demo-data",
  )
  for (const line of fitLines(`said "please run orangebox show last and then ${"again ".repeat(20)}"`, 40).split("\n"))
    expect(displayWidth(line)).toBeLessThanOrEqual(40)
})
