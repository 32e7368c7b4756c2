import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cacheJson, cacheText } from "@orangebox/query"
import { Recorder, type Run } from "@orangebox/recorder"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { findRun, loadCacheAudit, readStore } from "../../src/index.js"
import { type CachingServer, startCachingServer } from "./caching-server.js"

type Json = Record<string, unknown>
type Capture = "full" | "redacted" | "hashed"

let nowMs = Date.UTC(2026, 10, 18)
let server: CachingServer
let folder: string

beforeAll(async () => {
  server = await startCachingServer({ minimumTokens: 1024, livesMs: 5 * 60_000, now: () => nowMs })
})
afterAll(() => server.close())
beforeEach(() => {
  server.evict()
  folder = mkdtempSync(join(tmpdir(), "orangebox-cache-"))
  return () => rmSync(folder, { recursive: true })
})

const PROSE = "You fix bugs in small steps and say what you did. ".repeat(110)
const MARK = { cache_control: { type: "ephemeral" } }
const tool = (name: string, properties: Json = { path: { type: "string" }, limit: { type: "integer" } }): Json => ({
  name,
  description: `Does ${name}. ${"It is careful. ".repeat(8)}`,
  input_schema: { type: "object", properties },
})
const PICTURE = Buffer.from("not really a picture, but bytes are bytes".repeat(8))

interface Prompt {
  readonly model?: string
  readonly system?: string
  readonly tools?: readonly Json[]
  /** What was said before the last question. */
  readonly history?: readonly Json[]
  readonly mark?: "last" | "system" | "none"
  readonly question?: string
  readonly more?: Json
  readonly headers?: Record<string, string>
  readonly image?: string
}

/** A request over the Messages API whose prefix is kept up to its last message, unless it says otherwise. */
function messages({
  model = "claude-sonnet-5",
  system = PROSE,
  tools = [tool("read"), tool("edit")],
  ...prompt
}: Prompt) {
  const { history = [], mark = "last", question = "go on", more = {}, image } = prompt
  const said = history.length === 0 ? [{ role: "user", content: [{ type: "text", text: "first" }] }] : [...history]
  const picture =
    image === undefined ? [] : [{ type: "image", source: { type: "base64", media_type: "image/png", data: image } }]
  const last = {
    role: "user",
    content: [...picture, { type: "text", text: question, ...(mark === "last" ? MARK : {}) }],
  }
  return {
    model,
    max_tokens: 64,
    tools,
    system: [{ type: "text", text: system, ...(mark === "system" ? MARK : {}) }],
    messages: [...said, { role: "assistant", content: [{ type: "text", text: "ok" }] }, last],
    ...more,
  }
}

async function send(run: Run, path: string, body: Json, headers: Record<string, string> = {}): Promise<void> {
  nowMs += 1000
  const response = await run.fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k-1", ...headers },
    body: JSON.stringify(body),
  })
  await response.text()
}

/** Records what `calls` does, and says how the cache served its last call. */
async function audited(capture: Capture, calls: (run: Run) => Promise<void>) {
  const recorder = Recorder.open({
    app: "cached",
    folder,
    cwd: folder,
    capture,
    environment: "local",
    now: () => ({ wallMs: nowMs, monoUs: nowMs * 1000 }),
  })
  const run = recorder.startRun({ entrypoint: "fix", input: "fix it" })
  await calls(run)
  run.complete()
  recorder.close()
  return readStore({ data: folder }, async ({ store }) => {
    const loaded = await findRun(store, run.runId)
    const audit = await loadCacheAudit(store, store, loaded)
    const json = cacheJson(audit, { runId: run.runId, address: "last", nonce: "0000", budget: 100_000 })
    return { audit, json, last: json.calls.at(-1)! }
  })
}

const MESSAGES = "/v1/messages"
const clock = (time: string): string => `It is ${time}. ${PROSE}`
const turns = (count: number): Json[] =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text: `turn ${at} ${"words ".repeat(30)}` }],
  }))

function later(minutes: number): void {
  nowMs += minutes * 60_000
}

