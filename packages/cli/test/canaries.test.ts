import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { catchUp } from "@orangebox/collector"
import type { CaptureMode } from "@orangebox/contract"
import { startProxy } from "@orangebox/proxy"
import { Recorder } from "@orangebox/recorder"
import { isAbsent, openStoreReader } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, orangeboxHere } from "./command.js"

/**
 * Ten thousand secrets go in by every way there is; afterwards every byte that was stored or printed is searched for any of them. All carry
 * the same mark in their middle, where no mask shows anything, so one search finds whichever of them got through, whole or in part.
 */
const MARK = "zQ7kP1xW9v"
const CANARIES = 10_000
let made = 0

/** The same letters in every run of this file, so that one that got through is the same again. At most 40. */
let drawn = 0
const letters = (count: number): string =>
  createHash("sha512")
    .update(`canary ${drawn++}`)
    .digest("base64")
    .replace(/[^A-Za-z0-9]/g, "")
    .slice(0, count)

/** Known by its own form. */
function token(): string {
  made++
  return `ghp_${letters(8)}${MARK}${letters(18)}`
}

/** Known by what it is called. */
function assigned(): string {
  made++
  return `DB_PASSWORD="${letters(6)}9${MARK}${letters(8)}"`
}

/** Not secret at all: only `hashed` keeps it away. */
function prose(): string {
  made++
  return `${letters(8)}${MARK}${letters(6)}`
}

const kinds: { readonly [M in "redacted" | "hashed"]: () => string } = {
  redacted: () => (made % 3 === 0 ? assigned() : token()),
  hashed: () => (made % 3 === 0 ? prose() : made % 3 === 1 ? token() : assigned()),
}

let server: Server
let origin: string
let answer: (path: string) => { headers: Record<string, string>; pieces: Buffer[]; status?: number }

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", async () => {
      const { headers, pieces, status } = answer(request.url ?? "/")
      response.writeHead(status ?? 200, headers)
      for (const piece of pieces) {
        response.write(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

describe.each(["redacted", "hashed"] as const)("[X-04] [X-01] canaries under capture: %s", (mode) => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "orangebox-canaries-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test(`${CANARIES} of them, by every path, are in no byte of journal, database, packs or output`, {
    timeout: 420_000,
  }, async () => {
    made = 0
    await recordEverything(folder, mode, kinds[mode])
    expect(made).toBeGreaterThanOrEqual(CANARIES)
    expect(filesHolding(folder)).toEqual([])

    await catchUp({ dataFolder: folder })
    expect(filesHolding(folder)).toEqual([])
    expect(await storedHolding(folder)).toEqual([])

    for (const args of [
      ["runs", "--json"],
      ["show", "last", "--json", "--budget", "100000"],
      ["search", "redacted", "--json"],
      ["verify"],
      ["step", "last#2"],
    ]) {
      const { stdout, stderr } = await orangeboxHere([...args, "--data", folder])
      expect(needlesIn(Buffer.from(stdout + stderr))).toEqual([])
    }
    const { stdout } = await orangebox(["runs", "--json"], { env: { ORANGEBOX_HOME: folder } })
    expect(stdout).toContain("run_")
  })
})

async function recordEverything(folder: string, mode: CaptureMode, canary: () => string): Promise<void> {
  const recorder = Recorder.open({ app: "canaries", folder, capture: mode, environment: "local" })
  const proxy = await startProxy({
    recorder,
    upstreams: { anthropic: origin, api: origin },
    run: recorder.startRun({ entrypoint: "proxied" }),
  })
  for (let round = 0; made < CANARIES; round++) {
    sdkRun(recorder, canary)
    await wireRun(recorder, canary, round)
    await proxyCalls(proxy.urlFor("anthropic"), proxy.urlFor("api"), canary, round)
    if (round % 3 === 0) secondCopies(recorder, mode)
    if (round % 3 === 1) await streams(recorder, proxy.urlFor("api"), canary, round)
  }
  await proxy.close()
  recorder.close()
}

