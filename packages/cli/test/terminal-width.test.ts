import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { displayWidth } from "../../text/src/index.js"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

/** What the demo left, asked for in every way that lays out lines for a terminal. */
const VIEWS = [
  "show last~1",
  "show last",
  "show last~1 --all",
  "runs",
  "context last~1",
  "context last~1#4",
  "context last~1#8",
  "step last~1#4",
  "step last~1#12",
  "step last#7",
  "diff last~1 last",
  "diff last~1#4 last~1#8",
  "check last~1",
  "report last~1",
  "decisions last~1",
  "snapshot last --list",
  "cache last~1",
  "cache last~1#14",
  "diagnose last",
  "search February",
  "verify",
]

describe("the demo in a terminal of any width", () => {
  let scratch: Scratch
  let data: string
  let words: ReadonlySet<string>
  const read = (view: string, columns?: number) => orangeboxHere([...view.split(" "), "--data", data], columns)

  beforeAll(async () => {
    scratch = scratchFolder()
    data = `${scratch.path}/data`
    jsonOf(await orangebox(["demo", "--json", "--data", data], { cwd: scratch.path, env: { TMPDIR: scratch.path } }))
    const whole = await Promise.all([
      ...VIEWS.map((view) => read(view)),
      read("sql SELECT\u00a0payload\u00a0FROM\u00a0events --json"),
    ])
    words = new Set(whole.flatMap(({ stdout, stderr }) => (stdout + stderr).split(/\s+|(?<!\\)"/)))
  })
  afterAll(() => scratch.remove())

  test.each(VIEWS)("[Q-10] %s: no line is wider, and no word is cut that there is room for", async (view) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 60, max: 160 }), async (columns) => {
        const { stdout, stderr, exitCode } = await read(view, columns)
        expect([0, 1]).toContain(exitCode)
        const lines = plain(stdout + stderr).split("\n")
        expect(lines.filter((line) => displayWidth(line) > columns && !isUnbreakable(line))).toEqual([])
        expect(lines.filter((line) => cutWords(line, words, columns < 80 ? 8 : 12).length > 0)).toEqual([])
      }),
      { numRuns: 12, examples: [[60], [80], [100]] },
    )
  })
})

const plain = (text: string): string =>
  text
    .replace(/\u001b\[[\d;]*[A-Za-z]/g, "")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n")

/** A command of ours is there to be pasted, and so is a digest: each stands alone on its line. */
const isUnbreakable = (line: string): boolean => /^\s*(?:(?:next:|→) )?(?:npx )?orangebox [a-z]+ |^\s*\S+$/.test(line)

/** Words that end in `…` though they are short, or though other words stand before them in their quotation. */
function cutWords(line: string, words: ReadonlySet<string>, short: number): string[] {
  return [...line.matchAll(/((?:[^\s"]|(?<=\\)")+)…/g)].flatMap(({ 1: shown = "", index }) => {
    if (words.has(shown) || words.has(`${shown}…`)) return []
    const quoted = /(?:^|\s)"([^"]*)$/.exec(line.slice(0, index))?.[1] ?? ""
    const longest = quoted.includes(" ") ? 2 * short : short
    const meant = [...words].filter((word) => word.startsWith(shown))
    return meant.some((word) => word.length > longest) ? [] : meant.slice(0, 1)
  })
}
