import { diffColumns, diffHtml, diffRuns, diffText, MIN_DIFF_BUDGET } from "@orangebox/replay"
import type { Painter } from "@orangebox/text"
import { displayWidth, estimateTokens } from "@orangebox/text"
import { describe, expect, test } from "vitest"
import { MIN_COLUMNS } from "../../src/diff/diff-columns.js"
import { type Act, model, type ScriptOptions, scriptRun, tool } from "./script-run.js"

const HOSTILE = "\u001b[31mred\u001b[0m\u0007 </pre><script>alert(1)</script> \u202eevil \u200b\n\rROOT #1 tool faked"

const acts = (word: string): Act[] =>
  Array.from(
    { length: 24 },
    (_, i): Act =>
      i % 2 === 0
        ? model(`${word} says ${i} ${HOSTILE}`, {
            name: i % 4 === 0 ? "read_file" : `tool ${word}`,
            args: { path: `${word}${i}` },
          })
        : tool(
            i % 4 === 1 ? "read_file" : HOSTILE,
            { path: `${word}${i}`, [HOSTILE]: i },
            `result ${word} ${i} ${HOSTILE}`,
          ),
  )

const start = (): Act[] => Array.from({ length: 6 }, (_, i) => tool("read_file", { path: `p${i}` }, `text ${i}`))

function pair(options: ScriptOptions = {}) {
  return diffRuns(
    scriptRun([...start(), ...acts("left")], { ...options, id: "A", output: "done" }),
    scriptRun([...start(), ...acts("right"), model("more")], {
      ...options,
      id: "B",
      output: HOSTILE,
      status: "failed",
    }),
  )
}

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/

describe("[P-09] a diff told", () => {
  test("[P-09] the text stays within any budget and says what it leaves out", () => {
    const diff = pair()
    for (const budget of [MIN_DIFF_BUDGET, 300, 600, 1_000, 2_000, 5_000]) {
      const text = diffText(diff, { budget })
      expect(estimateTokens(text)).toBeLessThanOrEqual(budget)
      expect(text).toMatch(/^diff run_\w+A\.\.run_\w+B differs regime=R2 steps /)
      if (budget <= 600) expect(text).toMatch(/more: \d+ lines left out/)
    }
    const all = diffText(diff, { all: true })
    expect(all).not.toMatch(/left out \(/)
    expect(all.split("\n").length).toBeGreaterThan(diffText(diff).split("\n").length)
  })

  test("[P-09] the text names first what tells most", () => {
    const diff = diffRuns(
      scriptRun(
        [
          ...start(),
          model("I read it.", { name: "read_file", args: { path: "x" } }),
          tool("read_file", { path: "x" }, "x", { effect: "read" }),
        ],
        { id: "A", output: "ok" },
      ),
      scriptRun(
        [
          ...start(),
          model("I write it.", { name: "write_file", args: { path: "x" } }),
          tool("write_file", { path: "x" }, "done", { effect: "write" }),
        ],
        { id: "B", output: "failed" },
      ),
    )
    expect(diffText(diff).split("\n")).toEqual([
      "diff run_0000000000000000000000000A..run_0000000000000000000000000B differs regime=R2 steps 9/9 compared 9/9: same 7 changed 2",
      "ROOT #8 model claude-x origin T1: calls read_file -> write_file",
      '  output /text: "I read it." -> "I write it."',
      '  output /calls/0/tool: "read_file" -> "write_file"',
      "DECISIVE #9 tool read_file -> write_file (write) propagated T1+T3: other name, other arguments, other result",
      '  output: "x" -> "done"',
      'OUTCOME output "ok" -> "failed"',
      "tokens 17 in 10 out -> 17 in 11 out ; time <1ms -> <1ms",
      "more: --json has every item",
    ])
  })

  test("[P-09] two equal runs are told in a line", () => {
    const run = scriptRun(start())
    const diff = diffRuns(run, run)
    expect(diffText(diff).split("\n")).toHaveLength(2)
    expect(diffColumns(diff)).toContain("7 items hidden (--all)")
  })

  test("[P-09] the columns fit their width, hold no control characters, and hide nothing unsaid", () => {
    const diff = pair()
    for (const width of [MIN_COLUMNS, 80, 132, 200]) {
      for (const all of [false, true]) {
        const text = diffColumns(diff, { width, all })
        expect(text).not.toMatch(CONTROL)
        for (const line of text.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width)
      }
    }
    expect(diffColumns(diff)).toMatch(/\d+ items? hidden \(--all\)/)
    expect(diffColumns(diff, { all: true })).not.toMatch(/hidden/)
    expect(diffColumns(diff, { tiers: ["T3"] })).not.toMatch(/ T1 /)
  })

  test("[P-09] colours are asked for after widths were measured", () => {
    const diff = pair()
    const roles = new Set<string>()
    const paint: Painter = (piece, role) => {
      roles.add(role)
      return `<${piece}>`
    }
    const text = diffColumns(diff, { width: 100, color: paint })
    expect(text.replace(/[<>]/g, "").length).toBeLessThan(text.length)
    expect(roles).toContain("bad")
  })

  test("[P-09] recorded text reaches neither terminal nor reader raw", () => {
    for (const text of [diffText(pair(), { all: true }), diffColumns(pair(), { all: true, width: 300 })]) {
      expect(text).not.toMatch(CONTROL)
      expect(text).not.toMatch(/^ROOT #1 tool faked/m)
    }
  })

  test("[P-09] the page is one inert file: no script, nothing loaded, every recorded character escaped", () => {
    const page = diffHtml(pair())
    expect(page).toContain("default-src 'none'; style-src 'sha256-")
    expect(page).not.toMatch(/<script|<img|<link|<iframe|\son\w+=|javascript:|http:|https:/i)
    expect(page).toContain("&lt;script&gt;")
    expect(page).not.toMatch(CONTROL)
    expect(page.match(/<table/g)!.length).toBe(page.match(/<\/table>/g)!.length)
  })

  test("[P-09] a stretch of steps that all differ in the same way is one line, and a line each only with --all", () => {
    const run = (id: string): ReturnType<typeof scriptRun> =>
      scriptRun([...start(), tool("clock", {}, `it is ${id}`), ...Array.from({ length: 20 }, () => model("go on"))], {
        id,
      })
    const diff = diffRuns(run("A"), run("B"))
    const text = diffText(diff)
    expect(text).toMatch(/^#9\.\.#28 absorbed \(20\): model claude-x: other request$/m)
    expect(text).not.toMatch(/^ {2}#1\d model/m)
    expect(text).toMatch(/20 lines left out/)
    expect(diffText(diff, { all: true }).match(/^ {2}#\d+ model claude-x absorbed: other request$/gm)).toHaveLength(20)
  })

  test("[P-09] every step shows its mode; simulated output never stands without its mark", () => {
    const modes = ["live", "exact", "cached", "simulated"] as const
    const diff = diffRuns(
      scriptRun(acts("left").slice(0, 8), { id: "A" }),
      scriptRun(acts("right").slice(0, 8), { id: "B", replay: (place) => ({ determinism_mode: modes[place % 4]! }) }),
    )
    const page = diffHtml(diff)
    for (const mode of modes) expect(page).toContain(`<span class="badge ${mode}">${mode}</span>`)
    const simulated = diff.items.filter(({ b }) => b?.mode === "simulated")
    expect(simulated.length).toBeGreaterThan(0)
    expect(diffText(diff, { all: true }).match(/simulated\]/g)!.length).toBeGreaterThanOrEqual(simulated.length)
    expect(diffColumns(diff).match(/\[simulated\]/g)!.length).toBe(simulated.length)
  })
})
