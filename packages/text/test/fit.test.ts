import fc from "fast-check"
import { expect, test } from "vitest"
import { cutToWidth, displayWidth, fitLines, formatTable, recordedText, shortLine, wrapText } from "../src/index.js"

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

test("[Q-10] a piece that is too wide is broken at its spaces, a word where it must be, unless it is an id of ours to copy", () => {
  const wrap = (line: string): string[] => wrapText(line, 12, { at: " · ", indent: "  " })
  expect(wrap("one two three four · five")).toEqual(["one two", "  three", "  four ·", "  five"])
  expect(wrap("run_01JT9QK2AAAA · ok")).toEqual(["run_01JT9Q", "  K2AAAA ·", "  ok"])
  const id = "run_01M7PBZBVJAQXCHGNN659TKZY1"
  expect(wrap(`of ${id} · ok`)).toEqual(["of", `  ${id} ·`, "  ok"])
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
  expect(formatTable(TABLE, rows, { width: 18 })).toBe("ID     TEXT\nrun_1  a rather …")
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

test("[Q-10] a recorded line that is broken keeps its indentation", () => {
  expect(fitLines("  │     at Test.run (node:internal/test_runner)", 30)).toBe(
    "  │     at Test.run\n  │     (node:internal/test_ru\n  │     nner)",
  )
})

test("[Q-10] a command of ours goes on behind a backslash, so that it can be pasted; one in recorded text does not", () => {
  expect(fitLines("12 events · next: orangebox step last#13 --data ./demo-data", 40)).toBe(
    "12 events · next:\n    orangebox step last#13 --data \\\n      ./demo-data",
  )
  expect(fitLines("\u001b[90mnext: orangebox sql 'SELECT 1  AS one' --json\u001b[39m", 30)).toBe(
    "\u001b[90mnext:\n    orangebox sql \\\n      'SELECT 1  AS one' \\\n      --json\u001b[39m",
  )
  expect(fitLines("what orangebox run said of it is not a command here", 40)).toBe(
    "what orangebox run said of it is not a\n    command here",
  )
  for (const line of fitLines(`said "please run orangebox show last and then ${"again ".repeat(20)}"`, 40).split("\n"))
    expect(displayWidth(line)).toBeLessThanOrEqual(40)
})

test("[Q-10] text is cut between two words, and inside of one only where that is wider than the room there is", () => {
  expect(cutToWidth("the weather is fine", 12)).toBe("the …")
  expect(cutToWidth("the weather is fine", 13)).toBe("the weather …")
  expect(cutToWidth("ok 18 B · delivered", 16)).toBe("ok 18 B …")
  expect(cutToWidth("a straightforwardly long word", 12)).toBe("a straightf…")
  expect(cutToWidth("straightforwardly", 6)).toBe("strai…")
  expect(cutToWidth('said "the weather is fine"', 20)).toBe('said "the weather …"')
  expect(cutToWidth('said "the \\" weather is fine"', 20)).toBe('said "the \\" …"')
  expect(recordedText("the weather is fine", 16)).toBe('"the weather …"')
  expect(shortLine("the   weather\nis fine", 14)).toBe("the weather …")
  for (const width of [0, 1, 2]) expect(displayWidth(cutToWidth('"two words"', width))).toBeLessThanOrEqual(width)
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 60 }), (said, width) => {
      const text = said.join(" ")
      const cut = cutToWidth(text, width)
      expect(displayWidth(cut)).toBeLessThanOrEqual(width)
      if (cut === text) return
      const shown = cut.split(" ")
      const last = shown.pop()!
      expect(said.slice(0, shown.length)).toEqual(shown)
      // Cut inside a word, or between words with as many of them as there is room for.
      if (last !== "…") expect(said[shown.length]!.length).toBeGreaterThan(width - 2)
      else expect([...shown, said[shown.length], "…"].join(" ").length).toBeGreaterThan(width)
    }),
  )
})

test("[Q-08] a cut leaves no half of an escape and no quotation mark that closes nothing", () => {
  for (let width = 6; width < 40; width++) {
    const json = recordedText('{"ok":true,"more":"text that goes on"}', width)
    expect(json.replace(/\\./g, ""), json).toMatch(/^"[^"\\]*"$/)
    const label = cutToWidth('tool "שלום עולם" "{\\"a\\":\\"b c\\"}"', width)
    const quotes = label.match(/\\.|"/gs)?.filter((found) => found === '"').length ?? 0
    expect(quotes % 2, label).toBe(0)
  }
})

test("[Q-10] the address of our own proxy is not broken, and can be copied", () => {
  const address = "ANTHROPIC_BASE_URL=http://127.0.0.1:40255/abcdefghijklmnopqrstuvwxyz0123456789/anthropic/v1"
  expect(fitLines(`  ${address}`, 60).split("\n")).toContain(`  ${address}`)
})
