// What the capture edge asks about every model request before it leaves: its tree, its anatomy, its signatures, its lane. Cold is a request
// like none before; warm is the request before it with two more messages and the cache mark moved, which is what agents send.
// The quickest of many rounds counts: what else runs on the machine can only add.
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import {
  callSignature,
  createRequestMemory,
  dialectOf,
  EMPTY_WIRE_STATE,
  readBody,
  readRequest,
  reduceWire,
  responseFolder,
} from "@orangebox/dialects"
import { micros, row } from "./measure.mjs"
import { generatedSession } from "./sessions.mjs"

export const title = "Reading a model request at capture"

const dialect = dialectOf("anthropic-messages")
const address = { method: "POST", path: "/v1/messages", host: "api.anthropic.com" }

export async function run() {
  const { cold, warm, ...small } = requestCosts({ seed: 1, calls: 31, bytesPerCall: 830 })
  const large = requestCosts({ seed: 2, calls: 120, bytesPerCall: 2_600 })
  return [
    ...costRows(small.what, { cold, warm }),
    row("all four, cold", micros(cold.all), "≤ 1.2 ms", cold.all <= 1_200_000),
    row("all four, warm", micros(warm.all), "≤ 0.4 ms", warm.all <= 400_000),
    ...costRows(large.what, large),
    row("all four, cold", micros(large.cold.all)),
    row("all four, warm", micros(large.warm.all)),
    row("memory kept by 300 requests of a growing session", `${(keptBytes() / 2 ** 20).toFixed(1)} MiB`),
    row("folding an SSE stream of 250 KB in reads of 1 KB", `${foldingSpeed().toFixed(0)} MB/s`),
  ]
}

function costRows(what, { cold, warm }) {
  const costs = Object.keys(cold).filter((name) => name !== "all")
  return [
    row("one request", what),
    ...costs.map((name) => row(`${name}, cold / warm`, `${micros(cold[name])} / ${micros(warm[name])}`)),
  ]
}

function requestCosts(plan) {
  const requests = generatedSession({ ...plan, style: "anthropic" }).filter((_, index) => index % 4 === 0)
  const [before, request] = requests.slice(-2)
  const parts = readRequest(dialect, request).parts.length
  const cold = {}
  const warm = {}
  const rounds = Math.ceil(40_000_000 / request.length)
  for (let round = 0; round < rounds; round++) ask(before, EMPTY_WIRE_STATE, createRequestMemory(), cold)
  const memory = createRequestMemory()
  const state = ask(before, EMPTY_WIRE_STATE, memory, {})
  for (let round = 0; round < 2 * rounds; round++) {
    ask(before, state, memory, {})
    ask(request, state, memory, warm)
  }
  return { what: `${Math.round(request.length / 1000)} KB, ${parts} parts`, cold, warm }
}

/** Asks everything, and keeps the shortest time that each question ever took. */
function ask(bytes, state, memory, shortest) {
  const start = process.hrtime.bigint()
  let last = start
  const note = (name, since) => {
    last = process.hrtime.bigint()
    shortest[name] = Math.min(Number(last - since), shortest[name] ?? Number.POSITIVE_INFINITY)
  }
  const body = readBody(bytes, memory)
  note("readBody", last)
  readRequest(dialect, body, address.path)
  note("readRequest", last)
  callSignature({ ...address, body, dialect, headers: {}, contentType: "application/json" })
  note("callSignature", last)
  const step = reduceWire(state, { kind: "request", call: "call", atMs: 0, ...address, headers: {}, body })
  note("reduceWire", last)
  note("all", start)
  return step.state
}

// Values taken over from request to request must not keep the texts alive that they were read from.
function keptBytes() {
  const requests = generatedSession({ seed: 3, calls: 300, bytesPerCall: 1_000, style: "anthropic" })
  const memory = createRequestMemory()
  const before = heapUsed()
  requests.forEach((bytes, index) => {
    if (index % 4 === 0) ask(bytes, EMPTY_WIRE_STATE, memory, {})
  })
  const after = heapUsed()
  // Used once more, so that it is still there to be measured.
  return memory.find("") === undefined ? after - before : 0
}

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc")

function heapUsed() {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

function foldingSpeed() {
  const stream = answerStream(250_000)
  let shortest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 60; round++) {
    const start = process.hrtime.bigint()
    const folder = responseFolder(dialect)
    for (let at = 0; at < stream.length; at += 1_024) folder.push(stream.subarray(at, at + 1_024))
    folder.finish()
    shortest = Math.min(shortest, Number(process.hrtime.bigint() - start))
  }
  return (stream.length / shortest) * 1_000
}

function answerStream(length) {
  const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const usage = { input_tokens: 12, output_tokens: 1 }
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [], usage }
  let text = event({ type: "message_start", message })
  text += event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
  const delta = { type: "text_delta", text: 'reads the file, finds "null"\n' }
  while (text.length < length) text += event({ type: "content_block_delta", index: 0, delta })
  text += event({ type: "content_block_stop", index: 0 })
  text += event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 900 } })
  return Buffer.from(text + event({ type: "message_stop" }))
}