interface Case {
  readonly cause: string
  readonly before: Prompt
  readonly now: Prompt
  /** Between the two calls. */
  readonly meanwhile?: (run: Run) => Promise<void> | void
  readonly contributor?: string
}

const CASES: readonly Case[] = [
  {
    cause: "volatile_value",
    before: { system: clock("09:41:07") },
    now: { system: clock("09:43:12") },
    contributor: "system",
  },
  {
    cause: "unstable_serialisation",
    before: { tools: [tool("read", { path: { type: "string" }, limit: { type: "integer" } })] },
    now: { tools: [tool("read", { limit: { type: "integer" }, path: { type: "string" } })] },
    contributor: "tool:read",
  },
  {
    cause: "reencoded_attachment",
    before: { image: PICTURE.toString("base64") },
    now: { image: PICTURE.toString("base64").replace(/=+$/, "") },
  },
  {
    cause: "tools_changed",
    before: { tools: [tool("read")] },
    now: { tools: [tool("write")] },
    contributor: "tool:write",
  },
  {
    cause: "history_rewritten",
    before: { history: turns(5) },
    now: {
      history: turns(5).map((turn, at) => (at === 2 ? { ...turn, content: [{ type: "text", text: "cut" }] } : turn)),
    },
    contributor: "user",
  },
  { cause: "content_changed", before: {}, now: { system: `${PROSE}Be brief.` }, contributor: "system" },
  { cause: "params_changed", before: {}, now: { more: { tool_choice: { type: "any" } } } },
  { cause: "mark_missing", before: {}, now: { mark: "none" } },
  { cause: "mark_moved", before: { history: turns(9) }, now: { history: turns(9), mark: "system" } },
  {
    cause: "lookback_exceeded",
    before: { history: turns(3), question: "a" },
    now: {
      history: [
        ...turns(3),
        { role: "assistant", content: [{ type: "text", text: "ok" }] },
        { role: "user", content: [{ type: "text", text: "a" }] },
        ...turns(27).slice(1),
      ],
    },
  },
  { cause: "ttl_gap", before: {}, now: {}, meanwhile: () => later(6) },
  { cause: "model_changed", before: {}, now: { model: "claude-sonnet-4-5" } },
  { cause: "model_changed", before: {}, now: { headers: { "x-api-key": "k-2" } } },
  { cause: "not_served", before: {}, now: {}, meanwhile: () => server.evict() },
]

describe.each(["full", "redacted", "hashed"] as const)("[H-02] [H-03] [H-04] capture %s", (capture) => {
  test.each(CASES)("a miss is $cause", async ({ cause, before, now, meanwhile, contributor }) => {
    const { last } = await audited(capture, async (run) => {
      await send(run, MESSAGES, messages(before), before.headers)
      await meanwhile?.(run)
      await send(run, MESSAGES, messages(now), now.headers)
    })
    expect(last).toMatchObject({ verdict: last.read_tokens === 0 ? "miss" : "short", cause })
    expect(last.lost_tokens).toBeGreaterThan(0)
    if (contributor !== undefined) expect(last.segment).toMatchObject({ contributor })
    // With the bytes at hand the place is exact, without them it is the segment.
    const hasBytes = last.segment !== null && capture !== "hashed"
    expect(last.bytes !== null).toBe(hasBytes)
    expect(last.confidence).toBe(last.segment === null ? null : hasBytes ? "proven" : "likely")
  })

  test("[H-05] a prefix that goes on is a hit, by the provider's own figures, and the first call is none", async () => {
    const { json } = await audited(capture, async (run) => {
      for (const count of [1, 2, 3, 4]) await send(run, MESSAGES, goingOn(count))
    })
    expect(json.calls.map(({ verdict, why }) => verdict ?? why)).toEqual(["first", "hit", "hit", "hit"])
    expect(json).toMatchObject({ lost_tokens: 0, unpriced_calls: 0 })
    expect(
      json.calls.every(({ is_exact, expected_tokens, read_tokens }) => !is_exact || expected_tokens === read_tokens),
    ).toBe(true)
  })
})

