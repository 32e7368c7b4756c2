// What the web UI costs in a real browser: real recorder, store and server, Chromium without a screen. The median of a few rounds counts.
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { startServer } from "@orangebox/server"
import { chromium } from "playwright-core"
import { filledStore } from "./filled-store.mjs"
import { median, row } from "./measure.mjs"

export const title = "The web UI in Chromium"

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/google-chrome"]
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]
const ROUNDS = Number(process.argv[process.argv.indexOf("--rounds") + 1]) || 5
const BUILT = new URL("../packages/web/built", import.meta.url).pathname
const ANSWER_SCRIPT = new URL("../packages/cli/bundle/answer-worker.js", import.meta.url)

export async function run() {
  const executablePath = BROWSERS.find(existsSync)
  if (executablePath === undefined) return [row("skipped: no Chromium", "")]
  const data = mkdtempSync(join(tmpdir(), "orangebox-ui-bench-"))
  const long = await recordLongRun(data)
  const session = await recordSession(data, 439)
  const dense = await recordSession(data, 439, 11)
  const browser = await chromium.launch({ executablePath, args: FLAGS })
  const rows = []
  try {
    const cold = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await serve(data)
      const page = await openPage(browser, server, "/search")
      cold.push(await readyMillis(page, `${server.url}/runs/${long}`))
      await page.context().close()
      await server.close()
    }
    const server = await serve(data)
    const page = await openPage(browser, server, "/search")
    await readyMillis(page, `${server.url}/runs/${long}`)
    const warm = []
    for (let round = 0; round < ROUNDS; round += 1) warm.push(await readyMillis(page, `${server.url}/runs/${long}`))
    rows.push(
      bounded("10,000 steps: address → rows and detail, cold server", median(cold), "ms", 1500),
      bounded("  the same, warm", median(warm), "ms", 500),
    )

    const client = await page.context().newCDPSession(page)
    await client.send("Performance.enable")
    const before = await workOf(client)
    const { p95, frames, empty } = await scrollThrough(page)
    const work = ((await workOf(client)) - before) / frames
    rows.push(bounded("  scrolled from end to end in 5 s: p95 of a frame", p95, "ms", 18))
    rows.push(bounded("  of it scripts, styles and layout, in the mean", work, "ms", 8))
    rows.push(row("  frames with a place without a row", String(empty), "0", empty === 0))
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length)
    rows.push(row("  elements", String(nodes), "< 2,500", nodes < 2500))

    for (const run of [session, dense]) {
      const draws = []
      for (let round = 0; round < ROUNDS; round += 1) {
        await readyMillis(page, `${server.url}/runs/${run}`)
        await page.waitForFunction(() => performance.getEntriesByName("strata-draw").length > 1, undefined, {
          timeout: 60_000,
        })
        draws.push(
          await page.evaluate(() =>
            Math.max(...performance.getEntriesByName("strata-draw").map(({ duration }) => duration)),
          ),
        )
      }
      const bands = await strataSize(server, run)
      rows.push(bounded(`439 calls, ${bands.toLocaleString("en")} bands: strata drawn`, median(draws), "ms", 16))
    }

    for (let opened = 0; opened < 10; opened += 1)
      await readyMillis(page, `${server.url}/runs/${opened % 2 ? long : session}`)
    await client.send("HeapProfiler.collectGarbage")
    const { metrics } = await client.send("Performance.getMetrics")
    const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1e6
    rows.push(bounded("heap after ten runs were opened", heap, "MB", 80))

    rows.push(await liveRow(browser, data))
    await page.context().close()
    await server.close()
    if (process.argv.includes("--many")) rows.push(...(await manyRuns(browser)))
  } finally {
    await browser.close()
    rmSync(data, { recursive: true, force: true })
  }
  return rows
}

const bounded = (what, value, unit, bound) =>
  row(what, `${value.toFixed(1)} ${unit}`, `< ${bound} ${unit}`, value < bound)

const serve = (data) =>
  startServer({
    ...{ data, version: "bench", port: 0, isPortFixed: true, collects: true },
    ...{ webFolder: BUILT, answerScript: ANSWER_SCRIPT },
  })

async function openPage(browser, server, path) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(server.addressWithCode(path))
  await page.waitForSelector(".top")
  return page
}

/** From the address to the mark that the page sets when rows and detail are painted. */
async function readyMillis(page, address) {
  await page.goto(address, { waitUntil: "commit" })
  await page.waitForFunction(() => performance.getEntriesByName("run-ready").length > 0, undefined, { timeout: 60_000 })
  return page.evaluate(() => performance.getEntriesByName("run-ready")[0].startTime)
}

/** Milliseconds of scripts, styles and layout so far. */
async function workOf(client) {
  const { metrics } = await client.send("Performance.getMetrics")
  const names = ["ScriptDuration", "RecalcStyleDuration", "LayoutDuration"]
  return 1000 * metrics.reduce((sum, { name, value }) => sum + (names.includes(name) ? value : 0), 0)
}

function scrollThrough(page) {
  return page.evaluate(async () => {
    const list = document.querySelector(".rows")
    const { left, top, width, height } = list.getBoundingClientRect()
    const frames = []
    let empty = 0
    const begin = performance.now()
    let last = begin
    while (last - begin < 5000) {
      list.scrollTop = ((list.scrollHeight - list.clientHeight) * (last - begin)) / 5000
      const now = await new Promise(requestAnimationFrame)
      frames.push(now - last)
      last = now
      const places = [0.1, 0.5, 0.9].map((share) => document.elementFromPoint(left + width / 3, top + height * share))
      if (places.some((place) => place?.closest(".row") == null)) empty += 1
    }
    frames.sort((a, b) => a - b)
    return { p95: frames[Math.floor(frames.length * 0.95)], frames: frames.length, empty }
  })
}

