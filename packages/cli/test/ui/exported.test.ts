import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, type Scratch, scratchFolder } from "../command.js"
import { noBrowser, picture, startBrowser } from "./open-page.js"

describe.skipIf(noBrowser)(`a run as one page${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let scratch: Scratch
  let browser: Browser
  let file: string
  beforeAll(async () => {
    scratch = scratchFolder()
    expect((await orangebox(["demo", "--data", scratch.path])).exitCode).toBe(0)
    file = join(scratch.path, "run.html")
    const { exitCode, stderr } = await orangebox(["export", "last~1", "--html", file, "--data", scratch.path])
    expect(exitCode, stderr).toBe(0)
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    scratch.remove()
  })

  const open = async (path: string): Promise<{ page: Page; deeds: string[] }> => {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true })).newPage()
    const deeds: string[] = []
    page.on("pageerror", (error) => void deeds.push(error.message))
    page.on("console", (message) => void deeds.push(message.text()))
    page.on("request", (request) => void deeds.push(request.url()))
    await page.goto(`file://${path}`)
    return { page, deeds }
  }

  test("[O-05] it is read without a network and asks for nothing but itself", async () => {
    const { page, deeds } = await open(file)
    await page.waitForSelector(".row .words")
    await page.waitForFunction(() => document.querySelectorAll(".finds li").length >= 4)
    expect(await page.locator(".row").count()).toBe(21)
    await page.locator("#step-14").click()
    await page.waitForSelector(".msg")
    expect(await page.locator(".pane-body").innerText()).toContain("centuries are leap years")
    for (const tab of ["Context", "Cache", "Request", "Response", "Events"]) {
      await page.locator('[role="tab"]', { hasText: tab }).click()
      await page.waitForFunction(() => document.querySelector(".loading") === null)
      expect(await page.locator(".pane-body").innerText(), tab).not.toContain("not in the exported page")
    }
    await page.locator("#step-12").click()
    await page.waitForFunction(() => document.querySelector(".pane-body")?.textContent?.includes("AssertionError"))
    await page.keyboard.press("v")
    await page.waitForFunction(() => document.body.textContent?.includes("Broken rules"))
    expect(deeds).toEqual([`file://${file}`])
    await picture(page, "exported-1440-light")
    await page.context().close()
  })

  test("[O-05] a script that somebody puts into the file does not run", async () => {
    const changed = join(scratch.path, "changed.html")
    const html = readFileSync(file, "utf8").replace(
      "</body>",
      "<script>globalThis.owned = 1</script><img src=x onerror='globalThis.owned = 2'></body>",
    )
    writeFileSync(changed, html)
    const { page } = await open(changed)
    await page.waitForSelector(".row")
    expect(await page.evaluate(() => (globalThis as { owned?: number }).owned)).toBeUndefined()
    await page.context().close()
  })
})