/** A conversation of so many questions, marked at the last one. */
function goingOn(questions: number): Json {
  const said = Array.from({ length: questions }, (_, at) => [
    { role: "user", content: [{ type: "text", text: `question ${at}`, ...(at === questions - 1 ? MARK : {}) }] },
    ...(at === questions - 1 ? [] : [{ role: "assistant", content: [{ type: "text", text: "ok" }] }]),
  ]).flat()
  return { ...messages({}), messages: said }
}

test("[H-03] agents that take turns in one run, each with a prompt of its own, break no cache of each other", async () => {
  const { json } = await audited("redacted", async (run) => {
    for (let turn = 1; turn <= 3; turn++) {
      for (const name of ["planner", "coder"]) {
        const body = goingOn(turn)
        const said = (body["messages"] as Json[]).map((message) =>
          JSON.parse(JSON.stringify(message).replaceAll("question", name)),
        )
        await send(run, MESSAGES, {
          ...body,
          ...{ system: [{ type: "text", text: `You are the ${name}. ${PROSE}` }], messages: said },
        })
      }
    }
  })
  expect(json.calls.map(({ cause }) => cause)).toEqual(json.calls.map(() => null))
  expect(json.calls.map(({ verdict }) => verdict)).toEqual([null, null, "hit", "hit", "hit", "hit"])
})

test("[H-05] a prompt that is shorter than the least that is kept is no miss, whatever the call before had left", async () => {
  const { json } = await audited("redacted", async (run) => {
    await send(run, MESSAGES, goingOn(1))
    await send(run, MESSAGES, { ...goingOn(1), system: [{ type: "text", text: "Be brief.", ...MARK }], tools: [] })
  })
  expect(json.calls[1]).toMatchObject({ verdict: null, cause: null })
})

test("[H-03] what was warmed is not what is asked: wrong_prefix_warmed", async () => {
  const { last } = await audited("redacted", async (run) => {
    await send(run, MESSAGES, goingOn(1))
    later(6)
    await send(
      run,
      MESSAGES,
      { ...messages({ system: clock("09:41:07"), mark: "system" }) },
      { "x-orangebox-cache-use": "warm" },
    )
    await send(run, MESSAGES, goingOn(2))
  })
  expect(last).toMatchObject({ verdict: "miss", cause: "wrong_prefix_warmed" })
})

test("[H-03] a call that begins before the one that writes has answered is concurrent", async () => {
  const { json } = await audited("redacted", async (run) => {
    const first = send(run, MESSAGES, goingOn(1))
    server.evict()
    const second = send(run, MESSAGES, goingOn(1))
    await first
    server.evict()
    await second
  })
  // Which of the two the server reads first is its own affair; neither is blamed on the prompt.
  for (const { cause } of json.calls) expect([null, "concurrent", "not_served"]).toContain(cause)
})

test("[H-05] too short a prompt is not expected to be kept, and a call without a rule is unknown", async () => {
  const { json } = await audited("redacted", async (run) => {
    const short = { ...messages({ system: "Be brief.", tools: [] }) }
    await send(run, MESSAGES, short)
    await send(run, MESSAGES, short)
    await send(run, "/v1/chat/completions", { model: "some-model", messages: [{ role: "user", content: "hi" }] })
  })
  expect(json.calls.map(({ verdict }) => verdict)).toEqual([null, null, "unknown"])
  expect(json.calls[1]!.why).toMatch(/kept nothing: ≈\d+ tokens, 1024 are the least/)
  expect(json.calls[2]!.why).toBe("no rule says how some-model is cached")
})

test("[H-03] what the application put together names a skill, which on the wire is system text", async () => {
  const { last } = await audited("redacted", async (run) => {
    for (const skill of ["Use the web. ", "Use the web with care. "]) {
      const step = run.step("ask")
      step.promptAssembled({
        segments: [
          { contributor: "persona", kind: "persona", content: PROSE },
          { contributor: "skill:web", kind: "skill", content: skill },
        ],
      })
      const body = messages({ system: PROSE + skill })
      nowMs += 1000
      await (
        await step.fetch(`${server.url}${MESSAGES}`, {
          method: "POST",
          headers: { "x-api-key": "k" },
          body: JSON.stringify(body),
        })
      ).text()
      step.end()
    }
  })
  expect(last).toMatchObject({ cause: "injection_changed", segment: { contributor: "skill:web", kind: "skill" } })
})

