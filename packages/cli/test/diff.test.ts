import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { RunDiff, readPortable, replayRecorder, tapeOf } from "@orangebox/replay"
import { estimateTokens } from "@orangebox/text"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hasBrowser, inBrowser, onlyOpened } from "./browser.js"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { recordAgent, recordAgents, recordOnTheWire } from "./two-runs.js"

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007 \u202egnp.exe \u200b<script>alert(1)</script>\r\nROOT #1 tool forged"
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

describe("[P-09] orangebox diff", () => {
  let scratch: Scratch
  let data: string
  let first: string
  let same: string
  let other: string
  let hostile: string
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    ;[first, same, other, hostile] = (await recordAgents(
      data,
      {},
      {},
      { advice: "write 5", output: "retries are 5" },
      { advice: HOSTILE, tool: `tool ${HOSTILE}`, file: HOSTILE, output: HOSTILE },
    )) as [string, string, string, string]
  })
  afterAll(() => scratch.remove())
  const diff = (...args: string[]) => orangeboxHere(["diff", ...args, "--data", data])

  test("[P-09] two runs that did the same exit with 0, whether by address or by the beginning of an id", async () => {
    for (const args of [
      [first, same],
      [first.slice(0, -2), same],
      ["last~3", "last~2"],
      [first, first],
    ]) {
      const { stdout, exitCode } = await diff(...args)
      expect(stdout).toMatch(/ (same|noise) /)
      expect(exitCode).toBe(0)
    }
  })

  test("[P-09] one changed answer is the root, what follows from it is told apart, the write it led to is decisive, and the exit code is 1", async () => {
    const { stdout, exitCode } = await diff(first, other)
    expect(exitCode).toBe(1)
    const found = RunDiff.parse(withoutFreshness(jsonOf(await diff(first, other, "--json"))))
    const root = found.items[found.root!]!
    expect(root).toMatchObject({ kind: "model", change: "changed", cause: "origin" })
    expect(found.items[found.decisive!.item]).toMatchObject({
      kind: "tool",
      b: { name: "write_file", effect_class: "write" },
    })
    expect(stdout).toMatch(new RegExp(`^ROOT #${root.a!.n} model claude-x`, "m"))
    expect(stdout).toMatch(/^DECISIVE #\d+ tool write_file/m)
    expect(stdout).toContain(`next: orangebox diff --data ${data} ${first} ${other} --at ${root.a!.n}`)
  })

  test.each([[[]], [["--at", "5"]]])("[P-09] docs/diff.md shows what is printed, with %j", async (args) => {
    const bare = (text: string): string =>
      text
        .replaceAll(/run_[0-9A-Z]{26}|last(?=#| --at)/g, "RUN")
        .replaceAll(/<?\d+(\.\d+)?m?s\b/g, "TIME")
        .replaceAll(`--data ${data} `, "")
    const { stdout } = await diff(first, other, ...args)
    expect(bare(readFileSync(new URL("../../../docs/diff.md", import.meta.url), "utf8"))).toContain(bare(stdout))
  })

  test("[P-09] swapped runs swap the sides and nothing else", async () => {
    const [there, back] = await Promise.all(
      [
        [first, other],
        [other, first],
      ].map(async (args) => RunDiff.parse(withoutFreshness(jsonOf(await diff(...args!, "--json"))))),
    )
    expect(back!.root).toBe(there!.root)
    expect(back!.items.map(({ a }) => a?.step_id)).toEqual(there!.items.map(({ b }) => b?.step_id))
  })

  test("[P-09] the text stays within its budget, with the command that goes on", async () => {
    for (const budget of [200, 300, 600]) {
      const { stdout } = await diff(first, hostile, "--budget", String(budget))
      expect(estimateTokens(stdout.trimEnd())).toBeLessThanOrEqual(budget)
    }
    const all = await diff(first, hostile, "--all")
    expect(all.stdout).not.toMatch(/lines? left out/)
  })

  test("[P-09] side by side, with the same folded away, by tier, and whole with --all", async () => {
    const columns = await diff(first, other, "--columns")
    expect(columns.stdout).toMatch(/\d+ items? hidden \(--all\)/)
    expect(columns.stdout).toMatch(/#\d+ tool write_file.* \| #\d+ tool write_file/)
    const tier = await diff(first, other, "--tier", "T2")
    expect(tier.stdout).not.toMatch(/ROOT/)
    const all = await diff(first, other, "--columns", "--all")
    expect(all.stdout).toMatch(/#2 tool read_file.* = #2 tool read_file/)
  })

  test("[P-09] --at shows one step of both runs with its payloads, and says where its bodies are", async () => {
    const { root, items } = jsonOf<RunDiff>(await diff(first, other, "--json"))
    const { n } = items[root!]!.a!
    const { stdout, exitCode } = await diff(first, other, "--at", String(n))
    expect(stdout).toMatch(/^ROOT/)
    expect(stdout).toMatch(/\/text\n\s+- "write 3"\n\s+\+ "write 5"/)
    expect(stdout).toContain(`orangebox step --data ${data} ${other}#${n}`)
    expect(exitCode).toBe(1)
    expect((await diff(first, other, "--at", `b${n}`)).stdout).toBe(stdout)
    const beyond = await diff(first, other, "--at", "99")
    expect(beyond).toMatchObject({ exitCode: 2, stdout: "" })
    expect(beyond.stderr).toMatch(/no step #99 is compared/)
  })

  test("[P-09] what differs only under a mask that was asked for is noise", async () => {
    const folder = join(scratch.path, "dates")
    await recordAgents(folder, { file: "since: 2026-01-31" }, { file: "since: 2026-02-01" })
    expect((await orangeboxHere(["diff", "last~1", "--data", folder])).exitCode).toBe(1)
    const masked = await orangeboxHere(["diff", "last~1", "--mask", "iso_date", "--data", folder])
    expect(masked.stdout).toMatch(/ noise regime/)
    expect(masked.exitCode).toBe(0)
  })

  test("[P-09] what a tool does to the world is read from the configuration", async () => {
    const project = join(scratch.path, "data", "..")
    writeFileSync(join(project, "orangebox.config.json"), JSON.stringify({ tools: { write_file: { effect: "read" } } }))
    const { stdout } = await orangebox(["diff", first, other, "--json", "--data", data], { cwd: project })
    expect(RunDiff.parse(withoutFreshness(JSON.parse(stdout))).decisive).toBeNull()
  })

  test("[P-09] an agent recorded on the wire: the answer that changed is found, and what it changed in later requests is told once", async () => {
    const folder = join(scratch.path, "wire")
    await recordOnTheWire(folder, ["one", "two", "three"], ["one", "too", "three"])
    const result = await orangeboxHere(["diff", "last~1", "last", "--json", "--data", folder])
    expect(result.exitCode).toBe(1)
    const found = RunDiff.parse(withoutFreshness(jsonOf(result)))
    const models = found.items.filter(({ kind }) => kind === "model")
    expect(models.map(({ cause }) => cause)).toEqual([null, "origin", "absorbed"])
    expect(models[2]!.payloads?.[0]).toMatchObject({
      what: "input",
      ops: [],
      inherits: [{ item: found.first, parts: 1 }],
    })
    const text = await orangeboxHere(["diff", "last~1", "last", "--data", folder])
    expect(text.stdout).toContain('"two" -> "too"')
  })

  test("[P-09] a replay of a replay is compared step by step with the first run", async () => {
    const folder = join(scratch.path, "replays")
    const [original] = await recordAgents(folder, {})
    let source = original!
    for (let generation = 0; generation < 2; generation++) {
      const file = join(scratch.path, `generation-${generation}.obxrun`)
      expect((await orangeboxHere(["export", source, "-o", file, "--data", folder])).exitCode).toBe(0)
      const { events, bodies } = await readPortable(readFileSync(file))
      const reading = tapeOf(events, bodies)
      if (!reading.ok) throw new Error("no tape")
      const replay = replayRecorder(reading.tape, { app: "agent", folder })
      source = (await recordAgent(replay)).runId
      replay.close()
    }
    const { regime, verdict, items } = jsonOf<RunDiff>(
      await orangeboxHere(["diff", original!, source, "--json", "--data", folder]),
    )
    expect({ regime, verdict }).toEqual({ regime: "R1", verdict: "same" })
    expect(items.every(({ a, b }) => a && b)).toBe(true)
    expect(items.filter(({ kind }) => kind === "tool" || kind === "model").every(({ b }) => b!.mode === "exact")).toBe(
      true,
    )
  })

  test.each([
    ["text", []],
    ["columns", ["--columns", "--all"]],
    ["one step", ["--at", "5"]],
    ["JSON", ["--json"]],
    ["a page", ["--html", "-"]],
  ])("[P-09] hostile recorded text is harmless in %s", async (_, args) => {
    const { stdout, stderr } = await diff(first, hostile, ...args)
    for (const text of [stdout, stderr]) expect(text.replaceAll("\n", "")).not.toMatch(UNSAFE)
    // On a page a line break of recorded text is one, inside its own element.
    if (args.includes("--html")) expect(stdout).not.toContain("<script")
    else expect(stdout).not.toMatch(/^ROOT #1 tool forged/m)
  })

  test("[P-09] trouble exits with 2 and says what, where and next", async () => {
    const cases: [string[], RegExp][] = [
      [["run_01ZZZZZZZZ", first], /nothing recorded here has the address/],
      [["last~99"], /last~99 is further back than there are runs/],
      [[first, other, "--html", join(data, "nowhere", "x.html")], /cannot be written/],
      [[first, other, "--budget", "300", "--columns"], /--budget is about text/],
      [[first, other, "--tier", "T9"], /one of: T0, T1/],
      [[first, other, "--mask", "moods"], /one of: .*uuid/],
      [[first, other, "--at", "zero"], /a step such as 18/],
    ]
    for (const [args, message] of cases) {
      const { stdout, stderr, exitCode } = await diff(...args)
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 })
      expect(stderr).toMatch(message)
    }
  })

  test("[P-09] a run that only began is compared too", async () => {
    const folder = join(scratch.path, "begun")
    await recordAgents(folder, {})
    const { record } = await import("./recorded-run.js")
    await record(
      folder,
      (recorder) => void recorder.startRun({ entrypoint: "agent", input: "set the retries" }),
      "agent",
    )
    const { stdout, exitCode } = await orangeboxHere(["diff", "last~1", "last", "--data", folder])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/steps \d+\/1 /)
  })

  test("[P-09] --html writes a page once, and again only with --force", async () => {
    const page = join(scratch.path, "once.html")
    expect((await diff(first, other, "--html", page)).exitCode).toBe(1)
    const before = readFileSync(page, "utf8")
    const again = await diff(first, hostile, "--html", page)
    expect(again).toMatchObject({ exitCode: 2 })
    expect(again.stderr).toMatch(/already there[\s\S]*--force/)
    expect(readFileSync(page, "utf8")).toBe(before)
    expect((await diff(first, hostile, "--html", page, "--force")).exitCode).toBe(1)
    expect(readFileSync(page, "utf8")).not.toBe(before)
  })

  test.skipIf(!hasBrowser)(
    "[P-09] the page opens in a browser, shows the root, runs and asks for nothing (needs Chromium)",
    async () => {
      const path = join(scratch.path, "page.html")
      await diff(first, hostile, "--html", path)
      const deeds = await inBrowser(path, async (page) => {
        expect(await page.locator("tr.root, tr.first").count()).toBeGreaterThan(0)
        expect(await page.locator("script").count()).toBe(0)
        expect(await page.evaluate("getComputedStyle(document.body).maxWidth")).not.toBe("none")
        expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true)
        const differences = page.locator("tr.difference:visible")
        expect(await differences.count()).toBeGreaterThan(0)
        for (const box of await page.locator(".filters input").all()) await box.uncheck()
        expect(await differences.count()).toBe(0)
        await page.locator("#T2").check()
        expect(await differences.count()).toBeGreaterThan(0)
      })
      expect(deeds).toEqual(onlyOpened(path))
    },
  )
})

/** The diff without what every reading command adds. */
function withoutFreshness({ behind_bytes: _, ...diff }: Record<string, unknown>): unknown {
  return diff
}
