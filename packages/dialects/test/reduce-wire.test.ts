import { describe, expect, test } from "vitest"
import {
  detectDialect,
  EMPTY_WIRE_STATE,
  finishWire,
  foldResponse,
  type ResponseObserved,
  reduceWire,
  type WireFact,
  type WireObservation,
  type WireState,
} from "../src/index.js"

type Message = Record<string, unknown>
type Fact<Name extends WireFact["fact"]> = Extract<WireFact, { fact: Name }>

/** Traffic as a proxy would see it; the clock ticks once per observation. */
class Traffic {
  state: WireState = EMPTY_WIRE_STATE
  readonly facts: WireFact[] = []
  readonly seen: WireObservation[] = []
  private readonly paths = new Map<string, string>()

  observe(observation: WireObservation): void {
    this.seen.push(observation)
    const step = reduceWire(this.state, observation)
    this.state = step.state
    this.facts.push(...step.facts)
  }

  ask(
    call: string,
    body: Message,
    more: { path?: string; method?: string; headers?: Record<string, string> } = {},
  ): this {
    const path = more.path ?? "/v1/messages"
    this.paths.set(call, path)
    this.observe({
      kind: "request",
      call,
      atMs: this.seen.length,
      method: more.method ?? "POST",
      path,
      body: Buffer.from(JSON.stringify(body)),
      ...(more.headers ? { headers: more.headers } : {}),
    })
    return this
  }

  reply(call: string, body: unknown, more: Partial<ResponseObserved> = {}): this {
    const found = detectDialect({ method: "POST", path: this.paths.get(call)! })
    const answer =
      found && foldResponse(found.dialect, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)))
    this.observe({
      kind: "response",
      call,
      atMs: this.seen.length,
      status: 200,
      end: "complete",
      ...(answer ? { answer } : {}),
      ...more,
    })
    return this
  }

  of<Name extends WireFact["fact"]>(name: Name, call?: string): Fact<Name>[] {
    return this.facts.filter(
      (fact): fact is Fact<Name> => fact.fact === name && (call === undefined || fact.call === call),
    )
  }
  placed(call: string): Fact<"call_placed"> {
    return this.of("call_placed", call)[0]!
  }
}