describe("[H-03] a cache that keeps by itself", () => {
  const chat = (system: string, ...said: string[]): Json => ({
    model: "gpt-5.4",
    messages: [{ role: "system", content: system }, ...said.map((content) => ({ role: "user", content }))],
  })
  const CHAT = "/v1/chat/completions"

  test("changed bytes are a finding", async () => {
    const { last } = await audited("redacted", async (run) => {
      await send(run, CHAT, chat(clock("09:41:07"), "a"))
      await send(run, CHAT, chat(clock("09:43:12"), "a", "b"))
    })
    expect(last).toMatchObject({
      verdict: "miss",
      cause: "volatile_value",
      confidence: "proven",
      bytes: { at: expect.any(Number) },
    })
  })

  test("a miss for which nothing changed is nobody's fault", async () => {
    const { last } = await audited("redacted", async (run) => {
      await send(run, CHAT, chat(PROSE, "a"))
      server.evict()
      await send(run, CHAT, chat(PROSE, "a", "b"))
    })
    expect(last).toMatchObject({ verdict: "unknown", cause: null, lost_tokens: null })
    expect(last.why).toMatch(/promises nothing/)
  })
})

test("[H-02] the answer says byte, segment and whether the application or a transform put it there, with recorded text fenced", async () => {
  const { audit } = await audited("redacted", async (run) => {
    await send(run, MESSAGES, messages({ system: clock("09:41:07") }))
    await send(run, MESSAGES, messages({ system: clock("09:43:12") }))
  })
  const text = cacheText(audit, { runId: "run_1", address: "last", nonce: "5e0d" })
  expect(text).toMatch(
    /^cache run_1 · read 0 of 1\.\dk expected · lost 1\.\dk = \$0\.00\d+ \(prices \S+, rules \S+\)\n/,
  )
  expect(text).toMatch(/miss {4}0 of 1\.\dk +written 1\.\dk +volatile_value system byte 33, 4 bytes, since #2/)
  expect(text).toMatch(/⟦recorded 5e0d⟧.*09:41:07.*⟦\/5e0d⟧ → ⟦recorded 5e0d⟧.*09:43:12.*⟦\/5e0d⟧/)
})

test("[H-02] asked about one call, the sums are those of that call", async () => {
  const { audit } = await audited("redacted", async (run) => {
    for (const time of ["09:41:07", "09:43:12", "09:44:50"])
      await send(run, MESSAGES, messages({ system: clock(time) }))
  })
  const [, second, third] = audit.calls
  expect(audit.lostTokens).toBe(second!.lostTokens! + third!.lostTokens!)
  const one = await readStore({ data: folder }, async ({ store }) =>
    loadCacheAudit(store, store, await findRun(store, "last"), { n: third!.call.n }),
  )
  expect(one.calls.map(({ call }) => call.n)).toEqual([third!.call.n])
  expect([one.expected, one.lostTokens, one.lostUsd]).toEqual([third!.expected, third!.lostTokens, third!.lostUsd])
})

test("[H-02] the next task of an agent, and a helper's, break no cache: they could read what all of them begin with", async () => {
  const { audit } = await audited("redacted", async (run) => {
    for (const task of ["first task", "second task", "third task"]) {
      const opening = { role: "user", content: [{ type: "text", text: task }] }
      const answer = { role: "assistant", content: [{ type: "text", text: `about the ${task}` }] }
      await send(run, MESSAGES, messages({ history: [opening], mark: "system" }))
      await send(run, MESSAGES, messages({ history: [opening, answer], mark: "system" }))
    }
  })
  expect(audit.calls.map(({ verdict }) => verdict)).toEqual([null, "hit", "hit", "hit", "hit", "hit"])
  expect(audit.lostTokens).toBe(0)
})
