import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, type Scratch, scratchFolder } from "../command.js"
import { serveHere, type TestServer } from "../serving/http-server.js"
import { violationsOn } from "./axe.js"
import { builtWeb, noBrowser, openUi, picture, startBrowser } from "./open-page.js"

describe.skipIf(noBrowser)(`every screen of the web UI${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let scratch: Scratch
  let server: TestServer
  let browser: Browser
  let fixed: string
  let killed: string
  let clocked: string

  beforeAll(async () => {
    scratch = scratchFolder()
    const { exitCode, stderr } = await orangebox(["demo", "--data", scratch.path])
    expect(exitCode, stderr).toBe(0)
    server = await serveHere(scratch.path, { named: scratch.path, webFolder: builtWeb })
    browser = await startBrowser()
    const { runs } = await server.json<{ runs: { run_id: string }[] }>("/runs")
    ;[killed, fixed, clocked] = runs.map(({ run_id }) => run_id) as [string, string, string]
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    scratch.remove()
  })

  /** Every screen, by the address that leads to it. */
  const screens = (): readonly (readonly [string, string])[] => [
    ["runs", "/runs"],
    ["run", `/runs/${fixed}`],
    ["conversation", `/runs/${fixed}/14`],
    ["context", `/runs/${fixed}/4?tab=context`],
    ["cache", `/runs/${clocked}/6?tab=cache`],
    ["tool", `/runs/${fixed}/12`],
    ["request", `/runs/${fixed}/14?tab=request&form=pretty`],
    ["events", `/runs/${fixed}/14?tab=events`],
    ["strata-table", `/runs/${fixed}/14?strata=table`],
    ["findings", `/runs/${fixed}/18?panel=findings`],
    ["report", `/runs/${fixed}?view=report`],
    ["crashed", `/runs/${killed}`],
    ["diff", `/diff?a=${clocked}&b=${fixed}&item=3`],
    ["analytics", "/analytics"],
    ["search", "/search?text=centuries"],
  ]

  test.each(["dark", "light"] as const)(
    "[O-05] no screen has a violation of the accessibility rules, in %s colours",
    async (theme) => {
      const { page, goTo, deeds } = await openUi(browser, server, { theme })
      const found: string[] = []
      for (const [name, path] of screens()) {
        await goTo(path)
        await page.waitForTimeout(300)
        found.push(...(await violationsOn(page)).map((violation) => `${name}: ${violation}`))
      }
      await goTo("/runs")
      await page.keyboard.press("?")
      await page.waitForSelector("dialog")
      found.push(...(await violationsOn(page)).map((violation) => `keys: ${violation}`))
      expect(found).toEqual([])
      expect(deeds).toEqual([])
      await page.context().close()
    },
    240_000,
  )

  test("[O-05] no screen is wider than the window, at any width", async () => {
    const { page, goTo, deeds } = await openUi(browser, server)
    const wide: string[] = []
    for (const width of [1440, 800, 400]) {
      await page.setViewportSize({ width, height: 900 })
      for (const theme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme: theme })
        for (const [name, path] of screens()) {
          await goTo(path)
          if ((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) > 0)
            wide.push(`${name} at ${width}`)
          await picture(page, `${name}-${width}-${theme}`)
        }
      }
    }
    expect([...new Set(wide)]).toEqual([])
    expect(deeds).toEqual([])
    await page.context().close()
  }, 400_000)
})