const SYSTEM = "You are a careful engineer."
const TOOLS = [
  { name: "read", description: "Reads", input_schema: { type: "object" } },
  { name: "Task", input_schema: {} },
]
const user = (content: unknown): Message => ({ role: "user", content })
const said = (...content: Message[]): Message => ({ role: "assistant", content })
const text = (value: string): Message => ({ type: "text", text: value })
const use = (id: string, name: string, input: unknown): Message => ({ type: "tool_use", id, name, input })
const result = (id: string, content: string, more: Message = {}): Message => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
})
const request = (messages: Message[], more: Message = {}): Message => ({
  model: "claude-sonnet-4-5",
  max_tokens: 1000,
  system: SYSTEM,
  tools: TOOLS,
  messages,
  ...more,
})
const answer = (...content: Message[]): Message => ({
  type: "message",
  id: `msg_${JSON.stringify(content).length}`,
  role: "assistant",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** Two turns with a tool between them. */
function twoTurns(): Traffic {
  const call = use("toolu_1", "read", { path: "a.ts", deep: { b: 1, a: 2 } })
  return new Traffic()
    .ask("c1", request([user("Fix the test")]))
    .reply("c1", answer({ type: "thinking", thinking: "hm", signature: "s" }, text("Reading. "), call))
    .ask(
      "c2",
      request([
        user([{ ...text("Fix the test"), cache_control: { type: "ephemeral" } }]),
        said(text("Reading."), use("toolu_1", "read", { deep: { a: 2, b: 1 }, path: "a.ts" })),
        user([result("toolu_1", "line 1", { is_error: true })]),
      ]),
    )
    .reply("c2", answer(text("Done.")))
}

describe("[K-09] lanes from traffic alone", () => {
  test("a conversation is one lane, each call following the one before, tool calls paired with their results", () => {
    const traffic = twoTurns()
    expect(traffic.of("lane_started")).toMatchObject([{ lane: "c1", reason: "first", call: "c1" }])
    expect(traffic.placed("c1")).toMatchObject({ lane: "c1", follows: null, attemptNo: 1, attemptOf: "c1" })
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1", followsBy: "messages", newParts: 1 })
    expect(traffic.of("tool_called")).toMatchObject([{ call: "c1", toolCallId: "toolu_1", tool: "read", lane: "c1" }])
    expect(traffic.of("tool_answered")).toMatchObject([
      { call: "c2", calledBy: "c1", calledAtMs: 1, tool: "read", text: "line 1", isError: true },
    ])
    expect(traffic.facts.every((fact) => fact.inferred_by === "wire-reducer@1")).toBe(true)
    expect(traffic.facts.filter(({ fact }) => /changed|side_call/.test(fact))).toEqual([])
  })

  test("two conversations at once are two lanes, whatever the order their calls come in", () => {
    const traffic = new Traffic()
      .ask("a1", request([user("Task A")]))
      .ask("b1", request([user("Task B")]))
      .reply("b1", answer(text("B one")))
      .reply("a1", answer(text("A one")))
      .ask("b2", request([user("Task B"), said(text("B one")), user("go on")]))
      .ask("a2", request([user("Task A"), said(text("A one")), user("go on")]))
    expect(traffic.placed("a2")).toMatchObject({ lane: "a1", follows: "a1" })
    expect(traffic.placed("b2")).toMatchObject({ lane: "b1", follows: "b1" })
  })

  test("two conversations that open with the same reminder are two", () => {
    const reminder = text("<reminder>The date is Monday.</reminder>")
    const traffic = new Traffic()
      .ask("a1", request([user([reminder, text("Task A")])]))
      .reply("a1", answer(text("A one")))
      .ask("b1", request([user([reminder, text("Task B")])]))
    expect(traffic.of("lane_started").map(({ lane, reason }) => [lane, reason])).toEqual([
      ["a1", "first"],
      ["b1", "separate"],
    ])
  })

  test("a reminder that was only in the last request does not break the lane", () => {
    const traffic = new Traffic()
      .ask("c1", request([user([text("Hi"), text("<reminder>Two files changed.</reminder>")])]))
      .reply("c1", answer(text("Hello")))
      .ask("c2", request([user([text("Hi")]), said(text("Hello")), user("Bye")]))
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1" })
  })

  test("one question asked twice at once: each goes on from its own answer", () => {
    const question = request([user("Pick a number")])
    const traffic = new Traffic()
      .ask("x1", question)
      .ask("y1", question)
      .reply("x1", answer(text("Seven")))
      .reply("y1", answer(text("Four")))
      .ask("y2", request([user("Pick a number"), said(text("Four")), user("why?")]))
    expect(traffic.of("lane_started").map(({ lane, reason }) => [lane, reason])).toEqual([
      ["x1", "first"],
      ["y1", "repeat"],
    ])
    expect(traffic.placed("y2")).toMatchObject({ lane: "y1", follows: "y1" })
  })

  test("a sub-agent is a lane of its own, tied to the tool call that asked for it", () => {
    const task = "Find every caller of parseDate and list the files."
    const traffic = new Traffic()
      .ask("m1", request([user("Refactor")]))
      .reply("m1", answer(use("toolu_t", "Task", { description: "search", prompt: task })))
      .ask(
        "s1",
        request([user([text("<reminder>be brief</reminder>"), text(task)])], {
          system: "You search.",
          tools: TOOLS.slice(0, 1),
        }),
      )
      .reply("s1", answer(text("a.ts, b.ts")))
      .ask(
        "m2",
        request([
          user("Refactor"),
          said(use("toolu_t", "Task", { description: "search", prompt: task })),
          user([result("toolu_t", "a.ts, b.ts")]),
        ]),
      )
    expect(traffic.of("lane_started", "s1")).toMatchObject([
      { reason: "sub_agent", certainty: "likely", spawnedBy: { call: "m1", toolCallId: "toolu_t", tool: "Task" } },
    ])
    expect(traffic.placed("m2")).toMatchObject({ lane: "m1", follows: "m1" })
  })

  test("tools or system that change between turns do not break the lane, and are named", () => {
    const traffic = twoTurns().ask(
      "c3",
      request(
        [
          user("Fix the test"),
          said(text("Reading."), use("toolu_1", "read", { path: "a.ts", deep: { a: 2, b: 1 } })),
          user([result("toolu_1", "line 1")]),
          said(text("Done.")),
          user("more"),
        ],
        { tools: TOOLS.slice(0, 1) },
      ),
    )
    expect(traffic.placed("c3")).toMatchObject({ lane: "c1", follows: "c2" })
    expect(traffic.of("prompt_changed", "c3")).toMatchObject([{ what: ["tools"] }])
  })

  test("Claude Code's billing line changes nothing", () => {
    const billed = (n: number) => [text(`x-anthropic-billing-header: cch=${n}`), text(SYSTEM)]
    const traffic = new Traffic()
      .ask("c1", request([user("Hi")], { system: billed(1) }))
      .reply("c1", answer(text("Hello")))
      .ask("c2", request([user("Hi"), said(text("Hello")), user("Bye")], { system: billed(2) }))
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1" })
    expect(traffic.of("prompt_changed")).toEqual([])
  })

  test("the client's own name for the conversation is passed on as a hint", () => {
    const traffic = new Traffic().ask("c1", request([user("Hi")]), { headers: { "x-claude-code-session-id": "s-1" } })
    expect(traffic.of("conversation_named")).toMatchObject([{ conversationId: "s-1", from: "header", lane: "c1" }])
  })

  const uuid = "0199b3c2-7d1e-7f00-8a3b-5c6d7e8f9a0b"
  const names: [string, Message, Parameters<Traffic["ask"]>[2], string | undefined][] = [
    [
      "a session in the user id",
      request([user("Hi")], { metadata: { user_id: `user_ab_account__session_${uuid}` } }),
      {},
      uuid,
    ],
    [
      "a user id that is JSON",
      request([user("Hi")], { metadata: { user_id: `{"device_id":"d","session_id":"${uuid}"}` } }),
      {},
      uuid,
    ],
    [
      "a session header beside a window that counts compactions",
      { model: "m", input: "Hi" },
      { path: "/v1/responses", headers: { "session-id": uuid, "x-codex-window-id": `${uuid}:3` } },
      uuid,
    ],
    [
      "the older spelling of it",
      { model: "m", input: "Hi" },
      { path: "/v1/responses", headers: { session_id: uuid } },
      uuid,
    ],
    [
      "a window alone, whatever its count",
      { model: "m", input: "Hi" },
      { path: "/v1/responses", headers: { "x-codex-window-id": `${uuid}:3` } },
      uuid,
    ],
    [
      "a cache key made for one session",
      { model: "m", input: "Hi", prompt_cache_key: uuid },
      { path: "/v1/responses" },
      uuid,
    ],
    [
      "the same in chat completions",
      { model: "m", messages: [user("Hi")], prompt_cache_key: "ses_6f2a91bc4d3e8a7f01" },
      { path: "/v1/chat/completions" },
      "ses_6f2a91bc4d3e8a7f01",
    ],
    [
      "a conversation that the provider keeps",
      { model: "m", input: "Hi", conversation: "conv_68e1f0a2b3c4d5e6f7", prompt_cache_key: uuid },
      { path: "/v1/responses" },
      "conv_68e1f0a2b3c4d5e6f7",
    ],
    [
      "a session header of another client",
      request([user("Hi")]),
      { headers: { "x-opencode-session": "ses_1" } },
      "ses_1",
    ],
    [
      "a session inside a wrapped request",
      { model: "m", request: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], session_id: uuid } },
      { path: "/v1internal:generateContent" },
      uuid,
    ],
    [
      "a cache key that all users share",
      { model: "m", input: "Hi", prompt_cache_key: "support-assistant-v12" },
      { path: "/v1/responses" },
      undefined,
    ],
    ["a user that is no session", request([user("Hi")], { metadata: { user_id: "user-17" } }), {}, undefined],
  ]
  test.each(names)("[R-17] the conversation is named by %s, or by nobody", (_, body, more, expected) => {
    const named = new Traffic().ask("c1", body, more).of("conversation_named")
    expect(named.map(({ conversationId }) => conversationId)).toEqual(expected === undefined ? [] : [expected])
  })
})

