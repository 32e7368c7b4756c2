import { existsSync, mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import type { TestServer } from "../serving/http-server.js"

const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync)

/** Why tests in a browser are skipped, else undefined. */
export const noBrowser =
  executablePath === undefined ? "no Chromium at /usr/bin/chromium or /usr/bin/google-chrome" : undefined

/** Where the build puts the pages. */
export const builtWeb = fileURLToPath(new URL("../../../web/built", import.meta.url))

/** A browser that keeps to itself: nothing is fetched that a page did not ask for. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  })

export interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page did by itself that it should not: errors, dialogs, refused scripts, requests to elsewhere. */
  readonly deeds: string[]
  /** Goes to an address of the page and waits until it is drawn. */
  goTo(path: string): Promise<void>
}

/** Opens the page as `orangebox ui` would: by the one-time code. */
export async function openUi(
  browser: Browser,
  server: TestServer,
  {
    path = "/runs",
    width = 1440,
    height = 900,
    theme = "dark",
  }: { path?: string; width?: number; height?: number; theme?: "dark" | "light" } = {},
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" })
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  const page = await context.newPage()
  const deeds: string[] = []
  page.on("pageerror", (error) => void deeds.push(`error: ${error.message}`))
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) deeds.push(`console: ${message.text()}`)
  })
  page.on("dialog", (dialog) => {
    deeds.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("popup", () => void deeds.push("opened a window"))
  page.on("request", (request) => {
    if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith("blob:"))
      deeds.push(`request: ${request.url().slice(0, 200)}`)
  })
  await page.goto(server.addressWithCode(path))
  await drawn(page)
  return {
    page,
    context,
    deeds,
    async goTo(next) {
      await page.goto(`${server.url}${next}`)
      await drawn(page)
    },
  }
}

/** Until nothing is loading and the rows that are there have their words. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForSelector("#app > *")
  await page.waitForFunction(() => document.querySelector(".loading") === null, undefined, { timeout: 20_000 })
  await page.waitForLoadState("load")
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

const pictures = fileURLToPath(new URL("../../../../.test-results/ui/", import.meta.url))

/** For a person to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true })
  await page.waitForTimeout(250)
  await page.screenshot({ path: `${pictures}${name}.png` })
}
