// What other programs send and have on disk: taking in OTLP, journal and redaction included, against decoding the same requests and nothing
// else; and importing transcripts, how fast and in how much memory. In processor time, because a disk shared with others tells little.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { findSources, importSources, OtlpDoor } from "@orangebox/exchange"
import { Recorder } from "@orangebox/recorder"
import { decodeProtobufRequest, encodeJsonRequest } from "../packages/exchange/dist/formats/otlp/decode-protobuf.js"
import { row, times } from "./measure.mjs"

export const title = "Exchange: OTLP in, imports"

export async function run() {
  const otlp = await otlpRows()
  return [...otlp, ...(await importRows())]
}

// ── OTLP in ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const REQUESTS = 60

async function otlpRows() {
  // By the specification messages are left out unless somebody asks for them; with them, nearly all of a request is text to search.
  const plain = await measured(false)
  const talking = await measured(true)
  const { bytes, alone, taken, told } = plain
  const rate = (size, seconds) => `${(size / seconds / 1e6).toFixed(1)} MB/s`
  return [
    row("OTLP requests without messages", `${REQUESTS}, ${(bytes / 1e6).toFixed(1)} MB of protobuf`),
    row("decoding alone", rate(bytes, alone)),
    row("until the 200: decoded, redacted, in the journal", rate(bytes, taken)),
    row("making runs of it afterwards", rate(bytes, told)),
    row("until the 200 : decoding alone", times(alone / taken), "≥ 0.5 ×", alone / taken >= 0.5),
    row("OTLP requests with messages", `${REQUESTS}, ${(talking.bytes / 1e6).toFixed(1)} MB of protobuf`),
    row("decoding alone", rate(talking.bytes, talking.alone)),
    row("until the 200", rate(talking.bytes, talking.taken)),
  ]
}

async function measured(hasMessages) {
  const requests = Array.from({ length: REQUESTS }, (_, at) => encodeJsonRequest("traces", requestOf(at, hasMessages)))
  const decode = []
  const ours = []
  for (let round = 0; round < 12; round++) {
    decode.push(
      await cpuOf(() => {
        for (const request of requests) decodeProtobufRequest("traces", request)
      }),
    )
    ours.push(await takeIn(requests))
  }
  return {
    bytes: requests.reduce((sum, request) => sum + request.length, 0),
    alone: Math.min(...decode),
    taken: Math.min(...ours.map(({ take }) => take)),
    told: Math.min(...ours.map(({ tell }) => tell)),
  }
}

async function takeIn(requests) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const recorder = Recorder.open({ app: "bench", folder, enabled: true })
  const door = new OtlpDoor({ recorder, lookUp: async () => undefined })
  const headers = { "content-type": "application/x-protobuf" }
  const take = await cpuOf(async () => {
    for (const request of requests) {
      const { status } = await door.handle("/v1/traces", headers, request)
      if (status !== 200) throw new Error(`answered ${status}`)
    }
  })
  const tell = await cpuOf(() => door.flush())
  recorder.close()
  rmSync(folder, { recursive: true, force: true })
  return { take, tell }
}

/** An agent whose history grows, as agents send it. */
function requestOf(no, hasMessages) {
  const trace = (no + 1).toString(16).padStart(32, "0")
  const id = (at) => (no * 100 + at + 1).toString(16).padStart(16, "0")
  const messages = []
  const spans = [spanOf(trace, id(0), undefined, "invoke_agent bench", { "gen_ai.operation.name": "invoke_agent" }, 0)]
  for (let at = 1; at <= (hasMessages ? 12 : 90); at++) {
    messages.push({
      role: at % 2 === 1 ? "user" : "assistant",
      parts: [{ type: "text", content: proseOf(no * 31 + at, 1500) }],
    })
    spans.push(
      spanOf(
        trace,
        id(at),
        id(0),
        "chat gpt-5",
        {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "openai",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.usage.input_tokens": 400 * at,
          "gen_ai.usage.output_tokens": 40,
          "gen_ai.response.id": `chatcmpl-${no}-${at}`,
          "gen_ai.response.model": "gpt-5-2026-08-07",
          "gen_ai.conversation.id": `conversation-${no}`,
          "gen_ai.usage.cache_read.input_tokens": 300 * at,
          "server.address": "127.0.0.1",
          "server.port": 8443,
          ...(hasMessages ? messagesSent(messages, no * 37 + at) : {}),
        },
        at,
      ),
    )
  }
  return {
    resourceSpans: [
      {
        resource: { attributes: pairs({ "service.name": "bench" }) },
        scopeSpans: [{ scope: { name: "bench" }, spans }],
      },
    ],
  }
}

const messagesSent = (messages, seed) => ({
  "gen_ai.input.messages": JSON.stringify(messages),
  "gen_ai.output.messages": JSON.stringify([
    { role: "assistant", parts: [{ type: "text", content: proseOf(seed, 600) }] },
  ]),
})

