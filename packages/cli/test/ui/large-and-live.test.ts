import { Recorder } from "@orangebox/recorder"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Scratch, scratchFolder } from "../command.js"
import { record } from "../recorded-run.js"
import { serveHere, type TestServer } from "../serving/http-server.js"
import { builtWeb, noBrowser, openUi, picture, startBrowser } from "./open-page.js"

describe.skipIf(noBrowser)(`large and running runs in the web UI${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let browser: Browser
  const opened: { scratch: Scratch; server: TestServer }[] = []
  const serve = async (scratch: Scratch): Promise<TestServer> => {
    const server = await serveHere(scratch.path, { webFolder: builtWeb, collects: true })
    opened.push({ scratch, server })
    return server
  }
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    for (const { scratch, server } of opened) {
      await server.close()
      scratch.remove()
    }
  })

  test("[O-12] a run of 10,000 steps has a row wherever it is scrolled to, and a small page", async () => {
    const scratch = scratchFolder()
    let runId = ""
    await record(scratch.path, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "long", input: "count to ten thousand" })
      runId = run.id
      for (let turn = 0; turn < 100; turn += 1) {
        const step = run.step(`turn-${turn}`)
        for (let one = 0; one < 99; one += 1) step.child(`count ${turn * 99 + one}`).end()
        step.end()
        await new Promise((resume) => setImmediate(resume))
      }
      run.complete({})
    })
    const server = await serve(scratch)
    const { page, deeds } = await openUi(browser, server, { path: `/runs/${runId}` })
    await page.waitForSelector(".row")
    await page.waitForSelector('[role="treegrid"][aria-rowcount="10002"]')
    const empty = await page.evaluate(async () => {
      const list = document.querySelector(".rows") as HTMLElement
      const { left, top, width, height } = list.getBoundingClientRect()
      let without = 0
      for (let at = 0; at <= 40; at += 1) {
        list.scrollTop = ((list.scrollHeight - list.clientHeight) * at) / 40
        await new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)))
        for (const share of [0.05, 0.5, 0.95])
          if (!document.elementFromPoint(left + width / 3, top + height * share)?.closest(".row")) without += 1
      }
      return without
    })
    expect(empty).toBe(0)
    await page.waitForFunction(() => document.querySelector(".rows")?.textContent?.includes("#10001"))
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(2500)
    // What is hidden is counted, and the worst of it is said.
    await page.goto(`${server.url}/runs/${runId}/2`)
    await page.waitForSelector('#step-2[aria-selected="true"]')
    await page.keyboard.press("ArrowLeft")
    await page.waitForFunction(() => document.querySelector("#step-2")?.textContent?.includes("99 folded"))
    expect(await page.locator('[role="treegrid"]').getAttribute("aria-rowcount")).toBe("9903")
    await picture(page, "ten-thousand-1440-dark")
    expect(deeds).toEqual([])
  }, 120_000)

  test("[O-05] a first run appears by itself, its steps follow, and its end is told", async () => {
    const scratch = scratchFolder()
    await record(scratch.path, () => {})
    const server = await serve(scratch)
    const { page, deeds } = await openUi(browser, server)
    expect(await page.locator("main").innerText()).toContain("No run is on record yet")
    const recorder = Recorder.open({ app: "live-app", folder: scratch.path })
    const run = recorder.startRun({ entrypoint: "slow", input: "take your time" })
    const first = run.step("begins")
    await page.waitForSelector(".run-row", { timeout: 60_000 })
    await page.locator(".run-row").click()
    await page.waitForSelector("#step-2")
    expect(await page.locator(".head .pill").first().innerText()).toBe("running")
    const second = first.child("goes on")
    await page.waitForSelector('#step-3[aria-selected="true"]', { timeout: 60_000 })
    second.end()
    await page.waitForFunction(
      () => /ms|s$/.test(document.querySelector("#step-3 .num:nth-child(5)")?.textContent ?? ""),
      undefined,
      {
        timeout: 60_000,
      },
    )
    // Who selects a row is not carried off.
    await page.locator("#step-2").click()
    first.child("and on").end()
    await page.waitForSelector("#step-4", { timeout: 60_000 })
    expect(await page.locator('.row[aria-selected="true"]').getAttribute("id")).toBe("step-2")
    first.end()
    run.complete({ output: "done" })
    recorder.close()
    await page.waitForFunction(() => document.querySelector(".head .pill")?.textContent === "completed", undefined, {
      timeout: 60_000,
    })
    expect(deeds).toEqual([])
  })

  test("[O-05] a server that is gone is said, and the page goes on when it is back", async () => {
    const scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      recorder.startRun({ entrypoint: "short" }).complete({})
    })
    const server = await serveHere(scratch.path, { webFolder: builtWeb })
    const { page } = await openUi(browser, server, { path: "/runs" })
    await page.waitForSelector(".run-row")
    await server.close()
    await page.waitForSelector(".dot.gone", { timeout: 60_000 })
    await page.locator(".run-row").click()
    await page.waitForSelector('[role="alert"]')
    expect(await page.locator('[role="alert"]').innerText()).toContain("orangebox ui")
    scratch.remove()
  })
})