function sdkRun(recorder: Recorder, canary: () => string): void {
  const many = (): string => Array.from({ length: 6 }, canary).join(" and ")
  const run = recorder.startRun({
    entrypoint: "everything",
    input: { text: many(), nested: [{ deep: canary() }] },
    conversationId: "one",
    userSession: canary(),
    attributes: { note: canary(), nested: { password: canary() } },
    constraints: [{ id: "c1", type: "scope", rule: `paths.only src ${token()}` }],
  })
  recorder.log.error(`outside any run ${canary()}`, { err: new TypeError(canary(), { cause: new Error(canary()) }) })
  const step = run.step("plan", { token: canary(), long: `${"x ".repeat(2040)}${canary()}` }, { body: many() })
  step.log.info(`found ${canary()}`, { value: canary(), json: { a: [canary()] } })
  step.log.warn(`${"long ".repeat(1700)}${canary()} ${many()}`)
  step.addLink({ runId: run.runId }, `because of ${canary()}`)
  step.setAttributes({ url: `https://user:${canary()}@example.com/?key=${canary()}` })
  step.inputReceived({ channels: ["chat"], value: many() })
  step.promptRendered({ prompt: many(), variables: { a: canary() }, system: canary() })
  step.promptAssembled({ segments: [{ contributor: "user", kind: "user-msg", content: many() }] })
  step.validatorDecision({ name: "schema", decision: "fail", reason: canary() })
  step.safetyDecision({ policy: "no-exfil", decision: "block", reason: { because: canary() } })
  step.repair({ kind: "schema", before: many(), after: canary(), reason: `no ${canary()}` })
  step.artifact({
    id: "a1",
    type: "diff",
    summary: `+ ${canary()}`,
    content: `--- a\n+++ b\n+${canary()}\n`,
    path: `src/${canary()}.env`,
  })
  step.queue.enqueue({ messageId: "m1", body: many() })

  const tool = step.startTool({
    name: "shell",
    args: { command: `curl -H 'Authorization: Bearer ${canary()}'`, env: [canary()] },
  })
  tool.log.debug(canary())
  tool.endTool({ result: Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(many(), "latin1")]) })
  const failing = step.startTool({ name: "shell", args: canary() })
  failing.endTool({ err: Object.assign(new RangeError(`${"e".repeat(300)} ${canary()}`), { code: "E" }), exitCode: 1 })

  const model = step.startModel({
    provider: "anthropic",
    model: "m",
    request: { messages: [{ role: "user", content: many() }] },
  })
  const attempt = model.attempt({ provider: "anthropic", model: "m", request: { system: canary() } })
  for (const piece of pieces(sse(many()), 5)) attempt.chunk(piece)
  attempt.endModel({ outputText: many(), rawUsage: { note: canary() } })
  model.endModel({ response: { text: many() }, err: new Error(canary()) })
  step.end({ err: canary(), body: many(), attributes: { last: canary() } })
  run.fail(new Error(`it broke: ${canary()}`))
}

/** Every way in which a value may be written a second time, with nothing beside it that would give it away. */
const DRESSES: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => `before${value}behind`,
  (value) => `\u001b[32m${value}\u001b[0m`,
  (value) => `  12→${value}`,
  (value) => JSON.stringify({ a: JSON.stringify({ b: value }) }),
  (value) => encodeURIComponent(`/x/${value}?`),
  (value) => Buffer.from(value).toString("hex"),
  (value) => Buffer.from(value).toString("hex").toUpperCase(),
  (value) => Buffer.from(value).toString("base64"),
  (value) => Buffer.from(`a${value}`).toString("base64"),
  (value) => Buffer.from(`ab${value}`).toString("base64url"),
  (value) => Buffer.from(value, "utf16le").toString("latin1"),
]

/** Told once under a name, then by every path in every dress without it. */
function secondCopies(recorder: Recorder, mode: CaptureMode): void {
  const run = recorder.startRun({ entrypoint: "again" })
  for (const [i, dress] of DRESSES.entries()) {
    made++
    const value = `${letters(7)}5${MARK}${letters(9)}`
    run.startTool({ name: "cat", args: ".env" }).endTool({ result: `SERVICE_TOKEN="${value}"\n` })
    const again = dress(value)
    // Names of steps, tools and models are kept under `hashed`, where no body is searched that would give a value away.
    const named = mode === "hashed" ? token() : again
    made += 16
    const scope = recorder.scope(`scope-${again}`)
    scope.log.info(again, { [`key ${again}`]: 1, path: `/tmp/${again}` })
    const other = scope.startRun({ entrypoint: `e ${named}`, conversationId: `c-${again}`, input: again })
    const step = other.step(`name ${named}`, { [again]: again })
    step.startTool({ name: `tool-${i}-${named}`, args: again }).endTool({ result: Buffer.from(again) })
    step.startTool({ name: "shell", args: {} }).endTool({ err: new Error(again, { cause: new RangeError(again) }) })
    step.queue.enqueue({ messageId: `m-${again}`, body: again, targetConversationId: `t-${again}` })
    // Cut where a summary is cut, with the value across the place.
    step.repair({ kind: "schema", before: again, after: again, reason: `${"r".repeat(235 - (i % 9))} ${again}` })
    step.artifact({ id: "a", type: "diff", summary: again, content: again, path: `src/${again}.ts` })
    const call = step.startModel({
      provider: "p",
      model: `m-${named}`,
      request: { messages: [{ role: "user", content: again }] },
    })
    for (const piece of pieces(sse(again), 9)) call.chunk(piece)
    call.endModel({ outputText: again, response: again })
    step.end({ err: `x ${again}` })
    other.fail(new Error(again))
  }
  run.complete({})
}

