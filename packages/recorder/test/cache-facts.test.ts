import { expect, onTestFinished, test, vi } from "vitest"
import { contractProblems, recordInMemory } from "./recording.js"

const KEY = Buffer.alloc(32, 3)
const ANTHROPIC = "https://api.anthropic.com/v1/messages"
const base = { model: "m", max_tokens: 9, system: "now 09:41:07", messages: [{ role: "user", content: "hi" }] }
const answer = {
  type: "message",
  id: "msg_1",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
}

function answering(make: () => Response): void {
  vi.stubGlobal(
    "fetch",
    vi.fn(async (..._sent: unknown[]) => make()),
  )
  onTestFinished(() => void vi.unstubAllGlobals())
}

type Sent = { readonly url?: string; readonly body?: object; readonly headers?: Record<string, string> }

async function sent(calls: readonly Sent[], capture: "full" | "redacted" | "hashed" = "full") {
  answering(() => new Response(JSON.stringify(answer)))
  const seen = recordInMemory({ capture, key: KEY })
  const run = seen.recorder.startRun({ entrypoint: "x", input: "x" })
  for (const { url = ANTHROPIC, body = base, headers = {} } of calls) {
    await (await run.fetch(url, { method: "POST", body: JSON.stringify(body), headers })).text()
  }
  run.complete()
  expect(contractProblems(seen.sink)).toEqual([])
  return { ...seen, called: seen.eventsOf("model_called").map(({ payload }) => payload) }
}

test("[R-17] what invalidates a cache beside the prompt is a digest of its own, in every mode", async () => {
  for (const capture of ["full", "redacted", "hashed"] as const) {
    const { called } = await sent(
      [
        {},
        { body: { ...base, temperature: 0.4, metadata: { user_id: "u" } } },
        { body: { ...base, tool_choice: { type: "any" } } },
        { body: { ...base, thinking: { type: "enabled", budget_tokens: 2000 } } },
        { body: { ...base, thinking: { budget_tokens: 2000, type: "enabled" } } },
        { headers: { "anthropic-beta": "context-1m" } },
        { body: { ...base, speed: "fast" } },
      ],
      capture,
    )
    const digests = called.map(({ cache_params_digest }) => cache_params_digest)
    expect(digests[0]).toMatch(/^sha256:/)
    expect(digests[1]).toBe(digests[0])
    expect(digests[4]).toBe(digests[3])
    expect(new Set(digests).size).toBe(5)
  }
})

test("[R-17] the account and the cache key are keyed tags, and never the values", async () => {
  const chat = "https://api.openai.com/v1/chat/completions"
  const keyed = (key: string) => ({ model: "m", messages: base.messages, prompt_cache_key: key })
  for (const capture of ["full", "redacted", "hashed"] as const) {
    const { called, sink } = await sent(
      [
        { headers: { "x-api-key": "plain-canary-one" } },
        { headers: { "x-api-key": "plain-canary-one", "x-other": "1" } },
        { headers: { "x-api-key": "plain-canary-two" } },
        { url: chat, body: keyed("lane-canary-a") },
        { url: chat, body: keyed("lane-canary-a") },
        { url: chat, body: keyed("lane-canary-b") },
        {
          url: "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent?key=plain-canary-one",
          body: { contents: [] },
        },
      ],
      capture,
    )
    const accounts = called.map(({ account_tag }) => account_tag)
    expect(accounts[0]).toMatch(/^hmac:[0-9a-f]{24}$/)
    expect(accounts[1]).toBe(accounts[0])
    expect(accounts[2]).not.toBe(accounts[0])
    expect(accounts[3]).toBeUndefined()
    expect(accounts[6]).toMatch(/^hmac:/)
    const keys = called.map(({ cache_key_tag }) => cache_key_tag)
    expect(keys.slice(0, 3)).toEqual([undefined, undefined, undefined])
    expect(keys[4]).toBe(keys[3])
    expect(keys[5]).not.toBe(keys[3])
    expect(JSON.stringify(sink.events)).not.toMatch(/plain-canary|lane-canary/)
  }
})

test("[R-17] under hashed every digest of a segment is keyed, and its volatile places stay readable", async () => {
  const body = {
    ...base,
    messages: [{ role: "user", content: [{ type: "image", source: { type: "base64", data: "aGVsbG8gd29ybGQ=" } }] }],
  }
  const [full, hashed, again] = [
    await sent([{ body }]),
    await sent([{ body }], "hashed"),
    await sent([{ body }], "hashed"),
  ]
  const segmentsOf = ({ only }: typeof full) => only("prompt_assembled").payload.segments
  const names = ["segment_hash", "canonical_hash", "stable_hash", "media_hash"] as const
  for (const name of names) {
    const at = name === "media_hash" ? 1 : 0
    expect(segmentsOf(full)[at]![name]).toMatch(/^sha256:/)
    expect(segmentsOf(hashed)[at]![name]).not.toBe(segmentsOf(full)[at]![name])
    expect(segmentsOf(again)[at]![name]).toBe(segmentsOf(hashed)[at]![name])
  }
  expect(segmentsOf(hashed)[0]!.volatile).toEqual([{ kind: "time", start: 5, length: 8 }])
  expect(hashed.called[0]!.cache_params_digest).not.toBe(full.called[0]!.cache_params_digest)
})

