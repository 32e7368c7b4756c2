import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { jsonOf, orangebox, scratchFolder } from "./command.js"
import { startModelServer } from "./model-server.js"

/** Asks once and says exactly what came of it. */
const AGENT = `
let came = ""
const body = JSON.stringify({ model: "claude-x", max_tokens: 9, stream: true, messages: [{ role: "user", content: "hello" }] })
try {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body,
  })
  console.log(response.status)
  for await (const piece of response.body) came += Buffer.from(piece).toString("hex")
  console.log(came, "whole")
} catch (error) {
  console.log(came, error.message)
  process.exitCode = 5
}
`

const frame = `event: ping\ndata: {"type":"ping"}\n\n`
const JSON_TYPE = { "content-type": "application/json" }
const cut = (response: ServerResponse): void => void setTimeout(() => response.socket?.destroy(), 50)

const BROKEN: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "before its head": (response) => void response.socket?.destroy(),
  "behind its head": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
    cut(response)
  },
  "in the middle of a frame": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(frame + frame.slice(0, 20))
    cut(response)
  },
  "in the middle of a character": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(Buffer.from("data: ü").subarray(0, 7))
    cut(response)
  },
  "before the length it promised": (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": "900" }).write('{"type":"message","content":[')
    cut(response)
  },
}

/** Records the agent against a server that breaks off, and replays it with that server gone. */
async function recordAndReplay(breakOff: (response: ServerResponse) => void, agent = AGENT) {
  const server = await startModelServer((_body, response) => breakOff(response))
  const folder = scratchFolder()
  const data = ["--data", folder.path]
  const command = ["--", process.execPath, "--input-type=module", "-e", agent]
  const env = { ANTHROPIC_BASE_URL: server.origin }
  const recorded = await orangebox(["run", "--quiet", ...data, ...command], { env })
  await server.close()
  const replayed = await orangebox(["replay", "last", "--json", ...data, ...command], { env })
  return { recorded, replayed }
}

test.each(Object.entries(BROKEN))(
  "[P-11] an answer that broke off %s replays as the same failure, and is certified",
  async (_, breakOff) => {
    const { recorded, replayed } = await recordAndReplay(breakOff)
    expect(replayed.stdout).toBe(recorded.stdout)
    expect(replayed.exitCode, replayed.stderr).toBe(0)
  },
)

/**
 * Unpacks by itself, and minds how the package ends: not every client is as lenient as fetch. It unpacks what came when all has come, since a
 * stream of zlib loses the last piece or not, by whether it knows of the end when that piece is its turn.
 */
const STRICT_AGENT = `
import { request } from "node:http"
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib"
const UNPACK = { gzip: [gunzipSync, constants.Z_SYNC_FLUSH], br: [brotliDecompressSync, constants.BROTLI_OPERATION_FLUSH] }
const body = JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "hello" }] })
const headers = { "content-type": "application/json", "accept-encoding": "gzip, br" }
request(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers }, (response) => {
  const pieces = []
  let end = "whole"
  response.on("data", (piece) => pieces.push(piece))
  response.on("error", (error) => (end = error.message))
  response.on("close", () => {
    const came = Buffer.concat(pieces)
    const [unpack, finishFlush] = UNPACK[response.headers["content-encoding"]]
    try {
      console.log(response.statusCode, unpack(came, { finishFlush }).length, end)
      unpack(came)
      console.log("ends as it should")
    } catch (error) {
      console.log(error.message)
    }
  })
}).end(body)
`

const TEXT = frame.repeat(900)
const PACKED = { gzip: gzipSync(TEXT), br: brotliCompressSync(TEXT) } as const
const packed = (encoding: string, length?: number) => ({
  "content-type": "text/event-stream",
  "content-encoding": encoding,
  ...(length === undefined ? {} : { "content-length": String(length) }),
})

/** How much of a package that broke off fetch hands on before its error is a matter of the moment. */
const FETCHING_AGENT = AGENT.replace("console.log(came, error.message)", "console.log(error.message)")

