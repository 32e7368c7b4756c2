// The pictures in README and docs: the demo, recorded anew, in the real page, in both themes. `node scripts/readme-pictures.mjs`
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"

const BIN = "packages/cli/bin/orangebox.js"
const data = mkdtempSync(join(tmpdir(), "orangebox-pictures-"))
execFileSync(process.execPath, [BIN, "demo", "--data", data], { stdio: ["ignore", "ignore", "inherit"] })
const server = spawn(process.execPath, [BIN, "ui", "--no-open", "--json", "--data", data])
const { address } = JSON.parse(
  await new Promise((resolve) => server.stdout.once("data", (text) => resolve(String(text)))),
)
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
})
mkdirSync("docs/images", { recursive: true })
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
const page = await context.newPage()
await page.goto(address)
await page.waitForSelector(".run-row")
await page.locator(".run-row", { hasText: "fix-leap-years" }).click()
await page.waitForSelector(".row .words")
await page.locator("#step-14").click()
for (const theme of ["light", "dark"]) {
  await page.emulateMedia({ colorScheme: theme })
  await page.waitForFunction(() => document.querySelectorAll(".finds li").length >= 4)
  await page.waitForSelector(".head .pill.bad")
  await page.waitForTimeout(500)
  await page.mouse.move(0, 0)
  await page.screenshot({ path: `docs/images/run-${theme}.png` })
}
await browser.close()
server.kill("SIGTERM")
rmSync(data, { recursive: true, force: true })
