import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { hasCorpora, readCassettes } from "../../dialects/test/corpus/cassette.js"
import { recordThroughProxy, replayThroughProxy, type Use } from "./replayed-proxy.js"
import { messageStream, startUpstream } from "./upstream.js"

/** One recorded request and the answer it got, wherever that was recorded. */
interface Taken {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly request: Buffer
  readonly status: number
  readonly response: Buffer
}

type Client = "openai" | "anthropic" | "fetch"

/** What came over the wire, and what the client library made of it. */
interface Heard {
  readonly client: Client
  readonly isStream: boolean
  readonly bytes: Buffer
  readonly understood: unknown
}

const KEPT = { capture: "full", environment: "local" } as const

/** Records the exchanges with the clients that speak them, replays them with the server gone, and holds both against the cassette. */
async function check(name: string, exchanges: readonly Taken[]): Promise<readonly Heard[]> {
  const answers = [...exchanges]
  const upstream = await startUpstream((_request, response) => {
    const { status, response: body } = answers.shift()!
    response.writeHead(status, { "content-type": typeOf(body) })
    response.end(body)
  })
  const upstreams = Object.fromEntries(exchanges.map(({ host }) => [upstreamOf(host), upstream.origin]))
  let first: readonly Heard[] = []
  const agent: Use = async (urlFor) => {
    const heard: Heard[] = []
    for (const exchange of exchanges) heard.push(await ask(urlFor(upstreamOf(exchange.host)), exchange))
    return heard
  }
  const recorded = await recordThroughProxy(
    upstreams,
    async (urlFor) => {
      first = (await agent(urlFor)) as Heard[]
    },
    KEPT,
  )
  const asked = upstream.seen.length
  const { said, certification } = await replayThroughProxy(recorded, upstreams, agent, { capture: KEPT })
  expect(upstream.seen.length, name).toBe(asked)
  const second = said as readonly Heard[]
  for (const [index, { response }] of exchanges.entries()) {
    expect(second[index]?.bytes.equals(response), `${name} #${index}: the bytes of the cassette`).toBe(true)
    expect(second[index]!.understood, `${name} #${index}: what the client made of them`).toEqual(
      first[index]!.understood,
    )
  }
  expect({
    name,
    blocking: certification.issued ? [] : certification.blocking,
    divergences: certification.report.divergences,
    issued: certification.issued,
  }).toEqual({
    name,
    blocking: [],
    divergences: [],
    issued: true,
  })
  return second
}

const upstreamOf = (host: string): string => host.toLowerCase().replace(/[^a-z0-9.-]/g, "-")