describe("[K-09] attempts of one logical call", () => {
  const prompt = request([user("Go")], { stream: true })
  const failures: [string, (traffic: Traffic) => Traffic][] = [
    [
      "an overloaded provider",
      (t) => t.reply("c1", { type: "error", error: { type: "overloaded_error", message: "busy" } }, { status: 529 }),
    ],
    ["a rate limit", (t) => t.reply("c1", "{}", { status: 429 })],
    ["a connection that broke", (t) => t.reply("c1", "", { status: null, end: "upstream_reset" })],
    [
      "a client that gave up",
      (t) => t.reply("c1", 'data: {"type":"message_start","message":{}}\n\n', { end: "client_abort" }),
    ],
    [
      "an error in mid-stream",
      (t) => t.reply("c1", 'data: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n'),
    ],
  ]
  test.each(failures)("the same bytes after %s", (_what, fail) => {
    const traffic = fail(new Traffic().ask("c1", prompt))
      .ask("c2", prompt)
      .reply("c2", answer(text("ok")))
    expect(traffic.placed("c2")).toMatchObject({
      attemptOf: "c1",
      attemptNo: 2,
      retryBecause: "same_bytes",
      lane: "c1",
      newParts: 0,
    })
    expect(traffic.of("lane_started")).toHaveLength(1)
  })

  test("falling back to an answer without streaming, and then going on", () => {
    const traffic = new Traffic()
      .ask("c1", prompt)
      .reply("c1", "", { status: null, end: "timeout" })
      .ask("c2", { ...prompt, stream: false, max_tokens: 500 })
      .reply("c2", answer(text("ok")))
      .ask("c3", request([user("Go"), said(text("ok")), user("next")]))
    expect(traffic.placed("c2")).toMatchObject({ attemptOf: "c1", attemptNo: 2, retryBecause: "same_prompt" })
    expect(traffic.placed("c3")).toMatchObject({ lane: "c1", follows: "c2", attemptNo: 1 })
  })

  test("a third attempt counts on, and a repeat after success is no retry unless the client says so", () => {
    const traffic = new Traffic()
      .ask("c1", prompt)
      .reply("c1", "{}", { status: 500 })
      .ask("c2", prompt)
      .reply("c2", "{}", { status: 503 })
      .ask("c3", prompt)
      .reply("c3", answer(text("ok")))
      .ask("c4", prompt)
      .ask("c5", prompt, { headers: { "x-stainless-retry-count": "1" } })
    expect(traffic.placed("c3")).toMatchObject({ attemptOf: "c1", attemptNo: 3 })
    expect(traffic.placed("c4")).toMatchObject({ attemptOf: "c4", attemptNo: 1 })
    expect(traffic.placed("c5")).toMatchObject({ attemptOf: "c4", attemptNo: 2 })
  })

  test("of equal prompts sent at once, each that fails is repeated once, whichever fails first", () => {
    const traffic = new Traffic()
      .ask("c1", prompt)
      .ask("c2", prompt)
      .reply("c2", "{}", { status: 429 })
      .ask("c3", prompt)
      .reply("c1", "{}", { status: 429 })
      .ask("c4", prompt)
      .ask("c5", prompt)
    expect(traffic.placed("c3")).toMatchObject({ attemptOf: "c2", attemptNo: 2 })
    expect(traffic.placed("c4")).toMatchObject({ attemptOf: "c1", attemptNo: 2 })
    expect(traffic.placed("c5")).toMatchObject({ attemptOf: "c5", attemptNo: 1 })
  })

  test("a client that leaves behind the terminal event did not abort", () => {
    const stream = '{"type":"message_start","message":{"id":"m"}}|{"type":"message_stop"}'
      .split("|")
      .map((data) => `data: ${data}\n\n`)
      .join("")
    const traffic = new Traffic().ask("c1", prompt).reply("c1", stream, { end: "client_abort" }).ask("c2", prompt)
    expect(traffic.placed("c2")).toMatchObject({ attemptNo: 1 })
  })
})