async function strataSize(server, runId) {
  const { code } = /#k=(?<code>.*)$/.exec(server.addressWithCode("/")).groups
  const { key } = await (
    await fetch(`${server.url}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    })
  ).json()
  const answer = await fetch(`${server.url}/api/v1/runs/${runId}/strata`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return (await answer.json()).bands.length
}

/** From the end of a step to its bar in the page, while 200 events a second come in. */
async function liveRow(browser, data) {
  const server = await serve(data)
  const recorder = Recorder.open({ app: "bench", folder: data })
  const run = recorder.startRun({ entrypoint: "live" })
  run.step("begins").end()
  const page = await openPage(browser, server, "/runs")
  await page.goto(`${server.url}/runs/${run.id}`)
  await page.waitForSelector("#step-2", { timeout: 20_000 })
  let n = 2
  const noise = setInterval(() => {
    n += 1
    run.step(`noise ${n}`).end()
  }, 10)
  const waits = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await new Promise((resume) => setTimeout(resume, 500))
    run.step("told").end()
    n += 1
    const told = n
    const begin = performance.now()
    await page.waitForFunction(
      (at) => Number(document.querySelector(".rows-inside")?.style.height.replace("px", "")) >= at * 22,
      told,
      {
        timeout: 20_000,
        polling: "raf",
      },
    )
    waits.push(performance.now() - begin)
  }
  clearInterval(noise)
  run.complete({})
  recorder.close()
  await page.context().close()
  await server.close()
  return bounded("event → painted, at 200 events a second", median(waits), "ms", 500)
}

/** With `--many`: the list of runs of a large store. */
async function manyRuns(browser) {
  const { store, runs, folder } = await filledStore(2_500_000)
  await store.close()
  const server = await serve(folder)
  const page = await openPage(browser, server, "/search")
  const first = []
  const jumps = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const begin = performance.now()
    await page.goto(`${server.url}/runs`)
    await page.waitForSelector(".run-row .who")
    first.push(performance.now() - begin)
    const jump = performance.now()
    await page.evaluate(
      (share) => {
        const list = document.querySelector(".rows")
        list.scrollTop = list.scrollHeight * share
      },
      0.3 + round / 10,
    )
    await page.waitForFunction(() => document.querySelectorAll(".run-row .who").length > 20)
    jumps.push(performance.now() - jump)
  }
  await page.context().close()
  await server.close()
  return [
    bounded(`${runs.toLocaleString("en")} runs: first page`, median(first), "ms", 300),
    bounded("  a jump by the scrollbar", median(jumps), "ms", 200),
  ]
}

async function recordLongRun(folder) {
  const recorder = Recorder.open({ app: "bench", folder })
  const run = recorder.startRun({ entrypoint: "long", input: "ten thousand steps" })
  for (let turn = 0; turn < 100; turn += 1) {
    const step = run.step(`turn-${turn}`)
    for (let one = 0; one < 99; one += 1) step.child(`count ${turn * 99 + one}`).end()
    step.end()
    await new Promise((resume) => setImmediate(resume))
  }
  run.complete({})
  recorder.close()
  return run.id
}

/** A session of so many model calls with a growing prompt of so many pieces a call; about every twelfth finds its cache lost. */
export async function recordSession(folder, calls, pieces = 1) {
  let call = 0
  let sent = 0
  const model = createServer((request, response) => {
    const pieces = []
    request.on("data", (piece) => pieces.push(piece))
    request.on("end", () => {
      const tokens = Math.round(Buffer.concat(pieces).length / 4)
      const isLost = call % 12 === 7
      const read = call === 0 || isLost ? 0 : sent
      sent = tokens
      response.writeHead(200, { "content-type": "application/json" })
      const usage = {
        input_tokens: 5,
        output_tokens: 30,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: tokens - read,
      }
      const message = {
        id: `msg_${call}`,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        stop_reason: "end_turn",
        usage,
      }
      response.end(JSON.stringify({ ...message, content: [{ type: "text", text: `answer ${call}` }] }))
    })
  })
  await new Promise((resume) => model.listen(0, "127.0.0.1", resume))
  const url = `http://127.0.0.1:${model.address().port}/v1/messages`
  const recorder = Recorder.open({ app: "bench", folder })
  const run = recorder.startRun({ entrypoint: "session", input: "a long session" })
  const messages = []
  for (; call < calls; call += 1) {
    const mark = { cache_control: { type: "ephemeral" } }
    const words = "words and more words ".repeat(call % 9 === 0 ? 60 : 8)
    const content = Array.from({ length: pieces }, (_, at) => ({
      type: "text",
      text: `question ${call} ${at} ${words.slice(0, Math.ceil(words.length / pieces))}`,
    }))
    messages.push({ role: "user", content })
    const sentNow = messages.map((one, at) =>
      at === messages.length - 1
        ? { ...one, content: [...one.content.slice(0, -1), { ...one.content.at(-1), ...mark }] }
        : one,
    )
    const tools = [{ name: "read_file", description: "Reads a file. ".repeat(40), input_schema: { type: "object" } }]
    const system = [{ type: "text", text: "You are careful. ".repeat(120), ...mark }]
    const response = await run.fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 99, tools, system, messages: sentNow }),
    })
    await response.text()
    messages.push({ role: "assistant", content: [{ type: "text", text: `answer ${call}` }] })
  }
  run.complete({})
  recorder.close()
  await new Promise((resume) => model.close(resume))
  return run.id
}
