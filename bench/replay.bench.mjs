// An agent's calls answered from a tape through the proxy, byte for byte as they were recorded, while the replay is itself recorded into a data
// folder. The proxy is a process of its own; the calls are made from here, one after the other and 64 at a time.
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { median, row } from "./measure.mjs"
import { requestOf } from "./replay-requests.mjs"

export const title = "Exact replay through the proxy"

const CALLS = 2_000
const ROUNDS = 5
const BOUND = 1_000
const SERVER = fileURLToPath(new URL("replay-servers.mjs", import.meta.url))

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const server = fork(SERVER, [String(CALLS), folder])
  const bodies = Array.from({ length: CALLS }, (_, n) => requestOf(n))
  try {
    await nextMessage(server)
    const rates = { 1: [], 64: [] }
    const cpu = []
    let certified = 0
    // The first round of each warms up.
    for (let round = -1; round < ROUNDS; round++) {
      for (const parallel of [1, 64]) {
        const { url } = await told(server, "start")
        const rate = await askAll(`${url}/v1/chat/completions`, bodies, parallel)
        const { issued, sockets, cpuMicros } = await told(server, "stop")
        if (sockets !== 0) throw new Error(`${sockets} upstream connections`)
        if (issued) certified++
        if (round < 0) continue
        rates[parallel].push(rate)
        cpu.push(cpuMicros / CALLS)
      }
    }
    const [alone, many] = [median(rates[1]), median(rates[64])]
    return [
      row(`calls a second at 64 parallel, ${CALLS} recorded`, many.toFixed(0), `≥ ${BOUND}`, many >= BOUND),
      row("calls a second one after the other", alone.toFixed(0)),
      // Says what the rate would be where other work does not take the processor away.
      row("processor time of the proxy for a call", `${(median(cpu) / 1000).toFixed(2)} ms`),
      row("replays certified", `${certified} of ${(ROUNDS + 1) * 2}`, "all", certified === (ROUNDS + 1) * 2),
    ]
  } finally {
    server.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
}

async function askAll(url, bodies, parallel) {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel })
  const start = performance.now()
  let next = 0
  const worker = async () => {
    while (next < bodies.length) {
      const status = await call(url, bodies[next++], agent)
      if (status !== 200) throw new Error(`${url} answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  const rate = (bodies.length * 1000) / (performance.now() - start)
  agent.destroy()
  return rate
}

function call(url, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length }
    const sent = request(url, { method: "POST", agent, headers })
    sent.on("response", (response) => {
      response.resume()
      response.on("end", () => resolve(response.statusCode))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

const nextMessage = (child) => new Promise((resolve) => child.once("message", resolve))

function told(child, message) {
  const answer = nextMessage(child)
  child.send(message)
  return answer
}
