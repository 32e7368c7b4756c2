import fc from "fast-check"
import { expect, test } from "vitest"
import {
  cutToWidth,
  displayWidth,
  fenced,
  padToWidth,
  recordedText,
  recordedWord,
  safeHtml,
  safeJson,
  safeLine,
  safeMarkdown,
  safeText,
} from "../src/index.js"
import { HOSTILE_TEXTS, hostileText, ONLY_SAFE } from "./hostile-text.js"

const anyText = fc.oneof(hostileText, fc.string({ unit: "grapheme" }), fc.string({ unit: "binary", maxLength: 200 }))
const MANY = { numRuns: 8000 }

test("[Q-03] for any text, what is printed holds only safe characters", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(safeText(text).replaceAll("\t", "")).toMatch(ONLY_SAFE)
      expect(safeLine(text)).toMatch(ONLY_SAFE)
      expect(safeLine(text)).not.toContain("\n")
    }),
    MANY,
  )
})

test("[Q-03] a page and Markdown hold only safe characters too, and nothing that is markup", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const tabless = (safe: string): string => safe.replaceAll("\t", "")
      expect(tabless(safeHtml(text))).toMatch(ONLY_SAFE)
      expect(safeHtml(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/)
      expect(safeMarkdown(text)).toMatch(ONLY_SAFE)
      expect(safeMarkdown(text)).not.toMatch(/[\n<>@:]|(?<!\\)[`*_[\]|]|&(?!(?:amp|lt|gt|#64|#58|#46);)/)
      const [fence, ...lines] = fenced(text).split("\n")
      expect(tabless(lines.join("\n"))).toMatch(ONLY_SAFE)
      expect(lines.slice(0, -1).some((line) => line.trim().startsWith(fence!.replace("text", "")))).toBe(false)
    }),
    { numRuns: 2000 },
  )
  expect(safeMarkdown("[x](http://a.b) <b> www.c.d")).toBe("\\[x\\]\\(http&#58;//a.b\\) &lt;b&gt; www&#46;c.d")
})

test("[Q-03] what is safe stays as it is", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(safeText(safeText(text))).toBe(safeText(text))
      expect(safeLine(safeLine(text))).toBe(safeLine(text))
      expect(safeLine(safeText(text))).toBe(safeLine(text))
    }),
    { numRuns: 2000 },
  )
})

test("[Q-03] every single code point is either printed as it is or shown", () => {
  for (
    let code = 0;
    code <= 0x10ffff;
    code += code < 0x3000 || (code >= 0xd700 && code < 0xe100) || code >= 0xe0000 ? 1 : 97
  ) {
    const line = safeLine(`a${String.fromCodePoint(code)}`)
    if (!ONLY_SAFE.test(line) || line.length < 2)
      expect.fail(`U+${code.toString(16)} came out as ${JSON.stringify(line)}`)
  }
})

test("[Q-03] escape codes, bidi and invisible characters are shown, not removed", () => {
  expect(safeText("\x1b]0;x\x07")).toBe("␛]0;x␇")
  expect(safeText("a\tb\nc\r\x08\x7f")).toBe("a\tb\nc␍␈␡")
  expect(safeLine("a\tb\nc")).toBe("a␉b␊c")
  expect(safeText("\u202e\u200b\x9b\ud800\u{e0041}")).toBe("\\u{202e}\\u{200b}\\u{9b}\\u{d800}\\u{e0041}")
})

test("[Q-03] ordinary text of any script stays as it is", () => {
  for (const text of ["naïve café", "日本語", "नमस्ते", "שלום", "⚠️ ❤️ 👋🏽 1️⃣ 👩‍👩‍👧 🏳️‍🌈 👩🏽‍💻 🇩🇪", "a\u0301", "→ — …"]) {
    expect(safeText(text)).toBe(text)
  }
})

test("[Q-03] selectors that carry hidden bytes and towers of marks are shown", () => {
  expect(safeLine("x\ufe00\ufe01")).toBe("x\\u{fe00}\\u{fe01}")
  expect(safeLine("☺\ufe0f\ufe0f")).toBe("☺\ufe0f\\u{fe0f}")
  expect(safeLine("日\ufe0f 1\ufe0f a\u200db ☺\u200d")).toBe("日\\u{fe0f} 1\\u{fe0f} a\\u{200d}b ☺\\u{200d}")
  expect(safeLine("☺\u200d☺\u200d☺\u200d☺\u200d☺")).toBe("☺\u200d☺\u200d☺\u200d☺\\u{200d}☺")
  expect(safeLine(`Z${"\u0301".repeat(9)}`)).toBe(`Z${"\u0301".repeat(4)}${"\\u{301}".repeat(5)}`)
})

test("[Q-03] printed JSON is safe and still says exactly what was recorded", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const json = safeJson({ [text]: [text] }, 2)
      expect(json).toMatch(ONLY_SAFE)
      expect(JSON.parse(json)).toEqual({ [text]: [text] })
    }),
    { numRuns: 5000 },
  )
})

test("[Q-03] what is left out of a quote is told, also behind a screen of white space, and no character is halved", () => {
  expect(recordedText(`x${" ".repeat(1000)}rm -rf`, 60)).toBe('"x …"')
  expect(recordedText(`x${" ".repeat(246)}😀`, 60)).toBe('"x …"')
  expect(recordedText(`x${" ".repeat(1000)}`, 60)).toBe('"x"')
})

test("[Q-03] quoted text cannot close its quotes", () => {
  fc.assert(
    fc.property(anyText, fc.option(fc.integer({ min: 4, max: 40 }), { nil: undefined }), (text, width) => {
      const quoted = recordedText(text, width)
      expect(quoted).toMatch(/^"(?:[^"\\]|\\.)*"$/s)
      if (width !== undefined) expect(displayWidth(quoted)).toBeLessThanOrEqual(width)
    }),
    MANY,
  )
  expect(recordedWord("src/date.ts")).toBe("src/date.ts")
  expect(recordedWord("npm test")).toBe('"npm test"')
  expect(recordedWord('C:\\x "y"')).toBe('"C:\\\\x \\"y\\""')
})

test("text is cut and padded by the columns it takes", () => {
  expect(displayWidth("日本 a👋é")).toBe(9)
  expect(
    ["⚠️", "⚠", "😀", "👋🏽", "1️⃣", "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "a\u0301", "한", "\u1112\u1161\u11ab", "✓ ↻ │ …"].map(
      displayWidth,
    ),
  ).toEqual([2, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 7])
  expect(cutToWidth("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…")
  expect(cutToWidth("日本語", 5)).toBe("日本…")
  expect(cutToWidth("日本語", 6)).toBe("日本語")
  expect(cutToWidth("abcdef", 4)).toBe("abc…")
  expect(padToWidth("日本", 6)).toBe("日本  ")
  expect(padToWidth("1.5s", 6, "left")).toBe("  1.5s")
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, width) => {
      const safe = safeLine(text)
      const cut = cutToWidth(safe, width)
      expect(displayWidth(cut)).toBeLessThanOrEqual(width)
      expect(cut).toMatch(ONLY_SAFE)
      if (displayWidth(safe) <= width) expect(cut).toBe(safe)
      else expect(cut).toMatch(/…"?$/)
    }),
    MANY,
  )
})

test("the hostile samples are hostile", () => {
  expect(HOSTILE_TEXTS.filter((text) => !ONLY_SAFE.test(text)).length).toBeGreaterThan(7)
})