const frames = (...data: unknown[]): string => data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")
const cutIn = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? []

/** Two texts at once, a few characters a frame, in the way of each protocol. */
const STREAMS: readonly (readonly [mime: string, write: (one: readonly string[], two: readonly string[]) => string])[] =
  [
    [
      "text/event-stream",
      (one, two) =>
        frames(
          ...alternating(one, two, (text, index) => ({
            type: "content_block_delta",
            index,
            delta: { type: "text_delta", text },
          })),
          { type: "message_stop" },
        ),
    ],
    [
      "text/event-stream",
      (one, two) =>
        frames(
          ...alternating(one, two, (text, index) => ({
            choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: text } }] } }],
          })),
        ),
    ],
    [
      "text/event-stream",
      (one, two) => frames(...alternating(one, two, (text, index) => ({ choices: [{ index, text }] }))),
    ],
    [
      "application/json",
      (one, two) =>
        JSON.stringify(
          alternating(one, two, (text, index) => ({ candidates: [{ index, content: { parts: [{ text }] } }] })),
        ),
    ],
    [
      "text/plain",
      (one, two) => alternating(one, two, (text, i) => `${i === 0 ? "0" : "g"}:${JSON.stringify(text)}\n`).join(""),
    ],
    ["text/event-stream", (one) => one.map((text) => `data: ${text}\n\n`).join("")],
    ["text/event-stream", (one) => frames(...one.map((token, seq) => ({ seq, chunk: { token } })))],
    [
      "application/x-ndjson",
      (one) => one.map((text) => `${JSON.stringify({ message: { content: text }, done: false })}\n`).join(""),
    ],
  ]

function alternating<T>(
  one: readonly string[],
  two: readonly string[],
  write: (text: string, index: number) => T,
): T[] {
  return Array.from({ length: Math.max(one.length, two.length) }, (_, i) =>
    [one[i], two[i]].flatMap((text, index) => (text === undefined ? [] : [write(text, index)])),
  ).flat()
}

async function streams(recorder: Recorder, api: string, canary: () => string, round: number): Promise<void> {
  const run = recorder.startRun({ entrypoint: "streams" })
  for (const [mime, write] of STREAMS) {
    const [one, two] = [`see: ${canary()} , ${canary()} .`, `and: ${canary()} .`]
    const wire = Buffer.from(write(cutIn(one, 3 + (round % 5)), cutIn(two, 4 + (round % 3))))
    // Every other one dies in the middle of a frame.
    const sent = round % 2 === 0 ? wire : wire.subarray(0, wire.length - 2)
    answer = () => ({ headers: { "content-type": mime }, pieces: pieces(sent, 40 + round) })
    await (
      await run.fetch(`${origin}/v1/messages`, { method: "POST", body: JSON.stringify({ model: "m", messages: [] }) })
    ).text()
    await fetch(`${api}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", messages: [] }),
    }).then(
      (r) => r.text(),
      () => {},
    )
  }
  run.complete({})
}

async function wireRun(recorder: Recorder, canary: () => string, round: number): Promise<void> {
  const run = recorder.startRun({ entrypoint: "wire" })
  const text = Array.from({ length: 4 }, canary).join("\n")
  const headers = {
    authorization: `Bearer ${canary()}`,
    "x-api-key": canary(),
    "x-note": canary(),
    "content-type": "application/json",
  }
  const body = JSON.stringify({
    model: "claude-x",
    stream: true,
    system: canary(),
    messages: [{ role: "user", content: `${text} ${canary()}` }],
  })
  answer = () => ({
    headers: { "content-type": "text/event-stream", "set-cookie": `session=${canary()}` },
    pieces: pieces(sse(text), 7 + (round % 20)),
  })
  await (await run.fetch(`${origin}/v1/messages?key=${canary()}`, { method: "POST", headers, body })).text()
  answer = () => ({
    status: 500,
    headers: { "content-type": "application/json" },
    pieces: [Buffer.from(JSON.stringify({ error: { type: "api_error", message: text } }))],
  })
  await (await run.fetch(`${origin}/v1/messages`, { method: "POST", headers, body })).text()
  answer = () => ({ headers: { "content-type": "text/plain" }, pieces: pieces(Buffer.from(`plain ${text}`), 11) })
  await (await run.fetch(`${origin}/files/${canary()}?q=${encodeURIComponent(canary())}`)).text()
  await run.fetch("http://127.0.0.1:1/refused", { method: "POST", body: text }).catch(() => {})
  run.complete({ output: text })
}

async function proxyCalls(anthropic: string, api: string, canary: () => string, round: number): Promise<void> {
  const text = Array.from({ length: 4 }, canary).join(" ")
  const headers = { "x-api-key": canary(), "content-type": "application/json", "anthropic-version": "2023-06-01" }
  const tools = [{ name: "read", description: canary(), input_schema: { type: "object" } }]
  const history = [{ role: "user", content: text }]
  answer = () => ({
    headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
    pieces: pieces(gzipSync(toolSse({ command: text })), 30 + round),
  })
  const ask = (messages: object[]): Promise<string> =>
    fetch(`${anthropic}/v1/messages`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "claude-x", stream: true, tools, messages }),
    }).then((r) => r.text())
  await ask(history)
  // The agent ran the tool: the proxy deduces the call and its result from what the agent sends next.
  await ask([
    ...history,
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_01A", name: "read", input: { command: text } }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_01A", content: `result ${canary()}`, is_error: round % 2 === 0 },
      ],
    },
  ])
  answer = () => ({
    headers: { "content-type": "application/octet-stream", "content-encoding": "rot13" },
    pieces: [Buffer.from(text)],
  })
  await fetch(`${api}/download/${canary()}`).then(
    (r) => r.arrayBuffer(),
    () => {},
  )
}

const event = (data: object): string => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`

function sse(text: string): Buffer {
  const deltas = (text.match(/.{1,5}/gs) ?? []).map((part) =>
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: part } }),
  )
  return Buffer.from(
    [
      event({
        type: "message_start",
        message: { id: "msg_1", role: "assistant", model: "claude-x", content: [], usage: { input_tokens: 5 } },
      }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      ...deltas,
      event({ type: "content_block_stop", index: 0 }),
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }),
      event({ type: "message_stop" }),
    ].join(""),
  )
}

