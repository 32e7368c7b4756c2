import { renameSync } from "node:fs"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { DatabaseSync } from "@photostructure/sqlite"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { orangebox, type Scratch, scratchFolder } from "../command.js"
import { record, recordOrdinaryRun } from "../recorded-run.js"
import { serveHere, type TestServer } from "../serving/http-server.js"
import { builtWeb, noBrowser, openUi, picture, startBrowser } from "./open-page.js"

/** The sentence in a pane that holds these words, and what else it says. */
const sentence = async (page: Page, words: string): Promise<string> => {
  const alert = page.locator('[role="alert"]', { hasText: words }).first()
  await alert.waitFor()
  return alert.innerText()
}

describe.skipIf(noBrowser)(`what goes wrong under an open page${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let browser: Browser
  let scratch: Scratch
  let server: TestServer
  let page: Page
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
    server = await serveHere(scratch.path, { named: scratch.path, webFolder: builtWeb })
    ;({ page } = await openUi(browser, server, { path: "/runs/last/3" }))
    await page.waitForSelector('#step-3[aria-selected="true"]')
  })
  afterEach(async () => {
    await page?.context().close()
    await server?.close()
    scratch.remove()
  })

  test("[O-05] a data folder that vanishes is a sentence in its pane; the rest stays, and Retry goes on when it is back", async () => {
    const aside = `${scratch.path}-aside`
    renameSync(scratch.path, aside)
    try {
      await page.locator("#step-4").click()
      expect(await sentence(page, "NO_DATA")).toContain(scratch.path)
      await page.locator(".dot.gone", { hasText: "store not readable" }).waitFor()
      expect(await page.locator(".row").count()).toBe(5)
      expect(await page.locator(".head h1").innerText()).toBe("count")
      await picture(page, "folder-gone-1440-dark")
    } finally {
      renameSync(aside, scratch.path)
    }
    await page.locator(".pane").getByRole("button", { name: "Retry" }).click()
    await page.waitForSelector(".pane .msg")
    await page.locator(".dot", { hasText: "store is current" }).waitFor()
    expect(await page.locator(".pane").innerText()).toContain("sheep.txt")
  })

  test("[O-05] a run that is pruned while it is shown says so, and the list goes on without it", async () => {
    const { exitCode, stderr } = await orangebox(["prune", "--max-age", "0s", "--data", scratch.path])
    expect(exitCode, stderr).toBe(0)
    expect(await sentence(page, "PRUNED")).toContain("was pruned on")
    await picture(page, "run-pruned-1440-dark")
    await page.keyboard.press("u")
    await page.waitForFunction(() => document.body.textContent?.includes("No run is on record"))
  })

  test("[O-05] bytes that were pruned say so in their tab, with what they were, and the other tabs live", async () => {
    expect((await orangebox(["prune", "--body-max-age", "0s", "--data", scratch.path])).exitCode).toBe(0)
    await page.goto(`${server.url}/runs/last/3?tab=request`)
    await page.waitForFunction(() => document.querySelector(".pane")?.textContent?.includes("pruned"))
    expect(await page.locator(".pane").innerText()).toMatch(/not here: pruned on [\s\S]*sha256:/)
    await picture(page, "body-pruned-1440-dark")
    await page.locator('[role="tab"]', { hasText: "Events" }).click()
    await page.waitForFunction(() => document.querySelector(".pane")?.textContent?.includes("model_called"))
  })

  test("[O-05] bytes that were never kept say so, and a run under hashed capture still has its rows", async () => {
    const recorder = Recorder.open({ app: "hashing", folder: scratch.path, capture: "hashed" })
    await recordOrdinaryRun(recorder, "count in secret")
    recorder.close()
    expect((await orangebox(["collect", "--data", scratch.path])).exitCode).toBe(0)
    await page.goto(`${server.url}/runs/last/3?tab=request`)
    await page.waitForFunction(() => document.querySelector(".pane")?.textContent?.includes("hashed"))
    expect(await page.locator(".row").count()).toBe(5)
  })

  test("[O-05] a store that a newer version took over is said with what to do, and nothing is read from it", async () => {
    const database = new DatabaseSync(join(scratch.path, "store", "trace.db"))
    database.exec("PRAGMA user_version = 99999")
    database.close()
    await page.locator("#step-5").click()
    expect(await sentence(page, "STORE_VERSION")).toContain("Upgrade with")
    expect(await page.locator(".row").count()).toBe(5)
    await page.reload()
    expect(await sentence(page, "STORE_VERSION")).toContain("schema 99999")
  })
})
