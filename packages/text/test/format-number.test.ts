import { expect, test } from "vitest"
import {
  estimateTokens,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatTable,
  plural,
} from "../src/index.js"

test.each([
  [undefined, "?"],
  [-1, "?"],
  [0, "<1ms"],
  [12_000, "12ms"],
  [99_499, "99ms"],
  [500_000, "0.5s"],
  [41_200_000, "41.2s"],
  [59_960_000, "1m 00s"],
  [192_000_000, "3m 12s"],
  [7_500_000_000, "2h 05m"],
])("a duration of %s µs is %s", (micros, text) => {
  expect(formatDuration(micros)).toBe(text)
})

test("counts, bytes and shares", () => {
  expect([212, 999, 1000, 5400, 52_100, 999_960, 1_200_000].map(formatCount)).toEqual([
    "212",
    "999",
    "1.0k",
    "5.4k",
    "52.1k",
    "1.0M",
    "1.2M",
  ])
  expect([null, undefined, Number.NaN].map(formatCount)).toEqual(["?", "?", "?"])
  expect([0, 512, 2048, 1_234_567].map(formatBytes)).toEqual(["0 B", "512 B", "2.0 kB", "1.2 MB"])
  expect(
    [
      [81, 100],
      [1, 1000],
      [999, 1000],
      [0, 5],
      [5, 5],
      [1, 0],
    ].map(([a, b]) => formatPercent(a!, b!)),
  ).toEqual(["81 %", "<1 %", ">99 %", "0 %", "100 %", "? %"])
  expect([plural(1, "step"), plural(7, "step"), plural(0, "query", "queries")]).toEqual([
    "1 step",
    "7 steps",
    "0 queries",
  ])
})

test("tables are aligned by display width and hold no raw control characters", () => {
  const table = formatTable(
    [{ title: "run" }, { title: "time", align: "right" }, { title: "what", maxWidth: 11 }],
    [
      ["run_1", "0.5s", "日本語日本語"],
      ["走る", "41.2s", "a\x1b[31m\nb"],
    ],
  )
  expect(table.split("\n")).toEqual(["run     time  what", "run_1   0.5s  日本語日本…", "走る   41.2s  a␛[31m␊b"])
})

test("the token estimate is additive and leans high", () => {
  expect(estimateTokens("")).toBe(0)
  expect(estimateTokens("word")).toBe(1)
  expect(estimateTokens("日本語")).toBe(3)
  const [a, b] = ["the quick brown fox ", "│ ├ tool read_file 0.5s"]
  expect(estimateTokens(a + b)).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b))
})