describe("[K-09] histories that change", () => {
  const summary = `Summary: ${"the date parser was moved to src/date.ts and two tests still fail; ".repeat(8)}`

  test("a summary that opens a new chain is a compaction of the lane it came from", () => {
    const traffic = twoTurns()
      .ask(
        "c3",
        request([
          user("Fix the test"),
          said(text("Reading."), use("toolu_1", "read", { path: "a.ts", deep: { a: 2, b: 1 } })),
          user([result("toolu_1", "line 1")]),
          said(text("Done.")),
          user("Summarise all of it."),
        ]),
      )
      .reply("c3", answer(text(summary)))
      .ask("c4", request([user(`This session goes on.\n${summary}\nPlease continue.`)]))
    expect(traffic.of("history_changed", "c4")).toMatchObject([
      { why: "compaction", from: { lane: "c1", call: "c3" }, certainty: "certain" },
    ])
    expect(traffic.of("lane_started", "c4")).toMatchObject([{ reason: "compaction", lane: "c4" }])
    expect(traffic.placed("c4")).toMatchObject({ lane: "c4", follows: "c3", followsBy: "summary" })
  })

  const asking: [string, Message][] = [
    [
      "at the end of the history",
      request([
        user("Fix it"),
        said(text("Done.")),
        user(
          "CRITICAL: text only.\n\nYour task is to create a detailed summary of the conversation so far, paying close attention",
        ),
      ]),
    ],
    [
      "by another prompt",
      request([user("Fix it"), said(text("Done.")), user("Summarize.")], {
        tools: [],
        system: "You are a helpful AI assistant tasked with summarizing conversations.",
      }),
    ],
    [
      "as a checkpoint",
      request(
        [
          user("Fix it"),
          said(text("Done.")),
          user("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary"),
        ],
        { tools: [] },
      ),
    ],
  ]
  test.each(asking)("[R-17] a request for a summary of the history is seen as one: %s", (_, body) => {
    const traffic = new Traffic()
      .ask("c1", request([user("Fix it")]))
      .reply("c1", answer(text("Done.")))
      .ask("k", body)
    expect(traffic.of("compaction_asked")).toMatchObject([{ call: "k", certainty: "likely" }])
  })

  test("[R-17] a user who asks about summaries asks for none, and one in the middle of a history is long past", () => {
    const traffic = new Traffic()
      .ask("c1", request([user("How do I write a good summary of the conversation?")]))
      .ask(
        "c2",
        request([
          user("Your task is to create a detailed summary of the conversation so far"),
          said(text("It was")),
          user("Go on"),
        ]),
      )
    expect(traffic.of("compaction_asked")).toEqual([])
    expect(traffic.of("history_changed")).toEqual([])
  })

  test("[R-17] a history that goes on from a summary nobody here saw is a compaction all the same", () => {
    const traffic = new Traffic().ask(
      "c1",
      request([
        user("This session is being continued from a previous conversation that ran out of context. Summary: …"),
      ]),
    )
    expect(traffic.of("history_changed")).toMatchObject([
      { why: "compaction", from: { call: null }, certainty: "likely" },
    ])
    expect(traffic.of("lane_started")).toMatchObject([{ reason: "first" }])
  })

  test("[R-17] a summary behind the user's own messages is found", () => {
    const traffic = new Traffic()
      .ask("c1", request([user("Fix the date test")]))
      .reply("c1", answer(text(summary)))
      .ask(
        "c2",
        request([
          user("Fix the date test, please, all of it"),
          user(`Another language model started to solve this problem and produced a summary.\n${summary}`),
        ]),
      )
    expect(traffic.of("history_changed", "c2")).toMatchObject([{ why: "compaction", from: { call: "c1" } }])
  })

  test("the provider's own compaction is recognised by the item it left behind", () => {
    const ask = (...input: Message[]): Message => ({ model: "gpt-5", input })
    const hello = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }
    const compacted = { type: "compaction", id: "cmp_1", encrypted_content: "gAAA" }
    const traffic = new Traffic()
      .ask("c1", ask(user("Hi")), { path: "/v1/responses" })
      .reply("c1", { object: "response", id: "resp_1", status: "completed", output: [{ ...hello, id: "msg_1" }] })
      .ask("k", ask(user("Hi"), hello), { path: "/v1/responses/compact" })
      .reply("k", { object: "response.compaction", id: "resp_2", output: [compacted] })
      .ask("c2", ask(compacted, user("Go on")), { path: "/v1/responses" })
    expect(traffic.placed("k")).toMatchObject({ lane: "c1", follows: "c1" })
    expect(traffic.of("side_call", "k")).toMatchObject([{ why: "compact" }])
    expect(traffic.of("history_changed", "c2")).toMatchObject([
      { why: "compaction", from: { lane: "c1", call: "k" }, certainty: "certain" },
    ])
  })

  test("a history that lost its beginning stays in its lane", () => {
    const long = "The failing test compares a leap day with the first of March."
    const traffic = new Traffic()
      .ask("c1", request([user("Fix the test")]))
      .reply("c1", answer(text(long)))
      .ask("c2", request([said(text(long)), user("go on")]))
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1" })
    expect(traffic.of("history_changed", "c2")).toMatchObject([{ why: "truncation", certainty: "likely" }])
  })

  test("an old result that was cleared is a rewritten history, and the lane goes on by the ids of its tools", () => {
    const one = use("toolu_1", "read", { path: "a" })
    const two = use("toolu_2", "read", { path: "b" })
    const traffic = new Traffic()
      .ask("c1", request([user("Fix")]))
      .reply("c1", answer(one))
      .ask("c2", request([user("Fix"), said(one), user([result("toolu_1", "a very long file")])]))
      .reply("c2", answer(two))
      .ask(
        "c3",
        request([
          user("Fix"),
          said(one),
          user([result("toolu_1", "[cleared]")]),
          said(two),
          user([result("toolu_2", "b")]),
        ]),
      )
    expect(traffic.placed("c3")).toMatchObject({ lane: "c1", follows: "c2", followsBy: "tool_results" })
    expect(traffic.of("history_changed", "c3")).toMatchObject([{ why: "rewritten" }])
    expect(traffic.of("tool_answered", "c3").filter(({ calledBy }) => calledBy === "c2")).toMatchObject([
      { toolCallId: "toolu_2" },
    ])
  })
})

