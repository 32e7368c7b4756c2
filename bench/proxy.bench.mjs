// The recording proxy between a client and a model on this machine: what it adds to a call, to a chunk and to memory, and how many calls it
// carries beside @portkey-ai/gateway, which forwards and does not record. Every server is a process of its own.
import { fork, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { median, row, times } from "./measure.mjs"

export const title = "The recording proxy"

const SERVERS = fileURLToPath(new URL("proxy-servers.mjs", import.meta.url))
const GATEWAY = fileURLToPath(import.meta.resolve("@portkey-ai/gateway/build/start-server.js"))
const GATEWAY_PORT = 18_787
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const upstream = fork(SERVERS, ["upstream"])
  const direct = `http://127.0.0.1:${(await nextMessage(upstream)).port}`
  const proxy = fork(SERVERS, ["proxy", direct, folder])
  const { url: proxied } = await nextMessage(proxy)
  const gateway = spawn(process.execPath, [GATEWAY, "--headless", `--port=${GATEWAY_PORT}`], { stdio: "ignore" })
  try {
    const repeating = conversation("same")
    const added = await addedTime(direct, proxied, () => repeating())
    const cold = await addedTime(direct, proxied, () => conversation(String(Math.random()))())
    const chunks = { direct: await chunkDelay(direct), proxied: await chunkDelay(proxied) }
    const gatewayUp = await waitFor(`http://127.0.0.1:${GATEWAY_PORT}/`)
    const throughput = await carried({
      direct: { url: `${direct}/v1/chat/completions`, headers: {} },
      orangebox: { url: `${proxied}/v1/chat/completions`, headers: {} },
      ...(gatewayUp
        ? {
            portkey: {
              url: `http://127.0.0.1:${GATEWAY_PORT}/v1/chat/completions`,
              headers: {
                "x-portkey-provider": "openai",
                "x-portkey-custom-host": `${direct}/v1`,
                authorization: "Bearer x",
              },
            },
          }
        : {}),
    })
    const memory = await largeBodies(proxy, proxied)
    const millis = (value) => `${value.toFixed(2)} ms`
    const ratio = throughput.portkey ? throughput.orangebox / throughput.portkey : undefined
    return [
      row("first byte of the answer to 50 KB, direct, p50", millis(added.direct)),
      row("added by the proxy, most of it as in the last call, p50", millis(added.added), "< 1 ms", added.added < 1),
      row("added by the proxy, nothing as in the last call, p50", millis(cold.added), "< 3 ms", cold.added < 3),
      row("a chunk on its way, direct, p50", millis(chunks.direct)),
      row("a chunk on its way, through the proxy, p50", millis(chunks.proxied)),
      row("calls a second at 64 parallel, direct", throughput.direct.toFixed(0)),
      row("calls a second at 64 parallel, recorded", throughput.orangebox.toFixed(0)),
      row("calls a second at 64 parallel, @portkey-ai/gateway", throughput.portkey?.toFixed(0) ?? "did not start"),
      row(
        "recorded : gateway",
        ratio === undefined ? "?" : times(ratio),
        "≥ 2 ×",
        ratio === undefined ? undefined : ratio >= 2,
      ),
      row("memory added by a 200 MB answer", `${memory.down.toFixed(0)} MB`, "≤ 100 MB", memory.down <= 100),
      row("memory added by a 200 MB request", `${memory.up.toFixed(0)} MB`, "≤ 150 MB", memory.up <= 150),
    ]
  } finally {
    for (const child of [upstream, proxy, gateway]) child.kill("SIGKILL")
    agent.destroy()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Requests of one agent session: the same 50 KB every time, and a new question at the end. */
function conversation(seed) {
  const messages = [{ role: "system", content: `You are a careful engineer (${seed}). `.repeat(100) }]
  for (let n = 0; n < 40; n++) {
    messages.push({ role: "user", content: `${seed} question ${n}: ${"what does this line do? ".repeat(15)}` })
    messages.push({
      role: "assistant",
      content: `${seed} answer ${n}: ${"it reads the next part of the body. ".repeat(15)}`,
    })
  }
  const tools = Array.from({ length: 10 }, (_, n) => ({
    type: "function",
    function: {
      name: `tool_${n}`,
      description: "Does one thing well. ".repeat(20),
      parameters: { type: "object", properties: { path: { type: "string" } } },
    },
  }))
  let count = 0
  return () =>
    Buffer.from(
      JSON.stringify({ model: "gpt-5", tools, messages: [...messages, { role: "user", content: `go on ${count++}` }] }),
    )
}

/** Direct and proxied calls take turns, so that a slow moment of the machine hits both. */
async function addedTime(direct, proxied, body) {
  const path = "/v1/chat/completions"
  const found = { direct: [], proxied: [] }
  for (let round = -100; round < 300; round++) {
    const bytes = body()
    const a = await firstByte(direct + path, bytes)
    const b = await firstByte(proxied + path, bytes)
    if (round < 0) continue
    found.direct.push(a)
    found.proxied.push(b)
  }
  return { direct: median(found.direct), added: median(found.proxied) - median(found.direct) }
}

async function firstByte(url, body) {
  const start = performance.now()
  let at
  await call(url, body, {}, agent, () => {
    at ??= performance.now()
  })
  return at - start
}

function call(url, body, headers = {}, through = agent, onData = () => {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      agent: through,
      headers: { "content-type": "application/json", "content-length": body.length, ...headers },
    })
    sent.on("response", (response) => {
      response.on("data", onData)
      response.on("end", () => resolve(response.statusCode))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

function chunkDelay(origin) {
  return new Promise((resolve, reject) => {
    const delays = []
    request(`${origin}/ticks/300`, { agent }, (response) => {
      response.on("data", (piece) => {
        const now = process.hrtime.bigint()
        for (const [, sent] of piece.toString().matchAll(/data: (\d+)/g)) delays.push(Number(now - BigInt(sent)) / 1e6)
      })
      response.on("end", () => resolve(median(delays)))
    })
      .on("error", reject)
      .end()
  })
}

/** In turns, for the same reason. */
async function carried(contenders) {
  const counts = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  const body = conversation("load")
  for (let round = -1; round < 5; round++) {
    for (const [name, { url, headers }] of Object.entries(contenders)) {
      const found = await load(url, headers, body, 700)
      if (round >= 0) counts[name].push(found)
    }
  }
  return Object.fromEntries(Object.entries(counts).map(([name, found]) => [name, median(found)]))
}

async function load(url, headers, body, forMs) {
  const start = performance.now()
  const until = start + forMs
  let done = 0
  // Connections of its own: those of the last round may be closing just now.
  const own = new Agent({ keepAlive: true, maxSockets: 64 })
  const worker = async () => {
    while (performance.now() < until) {
      const status = await call(url, body(), headers, own)
      if (status !== 200) throw new Error(`${url} answered ${status}`)
      done++
    }
  }
  await Promise.all(Array.from({ length: 64 }, worker))
  own.destroy()
  return (done * 1000) / (performance.now() - start)
}

async function largeBodies(proxy, proxied) {
  const bytes = 200 * 1024 * 1024
  const before = await peakOf(proxy)
  await drained(`${proxied}/download/${bytes}`)
  const down = (await peakOf(proxy)) - before
  const rested = await peakOf(proxy)
  await uploaded(`${proxied}/upload`, bytes)
  const up = (await peakOf(proxy)) - rested
  return { down: Math.max(0, down) / 2 ** 20, up: Math.max(0, up) / 2 ** 20 }
}

async function peakOf(proxy) {
  const answer = nextMessage(proxy)
  proxy.send("peak")
  return (await answer).peak
}

function drained(url) {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.on("data", () => {})
      response.on("end", resolve)
    })
      .on("error", reject)
      .end()
  })
}

function uploaded(url, bytes) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers: { "content-length": bytes } }, (response) => {
      response.resume()
      response.on("end", resolve)
    })
    sent.on("error", reject)
    const piece = Buffer.alloc(64 * 1024, "u")
    let left = bytes
    const fill = () => {
      while (left > 0) {
        left -= piece.length
        if (!sent.write(piece)) return sent.once("drain", fill)
      }
      sent.end()
    }
    fill()
  })
}

const nextMessage = (child) => new Promise((resolve) => child.once("message", resolve))

async function waitFor(url) {
  for (let tries = 0; tries < 50; tries++) {
    try {
      await drained(url)
      return true
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  return false
}
