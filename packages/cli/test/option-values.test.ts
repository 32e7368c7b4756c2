import { describe, expect, test } from "vitest"
import { painterFor } from "../src/colours.js"
import { shellWord } from "../src/next-command.js"
import { momentParser, parseDuration, parseSize } from "../src/option-values.js"
import { barText } from "../src/progress-bar.js"

describe("values of options", () => {
  test.each([
    ["90s", 90_000],
    ["1.5h", 5_400_000],
    ["30d", 2_592_000_000],
    ["2w", 1_209_600_000],
  ])("%s is a time", (text, ms) => expect(parseDuration(text)).toBe(ms))

  test.each([
    ["512", 512],
    ["500MB", 500_000_000],
    ["1GB", 1_000_000_000],
    ["2GiB", 2 ** 31],
    ["1.5 kb", 1500],
  ])("%s is a size", (text, bytes) => expect(parseSize(text)).toBe(bytes))

  test.each(["", "-1s", "5", "1y", "soon"])("%j is no time", (text) =>
    expect(() => parseDuration(text)).toThrow(/such as/),
  )
  test.each(["", "-1", "1XB", "many"])("%j is no size", (text) => expect(() => parseSize(text)).toThrow(/such as/))

  test("a moment is a date or how long ago", () => {
    const moment = momentParser(() => Date.UTC(2026, 0, 10))
    expect(moment("3d")).toBe(Date.UTC(2026, 0, 7))
    expect(moment("2026-01-05")).toBe(Date.UTC(2026, 0, 5))
    expect(() => moment("yesterday")).toThrow(/2026-01-31/)
  })
})

test("colour is only for terminals that want it", () => {
  expect(painterFor(true, {})?.("x", "bad")).toBe("\u001b[31mx\u001b[39m")
  expect(painterFor(false, {})).toBeUndefined()
  expect(painterFor(true, { NO_COLOR: "1" })).toBeUndefined()
  expect(painterFor(true, { TERM: "dumb" })).toBeUndefined()
})

test("a progress bar says how much of how much, and of what", () => {
  expect(barText(512, 1024, "bodies", 3000)).toBe(
    `bodies           ${"█".repeat(12)}${"░".repeat(12)} 50 %  512 of 1.0k  3.0s`,
  )
  expect(barText(3, undefined, "runs", 1200)).toBe("runs             3  1.2s")
  expect(barText(0, undefined, "verifying", 1200)).toBe("verifying        …  1.2s")
})

test("a folder with spaces and quotes is one word for the shell", () => {
  expect(shellWord("/tmp/plain-1")).toBe("/tmp/plain-1")
  expect(shellWord("/tmp/it's here")).toBe(`'/tmp/it'\\''s here'`)
})