describe("[K-09] side calls", () => {
  test("counting, listing models, probing and naming the conversation are not the agent's work", () => {
    const traffic = twoTurns()
      .ask("n", request([user("Fix the test")]), { path: "/v1/messages/count_tokens" })
      .ask("g", {}, { path: "/v1/models", method: "GET" })
      .ask("p", request([user("quota")], { max_tokens: 1, tools: [] }))
      .ask("t", request([user("Fix the test")], { tools: [], system: "Write a short title for this conversation." }))
    expect(traffic.of("side_call").map(({ call, why, certainty }) => [call, why, certainty])).toEqual([
      ["n", "count_tokens", "certain"],
      ["g", "models", "certain"],
      ["p", "probe", "likely"],
      ["t", "title", "likely"],
    ])
  })

  test("at the end, a single call beside an agent that nobody went on from was made for the harness itself", () => {
    const long = "Colours in a terminal are best chosen by what they mean, not by how they look. ".repeat(4)
    const traffic = twoTurns()
      .ask("lone", request([user("Is the user frustrated?")], { tools: [], system: "You judge." }))
      .reply("lone", answer(text("no")))
      .ask("used", request([user("What about colours?")], { tools: [], system: "You advise." }))
      .reply("used", answer(text(long)))
      .ask("c3", request([user("Fix the test"), said(text("Reading.")), user(`Advice: ${long}`)]))
    expect(finishWire(traffic.state, 99)).toMatchObject([
      { fact: "side_call", call: "lone", why: "nothing_followed", certainty: "likely" },
    ])
    expect(finishWire(new Traffic().ask("c1", request([user("Hi")], { tools: [] })).state, 1)).toEqual([])
  })

  test("a provider nobody knows leads to no facts", () => {
    expect(new Traffic().ask("c1", { question: "?" }, { path: "/v9/unknown" }).facts).toEqual([])
  })
})