function typeOf(body: Buffer): string {
  if (/^(?:event|data|id|:)/.test(body.subarray(0, 8).toString("latin1"))) return "text/event-stream"
  return /^\s*[[{]/.test(body.subarray(0, 8).toString("latin1")) ? "application/json" : "application/octet-stream"
}

async function ask(baseURL: string, exchange: Taken): Promise<Heard> {
  const wire: Promise<Buffer>[] = []
  const tee: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    wire.push(response.clone().arrayBuffer().then(Buffer.from))
    return response
  }
  const body = jsonOf(exchange.request)
  const isStream = typeOf(exchange.response) === "text/event-stream"
  const client = clientFor(exchange, body)
  const understood = await understand(() => SPOKEN[client]({ baseURL, exchange, body, fetch: tee }))
  const [bytes, ...more] = await Promise.all(wire)
  expect(more.length, `${exchange.path}: one request for one request`).toBe(0)
  return { client, isStream, bytes: bytes!, understood }
}

interface Asking {
  readonly baseURL: string
  readonly exchange: Taken
  readonly body: object | undefined
  readonly fetch: typeof fetch
}

const OPENAI_HOSTS = /^(?:api\.openai\.com|openrouter\.ai|api\.groq\.com|router\.huggingface\.co|localhost:8000)$/

/** The official client where there is one for the host and the body is one it sends; everything else with plain `fetch`. */
function clientFor({ host, method }: Taken, body: object | undefined): Client {
  if (body === undefined && method !== "GET" && method !== "DELETE") return "fetch"
  if (host === "api.anthropic.com") return "anthropic"
  return OPENAI_HOSTS.test(host) || host.endsWith(".openai.azure.com") ? "openai" : "fetch"
}

const SPOKEN: Readonly<Record<Client, (asking: Asking) => Promise<unknown>>> = {
  async openai({ baseURL, exchange: { method, path }, body, fetch }) {
    const prefix = /^.*?\/(?:v1|deployments\/[^/]+)(?=\/)/.exec(path)?.[0] ?? ""
    const rest = path.slice(prefix.length)
    const client = new OpenAI({ baseURL: `${baseURL}${prefix}`, apiKey: "none", maxRetries: 0, fetch })
    const typed = {
      "/chat/completions": () => client.chat.completions.create(body as OpenAI.ChatCompletionCreateParams),
      "/responses": () => client.responses.create(body as OpenAI.Responses.ResponseCreateParams),
      "/completions": () => client.completions.create(body as OpenAI.CompletionCreateParams),
    }[rest]
    if (typed) return typed()
    const stream = isAskedToStream(body)
    return client.request({ method: method.toLowerCase() as "post", path: rest, stream, ...(body ? { body } : {}) })
  },
  async anthropic({ baseURL, exchange: { method, path }, body, fetch }) {
    const client = new Anthropic({ baseURL, apiKey: "none", maxRetries: 0, timeout: 60_000, fetch })
    if (path === "/v1/messages") return client.messages.create(body as Anthropic.MessageCreateParams)
    if (path === "/v1/messages?beta=true") {
      return client.beta.messages.create(body as Anthropic.Beta.MessageCreateParams)
    }
    const stream = isAskedToStream(body)
    return client.request({ method: method.toLowerCase() as "post", path, stream, ...(body ? { body } : {}) })
  },
  async fetch({ baseURL, exchange: { method, path, request }, fetch }) {
    const headers = { "content-type": jsonOf(request) === undefined ? "application/octet-stream" : "application/json" }
    const hasBody = method !== "GET" && method !== "HEAD" && request.length > 0
    const response = await fetch(`${baseURL}${path}`, {
      method,
      ...(hasBody ? { headers, body: Uint8Array.from(request) } : {}),
    })
    return response.status
  },
}

/** A stream is read to its end; a refusal is what the library throws. */
async function understand(call: () => Promise<unknown>): Promise<unknown> {
  try {
    const reply = await call()
    if (typeof reply !== "object" || reply === null || !(Symbol.asyncIterator in reply)) return reply
    const events: unknown[] = []
    for await (const event of reply as AsyncIterable<unknown>) events.push(event)
    return events
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}

const isAskedToStream = (body: object | undefined): boolean =>
  body !== undefined && "stream" in body && body.stream === true

function jsonOf(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"))
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const taken = (host: string, path: string, request: object, status: number, response: Buffer | object): Taken => ({
  method: "POST",
  host,
  path,
  request: Buffer.from(JSON.stringify(request)),
  status,
  response: Buffer.isBuffer(response) ? response : Buffer.from(JSON.stringify(response)),
})

const chunks = (...texts: string[]): Buffer =>
  Buffer.from(
    [
      ...texts.map((content, index) =>
        JSON.stringify({
          id: "c1",
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta: { content }, finish_reason: index === texts.length - 1 ? "stop" : null }],
        }),
      ),
      "[DONE]",
    ]
      .map((data) => `data: ${data}\n\n`)
      .join(""),
  )

describe("[P-03] official clients against a tape", () => {
  // The Anthropic client tells about every model that is being retired, whatever its log level.
  beforeAll(() => {
    const warnings = vi.spyOn(console, "warn").mockImplementation(() => {})
    return () => warnings.mockRestore()
  })

  const question = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "what is it?" }] }

  test("answers whole and streamed, refusals and equal questions with different answers come back byte for byte", async () => {
    const openai = "api.openai.com"
    const anthropic = "api.anthropic.com"
    const answer = (text: string): object => ({ id: text, object: "chat.completion", choices: [], note: `✓ ${text}` })
    const heard = await check("our own", [
      taken(openai, "/v1/chat/completions", question, 200, answer("first")),
      taken(openai, "/v1/chat/completions", question, 429, { error: { message: "slow down" } }),
      taken(openai, "/v1/chat/completions", question, 200, answer("second")),
      taken(openai, "/v1/chat/completions", { ...question, stream: true }, 200, chunks("ab", "ç", "🟠")),
      taken(openai, "/v1/chat/completions", { ...question, stream: true }, 200, chunks("another")),
      taken(anthropic, "/v1/messages", { ...question, stream: true }, 200, messageStream({ text: "héllo" })),
      taken(anthropic, "/v1/messages", question, 529, { type: "error", error: { type: "overloaded_error" } }),
      taken("generativelanguage.googleapis.com", "/v1beta/models/g:generateContent", { contents: [] }, 200, { a: 1 }),
    ])
    expect(heard.map(({ client }) => client)).toEqual([
      ...["openai", "openai", "openai", "openai", "openai"],
      ...["anthropic", "anthropic", "fetch"],
    ])
    expect(heard.filter(({ isStream }) => isStream)).toHaveLength(3)
  })

  const cassettes = new Map<string, Taken[]>()
  if (hasCorpora) {
    for (const { exchanges } of ["cassettes-pydantic-ai", "cassettes-openllmetry"].map(readCassettes)) {
      for (const exchange of exchanges) {
        cassettes.set(exchange.file, [...(cassettes.get(exchange.file) ?? []), exchange])
      }
    }
  }

  test.skipIf(!hasCorpora)(
    "every cassette of others is replayed by the clients that speak it (skipped where the corpora are absent)",
    async () => {
      const counts = new Map<string, number>()
      for (const [file, exchanges] of cassettes) {
        for (const { client, isStream } of await check(file, exchanges)) {
          const key = `${client}${isStream ? " streamed" : ""}`
          counts.set(key, (counts.get(key) ?? 0) + 1)
        }
      }
      console.log(`${cassettes.size} cassettes:`, Object.fromEntries(counts))
      expect(counts.get("openai streamed")).toBeGreaterThan(0)
      expect(counts.get("anthropic streamed")).toBeGreaterThan(0)
    },
    60_000,
  )
})