function toolSse(input: object): Buffer {
  const deltas = (JSON.stringify(input).match(/.{1,6}/gs) ?? []).map((part) =>
    event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: part } }),
  )
  return Buffer.from(
    [
      event({
        type: "message_start",
        message: { id: "msg_2", role: "assistant", model: "claude-x", content: [], usage: { input_tokens: 5 } },
      }),
      event({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "toolu_01A", name: "read", input: {} },
      }),
      ...deltas,
      event({ type: "content_block_stop", index: 0 }),
      event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }),
      event({ type: "message_stop" }),
    ].join(""),
  )
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

/** The mark as it is, in hex, and in base64 wherever its first byte may fall. Escaping for JSON or URLs leaves letters alone. */
const NEEDLES: readonly (readonly [string, Buffer])[] = [
  ["raw", Buffer.from(MARK)],
  ["hex", Buffer.from(Buffer.from(MARK).toString("hex"))],
  ["HEX", Buffer.from(Buffer.from(MARK).toString("hex").toUpperCase())],
  ["utf-16", Buffer.from(MARK, "utf16le")],
  ...[0, 1, 2].map((lead): [string, Buffer] => {
    const encoded = Buffer.from(`${"x".repeat(lead)}${MARK}`).toString("base64")
    // Only what no neighbour can change: without the characters that share bits with what stands before or after.
    return [
      `base64+${lead}`,
      Buffer.from(encoded.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + MARK.length) * 8) / 6))),
    ]
  }),
]

const needlesIn = (bytes: Buffer): string[] =>
  NEEDLES.filter(([, needle]) => bytes.includes(needle)).map(([name]) => name)

function filesHolding(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name)
      return needlesIn(readFileSync(path)).map((needle) => `${needle} in ${path.slice(folder.length)}`)
    })
}

/** Packs are compressed: every event and every body is read back and searched as it is. */
async function storedHolding(folder: string): Promise<string[]> {
  const store = openStoreReader(join(folder, "store"))
  const found: string[] = []
  const hashes = new Set<string>()
  try {
    for (let cursor: string | undefined; ; ) {
      const runs = await store.listRuns({ limit: 200, ...(cursor === undefined ? {} : { cursor }) })
      for (const { runId } of runs.rows) {
        const { events } = await store.eventsOf(runId, { limit: 100_000 })
        for (const event of events) {
          found.push(
            ...needlesIn(Buffer.from(JSON.stringify(event))).map((needle) => `${needle} in ${event.event_type}`),
          )
          for (const ref of event.artifact_refs) hashes.add(ref.artifact_hash)
        }
      }
      cursor = runs.cursor
      if (cursor === undefined) break
    }
    for (const hash of hashes) {
      const reading = await store.readBody(hash)
      if (!isAbsent(reading))
        found.push(...needlesIn(Buffer.from(reading.bytes)).map((needle) => `${needle} in ${hash}`))
    }
    return found
  } finally {
    await store.close()
  }
}