function spanOf(traceId, spanId, parentSpanId, name, attributes, at) {
  const start = 1_770_000_000_000 + at * 1000
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: 1,
    startTimeUnixNano: `${start}000000`,
    endTimeUnixNano: `${start + 900}000000`,
    attributes: pairs(attributes),
  }
}

const pairs = (attributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }))

const WORDS =
  "the a run step agent model answer asks reads writes file test path error line of in with and not done day month year leap wrong right".split(
    " ",
  )

function proseOf(seed, length) {
  let text = ""
  let state = seed * 2654435761
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += `${WORDS[state % WORDS.length]}${state % 11 === 0 ? `_${state.toString(36)}` : ""} `
  }
  return text
}

// ── Imports ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const SMALL_MB = 8
const LARGE_MB = 32

async function importRows() {
  const small = await importOf(SMALL_MB)
  const large = await importOf(LARGE_MB)
  const rate = (seconds) => `${(large.bytes / seconds / 1e6).toFixed(1)} MB/s`
  // The command reads in one process while another one indexes: the slower of the two is how long it takes.
  const slower = Math.max(large.journal, large.store)
  return [
    row("transcripts imported", `${(large.bytes / 1e6).toFixed(0)} MB, ${large.events.toLocaleString("en")} events`),
    row("read, redacted, in the journal (processor time)", rate(large.journal)),
    row("from the journal into the store, indexed (processor time)", rate(large.store)),
    row("a gigabyte, with a core for each", `${(((slower / large.bytes) * 1e9) / 60).toFixed(1)} min`, "minutes"),
    row("the same once more, nothing new", rate(large.again)),
    row(`memory at its most, ${SMALL_MB} and ${LARGE_MB} MB`, `${mb(small.rss)} and ${mb(large.rss)}`),
    row(
      `memory for ${LARGE_MB} MB : for ${SMALL_MB} MB`,
      times(large.rss / small.rss),
      "≤ 1.5 ×",
      large.rss / small.rss <= 1.5,
    ),
  ]
}

const mb = (bytes) => `${Math.round(bytes / 1e6)} MB`

async function importOf(megabytes) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const project = join(folder, "projects", "-bench")
  mkdirSync(project, { recursive: true })
  let bytes = 0
  for (let session = 0; bytes < megabytes * 1e6; session++) {
    const path = join(project, `session-${session}.jsonl`)
    writeFileSync(path, transcript(session))
    bytes += statSync(path).size
  }
  const data = join(folder, "data")
  let rss = 0
  const look = setInterval(() => {
    rss = Math.max(rss, process.memoryUsage.rss())
  }, 20)
  const { sources } = await findSources([join(folder, "projects")])
  const known = new Map()
  const once = async () => {
    const recorder = Recorder.open({ app: "bench", folder: data, enabled: true })
    const imported = await importSources(sources, {
      recorder,
      lookUp: async (runId) => known.get(runId),
      nowMs: Date.now(),
      onProgress: () => {
        rss = Math.max(rss, process.memoryUsage.rss())
      },
    })
    recorder.close()
    return imported
  }
  let events = 0
  let runs = []
  globalThis.gc?.()
  const journal = await cpuOf(async () => ({ events, runs } = await once()))
  const store = await cpuOf(() => catchUp({ dataFolder: data }))
  for (const { runId, written } of runs) known.set(runId, { events: written, lastEventId: "" })
  const again = await cpuOf(once)
  clearInterval(look)
  rmSync(folder, { recursive: true, force: true })
  return { bytes, events, journal, store, again, rss }
}

function transcript(session) {
  const lines = []
  let at = Date.UTC(2026, 2, 1) + session * 86_400_000
  const line = (type, rest) => {
    at += 2000
    lines.push(
      JSON.stringify({
        type,
        uuid: `${session}-${lines.length}`,
        sessionId: `session-${session}`,
        timestamp: new Date(at).toISOString(),
        cwd: "/home/ann/bench",
        version: "2.1.300",
        ...rest,
      }),
    )
  }
  for (let turn = 0; turn < 40; turn++) {
    const seed = session * 1000 + turn
    line("user", { message: { role: "user", content: proseOf(seed, 300) } })
    for (let call = 0; call < 4; call++) {
      const id = `msg_${seed}_${call}`
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: 4000,
        cache_creation_input_tokens: 20,
        output_tokens: 50 + call,
      }
      const said = (block) =>
        line("assistant", { message: { id, role: "assistant", model: "claude-sonnet-4-5", content: [block], usage } })
      said({ type: "text", text: proseOf(seed + call, 500) })
      said({ type: "tool_use", id: `toolu_${seed}_${call}`, name: "Read", input: { file_path: `src/${seed}.ts` } })
      line("user", {
        message: {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: `toolu_${seed}_${call}`, content: proseOf(seed * 7 + call, 4000) },
          ],
        },
      })
    }
  }
  return `${lines.join("\n")}\n`
}

async function cpuOf(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
