import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Scratch, scratchFolder } from "../command.js"
import { answerMessage, startModelServer } from "../model-server.js"
import { record } from "../recorded-run.js"
import { serveHere, type TestServer } from "../serving/http-server.js"
import { builtWeb, noBrowser, openUi, picture, startBrowser } from "./open-page.js"

/** Would run, load, navigate, close what it stands in, reorder what is read, or move a cursor, if it were anything but text. */
const HOSTILE = [
  `<script>globalThis.owned=1</script><img src=x onerror="globalThis.owned=2"><svg onload="globalThis.owned=3">`,
  `</script></style></title><iframe src="https://example.com/"></iframe><base href="https://example.com/">`,
  `<a href="javascript:globalThis.owned=4">x</a> javascript:globalThis.owned=5 [x](javascript:alert(1)) ![x](https://example.com/x.png)`,
  `"><style>*{display:none}</style>\${globalThis.owned=6}{{constructor.constructor('globalThis.owned=7')()}}`,
  "\u202egnp.exe\u2066\u200bhidden\u{e0041}\u001b[2J\u001b]0;owned\u0007\u009b31m\u0000\r forged",
].join(" ")
/** The same where a name may not be long. */
const NAME = `<img src=x onerror="globalThis.owned=10"> javascript:globalThis.owned=11 \u202egnp\u2066\u200b\u001b[2J\u0007`
const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.owned=8"><script>globalThis.owned=9</script></svg>`.repeat(
    4,
  ),
)
const LONG_LINE = "x".repeat(5_000_000)

describe.skipIf(noBrowser)(`a hostile run in the web UI${noBrowser ? `, skipped: ${noBrowser}` : ""}`, () => {
  let scratch: Scratch
  let server: TestServer
  let browser: Browser
  let runId: string
  beforeAll(async () => {
    scratch = scratchFolder()
    const model = await startModelServer((_, response) =>
      answerMessage(response, {
        id: NAME,
        model: `model ${NAME}`,
        content: [
          { type: "text", text: HOSTILE },
          { type: "tool_use", id: NAME, name: NAME, input: { [NAME]: HOSTILE } },
        ],
        stop_reason: "tool_use",
      }),
    )
    await record(
      scratch.path,
      async (recorder) => {
        const run = recorder.startRun({ entrypoint: `go ${NAME}`, input: HOSTILE, conversationId: NAME })
        runId = run.id
        const step = run.step(`plan ${NAME}`, { [`key ${NAME}`]: HOSTILE })
        step.log.warn(HOSTILE, { [NAME]: HOSTILE })
        for (const turn of [1, 2, 3]) {
          const request = {
            model: `model ${NAME}`,
            max_tokens: 9,
            system: HOSTILE,
            tools: [{ name: "tool", description: HOSTILE, input_schema: {} }],
            messages: [
              {
                role: "user",
                content: [
                  { type: "text", text: `${turn} ${HOSTILE}` },
                  { type: "image", source: { type: "base64", media_type: "image/png", data: SVG.toString("base64") } },
                ],
              },
            ],
          }
          const response = await step.fetch(`${model.origin}/v1/messages`, {
            method: "POST",
            headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
            body: JSON.stringify(request),
          })
          await response.text()
        }
        await step.tool({ name: `tool ${NAME}`, args: { a: HOSTILE } }, () => LONG_LINE)
        await step
          .tool({ name: NAME, args: { path: HOSTILE } }, () => {
            throw Object.assign(new Error(HOSTILE), { name: NAME })
          })
          .catch(() => {})
        step.end()
        run.fail(new Error(HOSTILE))
      },
      `app ${NAME}`,
    )
    await model.close()
    server = await serveHere(scratch.path, { webFolder: builtWeb })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    scratch.remove()
  })

  test("[O-05] nothing in it runs, nothing is asked from elsewhere, and the layout holds", async () => {
    const { page, goTo, deeds } = await openUi(browser, server)
    const { columns, words } = await server.json<{ columns: Record<string, number[]>; words: string[] }>(
      `/runs/${runId}/steps`,
    )
    const kinds = columns["kind"]!.map((at) => words[at]!)
    const [model, long] = [kinds.lastIndexOf("model") + 1, kinds.indexOf("tool") + 1]
    const addresses = [
      "/runs",
      `/runs/${runId}`,
      ...["conversation", "context", "cache", "request", "response", "events"].map(
        (tab) => `/runs/${runId}/${model}?tab=${tab}`,
      ),
      `/runs/${runId}/${long}?tab=tool`,
      `/runs/${runId}/${long + 1}?tab=tool`,
      `/runs/${runId}/${long}?tab=events`,
      `/runs/${runId}/${model}?strata=table&panel=findings`,
      `/runs/${runId}?view=report`,
      `/runs/${runId}/${model}?tab=context&why=${encodeURIComponent("<script>")}&find=${encodeURIComponent("<img src=x onerror=alert(1)>")}`,
      `/diff?a=${runId}&b=${runId}`,
      "/analytics?by=model",
      "/analytics?by=tool",
      `/search?text=${encodeURIComponent("owned")}`,
    ]
    const problems: string[] = []
    for (const address of addresses) {
      await goTo(address)
      await page.waitForTimeout(200)
      const state = await page.evaluate(() => ({
        owned: (globalThis as { owned?: unknown }).owned ?? null,
        wide: document.documentElement.scrollWidth - innerWidth,
        tall: document.documentElement.scrollHeight - innerHeight,
        foreign: document.querySelectorAll("iframe, object, embed, base, img, style, script:not([src^='/assets/'])")
          .length,
        links: [...document.querySelectorAll("a[href]")].filter((link) => !link.getAttribute("href")!.startsWith("/"))
          .length,
        nodes: document.querySelectorAll("*").length,
        longest: Math.max(
          0,
          ...[...document.querySelectorAll("span")].map(({ textContent }) => textContent?.length ?? 0),
        ),
      }))
      if (state.owned !== null || state.wide > 0 || state.tall > 0 || state.foreign > 0 || state.links > 0)
        problems.push(`${address}: ${JSON.stringify(state)}`)
      if (state.longest > 70_000) problems.push(`${address}: ${state.longest} characters in one element`)
      if (
        await page
          .locator("#app")
          .evaluate((app) => /[\u202a-\u202e\u2066-\u2069\u001b\u0007\u009b]/.test((app as HTMLElement).innerText))
      )
        problems.push(`${address}: a character that reorders or controls stands in the page`)
    }
    expect(problems).toEqual([])
    expect(deeds).toEqual([])
    expect(page.url()).toContain(server.url)
    await goTo(`/runs/${runId}/${model}`)
    await picture(page, "hostile-1440-dark")
  }, 120_000)

  test("[O-05] an image that is no image is not drawn, whatever it was called", async () => {
    const { page, deeds } = await openUi(browser, server, { path: `/runs/${runId}` })
    const { columns, words } = await server.json<{ columns: Record<string, number[]>; words: string[] }>(
      `/runs/${runId}/steps`,
    )
    const first = columns["kind"]!.findIndex((at) => words[at] === "model") + 1
    await page.goto(`${server.url}/runs/${runId}/${first}`)
    await page.locator(".card button").first().click()
    await page.waitForSelector(".card .warn")
    expect(await page.locator(".card .warn").first().innerText()).toContain("no picture here that may be shown")
    expect(await page.locator("img").count()).toBe(0)
    // The browser itself says that the server refused the picture.
    expect(deeds.filter((deed) => !deed.includes("status of 404"))).toEqual([])
  })
})