describe("[K-09] in every dialect", () => {
  test("OpenAI Chat Completions", () => {
    const call = { id: "call_1", type: "function", function: { name: "read", arguments: '{"path": "a"}' } }
    const path = "/v1/chat/completions"
    const traffic = new Traffic()
      .ask("c1", { model: "gpt-5", messages: [{ role: "system", content: SYSTEM }, user("Go")] }, { path })
      .reply("c1", {
        object: "chat.completion",
        id: "x",
        choices: [
          { index: 0, message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" },
        ],
      })
      .ask(
        "c2",
        {
          model: "gpt-5",
          messages: [
            { role: "system", content: SYSTEM },
            user("Go"),
            { role: "assistant", content: null, tool_calls: [call] },
            { role: "tool", tool_call_id: "call_1", content: "A" },
          ],
        },
        { path },
      )
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1", newParts: 1 })
    expect(traffic.of("tool_answered")).toMatchObject([{ calledBy: "c1", tool: "read", text: "A" }])
  })

  test("OpenAI Responses, with the history sent along or held by the provider", () => {
    const path = "/v1/responses"
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "run", arguments: "{}" }
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] }
    const output = { type: "function_call_output", call_id: "call_1", output: "ok" }
    const first = () =>
      new Traffic()
        .ask("c1", { model: "gpt-5", input: [user("Go")] }, { path })
        .reply("c1", { object: "response", id: "resp_1", status: "completed", output: [reasoning, item] })
    const sent = first().ask("c2", { model: "gpt-5", input: [user("Go"), reasoning, item, output] }, { path })
    const held = first().ask("c2", { model: "gpt-5", previous_response_id: "resp_1", input: [output] }, { path })
    const heldText = first().ask(
      "c2",
      { model: "gpt-5", previous_response_id: "resp_1", input: [user("and now?")] },
      { path },
    )
    expect(sent.placed("c2")).toMatchObject({ lane: "c1", follows: "c1", followsBy: "messages" })
    expect(held.placed("c2")).toMatchObject({ lane: "c1", follows: "c1" })
    expect(heldText.placed("c2")).toMatchObject({ lane: "c1", follows: "c1", followsBy: "response_id" })
    for (const traffic of [sent, held])
      expect(traffic.of("tool_answered")).toMatchObject([{ calledBy: "c1", tool: "run" }])
    expect(held.of("history_changed")).toEqual([])
  })

  test("Gemini, whose calls have no ids", () => {
    const path = "/v1beta/models/gemini-2.5-flash:generateContent"
    const parts = [{ functionCall: { name: "look", args: { at: "x" } } }]
    const traffic = new Traffic()
      .ask("c1", { contents: [{ role: "user", parts: [{ text: "Go" }] }] }, { path })
      .reply("c1", { candidates: [{ content: { parts, role: "model" }, finishReason: "STOP" }] })
      .ask(
        "c2",
        {
          contents: [
            { role: "user", parts: [{ text: "Go" }] },
            { role: "model", parts },
            { role: "user", parts: [{ functionResponse: { name: "look", response: { output: "y" } } }] },
          ],
        },
        { path },
      )
    expect(traffic.placed("c2")).toMatchObject({ lane: "c1", follows: "c1", newParts: 1 })
    expect(traffic.of("tool_answered")).toMatchObject([{ calledBy: "c1", tool: "look", text: "y" }])
  })
})

describe("the reducer is pure", () => {
  test("the same observations lead to the same facts, also from a state kept on the way", () => {
    const traffic = twoTurns()
    let state = EMPTY_WIRE_STATE
    const states = [state]
    for (const observation of traffic.seen) {
      state = reduceWire(state, observation).state
      states.push(state)
    }
    const again = traffic.seen.flatMap((observation, index) => reduceWire(states[index]!, observation).facts)
    expect(again).toEqual(traffic.facts)
    expect(state).toEqual(traffic.state)
  })

  test("a long session is one lane, its hundred and twenty turns one behind the other", () => {
    const traffic = new Traffic()
    const messages: Message[] = [user("Start")]
    for (let turn = 1; turn <= 120; turn++) {
      traffic.ask(`c${turn}`, request(messages)).reply(`c${turn}`, answer(text(`answer ${turn}`)))
      messages.push(said(text(`answer ${turn}`)), user(`question ${turn}`))
    }
    expect(traffic.of("lane_started")).toHaveLength(1)
    expect(
      traffic
        .of("call_placed")
        .slice(1)
        .every((fact, index) => fact.follows === `c${index + 1}`),
    ).toBe(true)
  })
})
