import { existsSync } from "node:fs"
import { chromium, type Page } from "playwright-core"

const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync)

/** Where this is false, what needs a browser is skipped. */
export const hasBrowser = executablePath !== undefined

/** What a page did by itself: a page of ours only ever asks for itself. */
export interface PageDeeds {
  readonly dialogs: readonly string[]
  readonly consoleLines: readonly string[]
  readonly requests: readonly string[]
}

/** Opens a file as a page in Chromium, hands it to `look`, and tells what the page did meanwhile. */
export async function inBrowser(path: string, look: (page: Page) => Promise<void>): Promise<PageDeeds> {
  const browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] })
  try {
    const page = await browser.newPage()
    const deeds = { dialogs: [] as string[], consoleLines: [] as string[], requests: [] as string[] }
    page.on("dialog", (dialog) => {
      deeds.dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    page.on("console", (message) => void deeds.consoleLines.push(message.text()))
    page.on("request", (request) => void deeds.requests.push(request.url()))
    await page.goto(`file://${path}`)
    await look(page)
    return deeds
  } finally {
    await browser.close()
  }
}

/** The deeds of a page that ran nothing and asked for nothing but itself. */
export const onlyOpened = (path: string): PageDeeds => ({ dialogs: [], consoleLines: [], requests: [`file://${path}`] })