test("[R-17] a caller says warm or real: to step.model, or in a header that leaves no machine", async () => {
  const { called } = await sent([
    {},
    { headers: { "X-Orangebox-Cache-Use": "warm" } },
    { headers: { "x-orangebox-cache-use": "nonsense" } },
  ])
  expect(called.map(({ cache_use }) => cache_use)).toEqual(["unknown", "warm", "unknown"])
  const fetched = vi
    .mocked(globalThis.fetch)
    .mock.calls.map(([, init]) => JSON.stringify([...new Headers(init?.headers)]))
  expect(fetched.join()).not.toContain("orangebox")
  const { recorder, eventsOf } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  for (const cacheUse of ["warm", "real"] as const) {
    await run.model({ provider: "anthropic", model: "m", request: base, cacheUse }, async (_send, step) => {
      await (await step.fetch(ANTHROPIC, { method: "POST", body: JSON.stringify(base) })).text()
      return answer
    })
  }
  await run.model({ provider: "our-own", model: "m", request: "hi", cacheUse: "warm" }, () => "x")
  expect(eventsOf("model_called").map(({ payload }) => payload.cache_use)).toEqual([
    "warm",
    "warm",
    "real",
    "real",
    "warm",
  ])
})

test("[R-17] the provider's own reason for a cache miss, the ids of the calls it asks for and its thinking time are kept", async () => {
  const events = [
    {
      type: "message_start",
      message: {
        ...answer,
        content: [],
        diagnostics: { cache_miss_reason: { type: "system_changed", cache_missed_input_tokens: 41210 } },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_7", name: "ls", input: {} },
    },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "toolu_8", name: "ls", input: {} },
    },
    { type: "message_stop" },
  ]
  const { recorder, only } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "x", input: "x" })
  const step = run.startModel({ provider: "anthropic", model: "m", request: base })
  for (const event of events) step.chunk(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  step.endModel({})
  const { cache_diagnosis, requested_tools, requested_tool_ids, thinking_ms } = only("model_result").payload
  expect(cache_diagnosis).toEqual({ type: "system_changed", missed_tokens: 41210 })
  expect(requested_tools).toEqual(["ls", "ls"])
  expect(requested_tool_ids).toEqual(["toolu_7", "toolu_8"])
  // The clock of this recorder goes on by itself between any two looks at it.
  expect(thinking_ms).toBeGreaterThan(0)
})

test("[R-17] a whole answer of the Responses API gives its reason too, and a hit gives none", async () => {
  const url = "https://api.openai.com/v1/responses"
  const asked = async (prompt_cache_diagnostics: object) => {
    answering(
      () =>
        new Response(JSON.stringify({ object: "response", status: "completed", output: [], prompt_cache_diagnostics })),
    )
    const { recorder, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    await (await run.fetch(url, { method: "POST", body: JSON.stringify({ model: "m", input: "hi" }) })).text()
    return only("model_result").payload.cache_diagnosis
  }
  expect(await asked({ type: "cache_miss", reason: "tools_changed", cache_missed_tokens: 12 })).toEqual({
    type: "tools_changed",
    missed_tokens: 12,
  })
  expect(await asked({ type: "unavailable" })).toEqual({ type: "unavailable", missed_tokens: null })
  expect(await asked({ type: "cache_hit" })).toBeUndefined()
})

test("[R-17] a tool's result says what the model was told of it, where the application tells", async () => {
  for (const capture of ["full", "redacted", "hashed"] as const) {
    const { recorder, eventsOf, sink } = recordInMemory({ capture })
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    const told = { isError: false, content: "(output cut)" }
    await run.tool({ name: "sh", args: {}, describe: () => ({ exitCode: 1, toldModel: told }) }, () => "a long output")
    await run.tool({ name: "sh", args: {}, describe: () => ({ toldModel: { isError: true } }) }, () => "short")
    await run.tool({ name: "sh", args: {} }, () => "untold")
    run.complete()
    const [cut, whole, untold] = eventsOf("tool_result").map(({ payload }) => payload)
    expect(cut!.told_model).toEqual({ is_error: false, ref: expect.stringMatching(/^sha256:/) })
    expect(cut!.told_model!.ref).not.toBe(cut!.result_ref)
    expect(whole!.told_model).toEqual({ is_error: true, ref: whole!.result_ref })
    expect(untold!.told_model).toBeUndefined()
    expect(contractProblems(sink)).toEqual([])
  }
})
