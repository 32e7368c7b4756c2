import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "../command.js"
import { serveHere, type TestServer } from "../serving/http-server.js"
import { builtWeb, drawn, noBrowser, openUi, picture, startBrowser } from "./open-page.js"

interface Shown {
  run: {
    run_id: string
    duration_us: number
    totals: { model_calls: number; tool_calls: number; lost: number; tokens: { input: number; output: number } }
  }
  rows: { type: string; n: number; kind: string; status: string; model: { input_tokens: number } | null }[]
}

describe.skipIf(noBrowser)(`the web UI over the demo${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let scratch: Scratch
  let server: TestServer
  let browser: Browser
  let fixed: Shown
  let killed: Shown
  const shown = async (address: string): Promise<Shown> =>
    jsonOf<Shown>(await orangebox(["show", address, "--all", "--json", "--data", scratch.path]))

  beforeAll(async () => {
    scratch = scratchFolder()
    const { exitCode, stderr } = await orangebox(["demo", "--data", scratch.path])
    expect(exitCode, stderr).toBe(0)
    server = await serveHere(scratch.path, { named: scratch.path, webFolder: builtWeb })
    browser = await startBrowser()
    killed = await shown("last")
    fixed = await shown("last~1")
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    scratch.remove()
  })

  test("[O-05] the numbers on screen are those of the commands", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${fixed.run.run_id}` })
    const facts = await page.locator(".facts").innerText()
    const { totals } = fixed.run
    expect(facts).toContain(`${totals.model_calls} calls`)
    expect(facts).toContain(`${totals.tool_calls} tools`)
    expect(facts).toContain(`${(totals.tokens.input / 1000).toFixed(1)}k in ${totals.tokens.output} out`)
    expect(facts).toContain(`${totals.lost} lost`)
    await page.waitForSelector(".row .words")
    const rows = await page.locator(".row").evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""))
    const steps = fixed.rows.filter(({ type }) => type === "step")
    expect(rows).toHaveLength(steps.length)
    for (const { n, kind, status, model } of steps) {
      const row = rows.find((name) => name.startsWith(`step ${n},`))
      expect(row).toContain(kind)
      if (model) expect(row).toContain(`${model.input_tokens} tokens in`)
      if (status === "error") expect(row).toContain("failed, exit 1")
    }
    const cache = jsonOf<{ calls: { step_no: number; read_tokens: number; prompt_tokens: number }[] }>(
      await orangebox(["cache", "last~1", "--json", "--budget", "100000", "--data", scratch.path]),
    )
    await page.goto(`${server.url}/runs/${fixed.run.run_id}/14?strata=table`)
    await page.waitForSelector(".strata-table tbody tr")
    const table = await page
      .locator(".strata-table tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())))
    expect(table.map(([call, tokens, cached]) => [call, tokens, cached])).toEqual(
      cache.calls.map(({ step_no, prompt_tokens, read_tokens }) => [
        `#${step_no}`,
        prompt_tokens.toLocaleString("en"),
        read_tokens.toLocaleString("en"),
      ]),
    )
    await page.context().close()
  })

  test("[O-11] the first look says what failed, which rules were broken, and what was paid twice and why", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${fixed.run.run_id}` })
    await page.waitForFunction(() => document.querySelectorAll(".finds li").length >= 4)
    await page.waitForFunction(() => document.querySelector(".finds")?.textContent?.includes("exit 1"))
    const list = await page.locator(".finds li").allInnerTexts()
    expect(list.map((one) => one.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/^✗ #18 package\.json is outside the paths/),
      expect.stringMatching(/^✗ #21 the output contains emoji/),
      expect.stringMatching(/^✗ #12 exit 1 TestsFailed/),
      expect.stringMatching(
        /^≋ #8 … #21 [\d,]+ tokens sent again at full price: no cache mark after the system prompt/,
      ),
    ])
    expect(await page.locator('.row[aria-selected="true"]').getAttribute("id")).toBe("step-18")
    await page.context().close()
  })

  test("[O-05] a killed run opens at the step it died in, with the answer as far as it came", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${killed.run.run_id}` })
    expect(await page.locator(".banner").innerText()).toMatch(
      /process \d+ died in\s+#7\s+after 2\.4 kB of the answer · 0 lost/,
    )
    expect(await page.locator('.row[aria-selected="true"]').getAttribute("id")).toBe("step-7")
    await page.waitForSelector(".msg pre.torn")
    expect(await page.locator(".msg pre.torn").innerText()).toContain("Zeller's congruence")
    await page.context().close()
  })

  test("[O-05] from the list of runs to bytes of a request with the keyboard alone", async () => {
    const { page, deeds } = await openUi(browser, server)
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
      await drawn(page)
    }
    await press("j", "Enter")
    await page.waitForURL(`**/runs/${fixed.run.run_id}`)
    await page.waitForSelector('.row[aria-selected="true"]')
    await press("[", "[")
    expect(await page.locator(".pane-title .here").innerText()).toBe("#14")
    await press("Enter", "4")
    await page.waitForSelector("pre.slice")
    expect(await page.locator("pre.slice").innerText()).toContain('"model"')
    await page.waitForURL("**/14?tab=request")
    // The same again by Tab and arrows, without single letters.
    await press("Escape")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("step-14")
    await press("ArrowUp")
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toContain("step 13")
    await press("u")
    await page.waitForURL("**/runs")
    expect(deeds).toEqual([])
    await page.context().close()
  })

  test("[O-05] a click opens any run of the list, with its verdict beside it", async () => {
    const { page } = await openUi(browser, server)
    const row = page.locator(".run-row", { hasText: "fix-leap-years" })
    await row.locator("span", { hasText: "fail 2" }).waitFor()
    await row.click()
    await page.waitForURL(`**/runs/${fixed.run.run_id}`)
    await page.waitForSelector(".row .words")
    await page.context().close()
  })

  test("[O-05] a link brings back what was on screen, and going back goes back", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${fixed.run.run_id}/14?tab=context` })
    expect(await page.locator('[role="tab"][aria-selected="true"]').innerText()).toBe("Context")
    await page.keyboard.press("c")
    await page.waitForSelector(".toast")
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `${server.url}/runs/${fixed.run.run_id}/14?tab=context`,
    )
    await page.locator(".finds li button").first().click()
    await page.waitForURL("**/18?tab=context")
    await page.goBack()
    await page.waitForURL("**/14?tab=context")
    expect(await page.locator(".pane-title .here").innerText()).toBe("#14")
    await page.context().close()
  })

  test("[O-05] what acts is a command to copy, and the packet for an agent is the one of the command", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${fixed.run.run_id}/14` })
    await page.keyboard.press("r")
    await page.waitForSelector("dialog")
    await page.fill('dialog input[placeholder^="model="]', "model=other temperature=0")
    await page.fill('dialog input[placeholder^="node agent.js"]', "node agent.js")
    expect(await page.locator("dialog pre").innerText()).toBe(
      `orangebox fork ${fixed.run.run_id} --at '#14' --set model=other --set temperature=0 -- node agent.js`,
    )
    await page.keyboard.press("Escape")
    await page.waitForSelector("dialog", { state: "detached" })
    await page.keyboard.press("y")
    await page.waitForFunction(() => document.querySelector(".toast")?.textContent?.includes("handoff"))
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe((await server.json<{ text: string }>(`/runs/${fixed.run.run_id}/handoff`)).text)
    // The marks around what was recorded are other ones each time, and how much fits into the budget hangs on them.
    const { stdout } = await orangebox(["handoff", "last~1", "--data", scratch.path])
    const begin = (text: string): string[] =>
      text
        .replaceAll(/⟦(recorded |\/)[0-9a-f]+/g, "⟦$1")
        .split("\n")
        .slice(0, 8)
    expect(begin(copied)).toEqual(begin(stdout))
    await page.context().close()
  })

  test("[O-05] on paper a run is light, unfolded and whole, with the numbers of its strata", async () => {
    const { page } = await openUi(browser, server, { path: `/runs/${fixed.run.run_id}/2` })
    await page.waitForSelector('#step-2[aria-selected="true"]')
    await page.keyboard.press("ArrowLeft")
    await page.waitForFunction(() => document.querySelector("#step-2")?.textContent?.includes("folded"))
    await page.setViewportSize({ width: 720, height: 400 })
    await page.emulateMedia({ media: "print" })
    await page.waitForSelector(".strata-table tbody tr")
    await page.waitForFunction(
      (count) => document.querySelectorAll(".row").length === count,
      fixed.rows.filter(({ type }) => type === "step").length,
    )
    const paper = await page.evaluate(() => ({
      theme: document.documentElement.dataset["theme"],
      isSeen: [".head", ".finds", ".strata-table", ".tree", ".pane"].map(
        (name) => document.querySelector(name)!.checkVisibility() && document.querySelector(name)!.clientHeight > 0,
      ),
      buttons: [...document.querySelectorAll(".top, .acts, .command, .tabs")].filter((one) => one.checkVisibility())
        .length,
      // What scrolls on a screen is cut off on paper.
      cut: [...document.querySelectorAll("#app *")].filter(
        (one) =>
          one.scrollHeight > one.clientHeight + 4 && getComputedStyle(one).overflowY === "auto" && one.clientHeight > 0,
      ).length,
      // A head that is laid out for buttons beside it would be a column of letters.
      isTall: document.querySelector(".head")!.clientHeight > 160,
      isWide: document.documentElement.scrollWidth > innerWidth,
    }))
    expect(paper).toEqual({
      theme: "light",
      isSeen: Array(5).fill(true),
      buttons: 0,
      cut: 0,
      isTall: false,
      isWide: false,
    })
    await picture(page, "print")
    await page.emulateMedia({ media: "screen" })
    await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark")
    await page.context().close()
  })

  test("[O-05] a page without a key, or with the key of a server that is gone, says how to get in", async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/runs`)
    await page.waitForSelector("h1")
    expect(await page.locator("main").innerText()).toContain("orangebox ui")
    await page.evaluate(() => localStorage.setItem("orangebox-key", "of-another-server"))
    await page.reload()
    await page.waitForSelector("h1")
    expect(await page.locator("h1").innerText()).toBe("This page has no key")
    await context.close()
  })

  test("[O-05] an address of nothing is a sentence in its pane, and the rest of the page lives", async () => {
    const { page, goTo } = await openUi(browser, server, { path: "/runs/run_nothing" })
    expect(await page.locator('[role="alert"]').innerText()).toContain("run_nothing")
    await goTo(`/runs/${fixed.run.run_id}/999`)
    expect(await page.locator(".pane").innerText()).toContain("there is no step #999")
    await page.keyboard.press("u")
    await page.waitForSelector(".run-row")
    await page.context().close()
  })
})