describe.each([
  ["fetch", FETCHING_AGENT],
  ["its own decoder", STRICT_AGENT],
])("[P-11] an answer that is compressed, to a client with %s", (_, agent) => {
  test.each(["gzip", "br"] as const)(
    "and breaks off in %s replays as the same failure, and is certified",
    async (encoding) => {
      const half = PACKED[encoding].subarray(0, -9)
      const { recorded, replayed } = await recordAndReplay((response) => {
        response.writeHead(200, packed(encoding)).write(half)
        cut(response)
      }, agent)
      expect(recorded.stdout).toMatch(/terminated|aborted\n.*unexpected end of file/i)
      expect([replayed.stdout, replayed.exitCode], replayed.stderr).toEqual([recorded.stdout, 0])
    },
  )

  test.each(["gzip", "br"] as const)(
    "and comes whole but for the end of its %s replays the same, and is certified",
    async (encoding) => {
      const half = PACKED[encoding].subarray(0, -9)
      const { recorded, replayed } = await recordAndReplay(
        (response) => void response.writeHead(200, packed(encoding, half.length)).end(half),
        agent,
      )
      expect([replayed.stdout, replayed.exitCode], replayed.stderr).toEqual([recorded.stdout, 0])
    },
  )
})

test("[P-11] an answer that was damaged in the middle of what was compressed is not served, and the report says why", async () => {
  const whole = brotliCompressSync(randomBytes(200_000).toString("hex"))
  const damaged = Buffer.concat([whole.subarray(0, -9), Buffer.alloc(99, 255)])
  const { recorded, replayed } = await recordAndReplay(
    (response) => void response.writeHead(200, packed("br", damaged.length)).end(damaged),
    STRICT_AGENT,
  )
  expect(recorded.stdout).toContain("Decompression failed")
  expect([replayed.exitCode, replayed.stderr]).toEqual([2, expect.stringContaining("its content encoding was damaged")])
})

const MADE_UP = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "x" },
  choices: [{ index: 0, message: { role: "assistant", content: "made up" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}

test("[P-11] response.replace takes a whole answer of a chat completion too, and streams it", async () => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "x", choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const server = await startModelServer((_body, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`${chunk({ role: "assistant", content: "recorded" })}${chunk({}, "stop")}data: [DONE]\n\n`)
  })
  const agent = `
    const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
      method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "x", stream: true, messages: [{ role: "user", content: "hello" }] }),
    })
    const text = await response.text()
    console.log(response.headers.get("content-type").split(";")[0], [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join(""), text.trimEnd().endsWith("[DONE]"))
  `
  const folder = scratchFolder()
  const data = ["--data", folder.path]
  const command = ["--", process.execPath, "--input-type=module", "-e", agent]
  const env = { OPENAI_BASE_URL: `${server.origin}/v1`, OPENAI_API_KEY: "k" }
  const recorded = await orangebox(["run", "--quiet", ...data, ...command], { env })
  await server.close()
  expect(recorded.stdout).toBe("text/event-stream recorded true\n")
  const { rows } = jsonOf<{ rows: { kind?: string; n: number }[] }>(
    await orangebox(["show", "last", "--json", ...data]),
  )
  const at = `#${rows.find(({ kind }) => kind === "model")!.n}`
  const profile = join(folder.path, "profile.json")
  const rule = { type: "response.replace", response: { inline: MADE_UP } }
  writeFileSync(
    profile,
    JSON.stringify({
      ...{ schema_version: 1, scope: "fork_step_only" },
      rules: [{ id: "one", select: { kind: "model" }, op: rule }],
    }),
  )
  const forked = await orangebox(
    ["fork", "last", "--at", at, "--no-workspace", "--profile", profile, ...data, ...command],
    { env },
  )
  expect([forked.exitCode, forked.stdout], forked.stderr).toEqual([0, "text/event-stream made up true\n"])
  // What was made up is on record, and the fork replays to a certificate with nobody upstream.
  const again = await orangebox(["replay", "last", "--json", ...data, ...command], { env })
  expect([again.exitCode, again.stdout], again.stderr).toEqual([0, "text/event-stream made up true\n"])
})
