import { expect, test } from "vitest"
import { planVariables, variablesFor } from "../src/client-variables.js"
import { rawRequest } from "./raw-client.js"
import { eventually, recordedProxy } from "./recorded-proxy.js"
import { json, startUpstream } from "./upstream.js"

/** How each client was seen to build its requests from the variables, with the model it takes by default. Written by hand; the bodies are ours. */
interface Sent {
  readonly client: string
  readonly variable: string
  readonly path: string
  readonly reaches: string
  readonly model: string
}

const MESSAGES = { reaches: "/v1/messages" }
const RESPONSES = { reaches: "/v1/responses" }
const CHAT = { variable: "OPENAI_API_BASE", path: "/chat/completions", reaches: "/v1/chat/completions" }
const gemini = (client: string, variable: string, version: string, model: string, method: string): Sent => ({
  client,
  variable,
  path: `${version}/models/${model}:${method}`,
  reaches: `/v1beta/models/${model}:${method}`,
  model,
})

const SENT: readonly Sent[] = [
  {
    client: "Claude Code 2.1.197",
    variable: "ANTHROPIC_BASE_URL",
    path: "/v1/messages?beta=true",
    reaches: "/v1/messages?beta=true",
    model: "claude-opus-4-8",
  },
  {
    client: "opencode 1.18.33",
    variable: "ANTHROPIC_BASE_URL",
    path: "/messages",
    ...MESSAGES,
    model: "claude-sonnet-4-6",
  },
  {
    client: "opencode 1.18.33, its title",
    variable: "ANTHROPIC_BASE_URL",
    path: "/messages",
    ...MESSAGES,
    model: "claude-haiku-4-5-20251001",
  },
  { client: "Codex 0.166.0", variable: "OPENAI_BASE_URL", path: "/responses", ...RESPONSES, model: "gpt-6.1-sol" },
  gemini(
    "Gemini CLI 0.61.0",
    "GOOGLE_GEMINI_BASE_URL",
    "/v1beta",
    "gemini-3.1-pro-preview",
    "streamGenerateContent?alt=sse",
  ),
  gemini(
    "Gemini CLI 0.61.0, its router",
    "GOOGLE_GEMINI_BASE_URL",
    "/v1beta",
    "gemini-3.5-flash-lite",
    "generateContent",
  ),
  { client: "pi 0.74.2", variable: "ANTHROPIC_BASE_URL", path: "/v1/messages", ...MESSAGES, model: "claude-opus-4-7" },
  { client: "pi 0.74.2", variable: "OPENAI_BASE_URL", path: "/responses", ...RESPONSES, model: "gpt-5.4" },
  gemini("pi 0.74.2", "GEMINI_API_BASE", "", "gemini-3.1-pro-preview", "streamGenerateContent?alt=sse"),
  {
    client: "aider 0.86",
    variable: "ANTHROPIC_API_BASE",
    path: "/v1/messages",
    ...MESSAGES,
    model: "claude-sonnet-4-5",
  },
  { client: "aider 0.86", ...CHAT, model: "gpt-4o" },
  {
    client: "mini-swe-agent 2.4.6",
    variable: "ANTHROPIC_API_BASE",
    path: "/v1/messages",
    ...MESSAGES,
    model: "claude-sonnet-4-5",
  },
  { client: "mini-swe-agent 2.4.6", ...CHAT, model: "gpt-5.1" },
  gemini("mini-swe-agent 2.4.6", "GEMINI_API_BASE", "", "gemini-2.5-pro", "generateContent"),
]

/** One answer that holds what every dialect reads. */
const answer = (model: string) => ({
  id: "answer_1",
  type: "message",
  object: "response",
  model,
  modelVersion: model,
  role: "assistant",
  status: "completed",
  content: [{ type: "text", text: "Hi" }],
  output: [],
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1000, output_tokens: 10, prompt_tokens: 1000, completion_tokens: 10 },
  usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 10 },
})

test("[K-12] what the clients of every day send by default is forwarded to the vendor's path, recorded as a model call, and priced", async () => {
  const upstream = await startUpstream((request, response) => {
    const { model } = JSON.parse(request.body.toString() || "{}") as { model?: string }
    response.setHeader("content-type", "application/json")
    response.end(json(answer(model ?? /models\/([^:]+):/.exec(request.url ?? "")?.[1] ?? "")))
  })
  const { origin } = upstream
  const plan = planVariables({}, [], { anthropic: origin, openai: origin, gemini: origin })
  const proxy = await recordedProxy(plan.upstreams, { versioned: plan.versioned })
  const variables = variablesFor(plan, { origin: proxy.origin, token: proxy.token, folder: undefined }, {})
  for (const { client, variable, path, reaches, model } of SENT) {
    const count = proxy.all("model_result").length
    const body = reaches.includes("/models/")
      ? { contents: [{ role: "user", parts: [{ text: client }] }] }
      : { model, max_tokens: 9, input: client, messages: [{ role: "user", content: client }] }
    await (await fetch(`${variables[variable]}${path}`, { method: "POST", body: new Uint8Array(json(body)) })).text()
    expect(upstream.seen.at(-1)!.url, client).toBe(reaches)
    await eventually(() => proxy.all("model_result").length > count, `${client} is recorded`)
    expect(proxy.all("model_called").at(-1)!.payload.model_id, client).toBe(model)
  }
  expect(proxy.stats()).toMatchObject({ modelCalls: SENT.length, unpricedCalls: 0, callsWithoutUsage: 0, errors: 0 })
})

test("[K-12] Codex asks for a WebSocket first and is told to use HTTP; Claude Code's look at the root passes as it is", async () => {
  const upstream = await startUpstream((_, response) => response.end())
  const proxy = await recordedProxy(
    { anthropic: upstream.origin, openai: upstream.origin },
    { versioned: ["anthropic", "openai"] },
  )
  const path = `${new URL(proxy.urlFor("openai")).pathname}/v1/responses`
  const { bytes } = await rawRequest(
    proxy.port,
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${proxy.port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x\r\n\r\n`,
  )
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 426 /)
  expect(upstream.seen).toHaveLength(0)
  await fetch(`${proxy.urlFor("anthropic")}/`, { method: "HEAD" })
  expect(upstream.seen[0]).toMatchObject({ method: "HEAD", url: "/" })
})
