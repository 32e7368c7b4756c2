import { OrangeboxError, readJson } from "@orangebox/contract"
import { messageHash } from "@orangebox/dialects"
import type { Run } from "@orangebox/recorder"
import fc from "fast-check"
import { expect, test } from "vitest"
import { descendantsOf } from "../src/fork/causal-cut.js"
import { compareArms } from "../src/fork/compare-arms.js"
import {
  type Ask,
  type AskedRequest,
  asRecorded,
  coverageGaps,
  editRequest,
  type Fork,
  type ForkRequest,
  type OverrideOp,
  openReplay,
  parseProfile,
  planFork,
  type Tape,
} from "../src/index.js"
import { profileId } from "../src/override/profile.js"
import { signStored } from "../src/tape/sign.js"
import { anthropicAnswer, messages, post, recordRun, withUpstream } from "./recorded.js"

const asked = (body: string, url = "http://m/v1/messages"): AskedRequest => ({
  method: "POST",
  url,
  headers: [],
  body: Buffer.from(body, "utf8"),
})
const HISTORY = `{"model": "claude-x",  "system":[{"type":"text","text":"Be brief. Be caf\\u00e9."}],
 "tools":[{"name":"run","description":"runs","input_schema":{}},{"name":"read","input_schema":{}}],
 "max_tokens":100,"temperature":0.50,
 "messages":[{"role":"user","content":"fix it"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"run","input":{"a":1e3}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"exit 1"},{"type":"text","text":"go on"}]},
  {"role":"assistant","content":[{"type":"text","text":"done?"}]} ,
  {"role":"user","content":"fix it"}]}`

const nodes = (text: string) => {
  const reading = readJson(text)
  if (!reading.ok) throw new Error(reading.reason)
  const history =
    reading.node.kind === "object" ? reading.node.members.find(({ key }) => key === "messages")?.value : undefined
  return history?.kind === "array" ? history.items : []
}
const anchor = (index: number) => [{ hash: messageHash(nodes(HISTORY)[index]!), nth: 0 }]

function check(op: unknown, expected: (before: string) => string, anchors: { hash: string; nth: number }[] = []): void {
  const rule = parseProfile({ schema_version: 1, rules: [{ id: "r", select: { kind: "model" }, op }] }).rules[0]!
  const edit = editRequest(asked(HISTORY), rule.op, anchors)
  if (!edit.ok) throw new Error(edit.reason)
  expect(Buffer.from(edit.request.body).toString("utf8")).toBe(expected(HISTORY))
}

test("[P-04] every edit of a request leaves all other bytes as they were", () => {
  check({ type: "param.set", set: { temperature: 1, top_k: 5 }, unset: ["max_tokens"] }, (text) =>
    text
      .replace('"temperature":0.50', '"temperature":1')
      .replace(' "max_tokens":100,', " ")
      .replace(/\}$/, ',"top_k":5}'),
  )
  check({ type: "system.edit", edit: { find: "brief", with: 'very "brief"' } }, (text) =>
    text.replace("Be brief", 'Be very \\"brief\\"'),
  )
  check({ type: "system.edit", edit: { append: "\nNow." } }, (text) =>
    text.replace("caf\\u00e9.", "caf\\u00e9.\\nNow."),
  )
  check({ type: "system.edit", edit: { replace_all: "Be loud." } }, (text) =>
    text.replace('"Be brief. Be caf\\u00e9."', '"Be loud."'),
  )
  check(
    {
      type: "system.edit",
      edit: {
        unified_diff:
          "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-Be brief. Be café.\n\\ No newline at end of file\n+Be new.\n\\ No newline at end of file\n",
      },
    },
    (text) => text.replace('"Be brief. Be caf\\u00e9."', '"Be new."'),
  )
  check(
    { type: "message.edit", at: { index: 3 }, edit: { find: "done", with: "ready" } },
    (text) => text.replace("done?", "ready?"),
    anchor(3),
  )
  check({ type: "tools.edit", remove: ["run"] }, (text) =>
    text.replace('{"name":"run","description":"runs","input_schema":{}},', ""),
  )
  check({ type: "tools.edit", patch: { run: { description: "never" } }, add: [{ name: "new" }] }, (text) =>
    text
      .replace('"runs"', '"never"')
      .replace('"read","input_schema":{}}]', '"read","input_schema":{}},{"name":"new"}]'),
  )
  check(
    { type: "context.insert", at: { index: 3 }, position: "before", item: { role: "user", content: "hey" } },
    (text) =>
      text.replace(
        '{"role":"assistant","content":[{"type":"text","text":"done?"',
        '{"role":"user","content":"hey"},{"role":"assistant","content":[{"type":"text","text":"done?"',
      ),
    anchor(3),
  )
})

test("[P-04] a swapped model cannot read another's reasoning, which is taken out unless told otherwise", () => {
  const thinking = '{"type":"thinking","thinking":"hm","signature":"s"},'
  check({ type: "model.swap", model: "other" }, (text) => text.replace('"claude-x"', '"other"').replace(thinking, ""))
  check({ type: "model.swap", model: "other", reasoning_blocks: "keep" }, (text) =>
    text.replace('"claude-x"', '"other"'),
  )
  check({ type: "model.swap", model: "claude-x" }, (text) => text)
  const gemini = editRequest(asked('{"contents":[]}', "http://g/v1beta/models/gemini-a:generateContent"), {
    type: "model.swap",
    model: "gemini-b",
    reasoning_blocks: "auto",
  })
  expect(gemini).toMatchObject({
    ok: true,
    isChanged: true,
    request: { url: "http://g/v1beta/models/gemini-b:generateContent" },
  })
})

test("[P-04] dropping a tool call drops its result and the other way round; refusing says why", () => {
  const call = '{"type":"tool_use","id":"t1","name":"run","input":{"a":1e3}}'
  const result = '{"type":"tool_result","tool_use_id":"t1","content":"exit 1"},'
  const [, second, third] = nodes(HISTORY)
  const whole = (node: { start: number; end: number } | undefined) => HISTORY.slice(node!.start, node!.end)
  check(
    { type: "context.drop", at: { index: 1 } },
    (text) =>
      text.replace(/\{"role":"assistant","content":\[\{"type":"thinking"[\s\S]*?\}\]\},\s*/, "").replace(result, ""),
    anchor(1),
  )
  check(
    { type: "context.drop", at: { index: 2 } },
    (text) =>
      text.replace(`,${call}`, "").replace(/\{"role":"user","content":\[\{"type":"tool_result"[\s\S]*?\}\]\},\s*/, ""),
    anchor(2),
  )
  expect(whole(second)).toContain("tool_use")
  expect(whole(third)).toContain("tool_result")
  const refused = editRequest(asked(HISTORY), { type: "context.drop", at: { index: 1 }, pairing: "refuse" }, anchor(1))
  expect(refused).toMatchObject({ ok: false, why: "refused" })
})

test("[P-04] any text found in any message is replaced there, and every byte outside it is equal", () =>
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.string(),
      (texts, pick, replacement) => {
        const at = pick % texts.length
        const needle = `<needle${at}>`
        const body = messages(
          texts.map((text, i) => (i === at ? `${text}${needle}${text}` : text)).map((text) => text.toWellFormed()),
        )
        const items = (JSON.parse(body) as { messages: unknown[] }).messages
        const reading = readJson(JSON.stringify(items[at]))
        if (!reading.ok) throw new Error("unreadable")
        const op: OverrideOp = {
          type: "message.edit",
          at: { index: at },
          edit: { find: needle, with: replacement, expect_count: 1 },
        }
        const edit = editRequest(asked(body), op, [{ hash: messageHash(reading.node), nth: undefined }])
        if (!edit.ok) throw new Error(edit.reason)
        const [before, after] = body.split(needle)
        const edited = Buffer.from(edit.request.body).toString("utf8")
        expect(edited.startsWith(before!) && edited.endsWith(after!)).toBe(true)
        expect(edited.slice(before!.length, edited.length - after!.length)).toBe(
          JSON.stringify(replacement).slice(1, -1),
        )
      },
    ),
    { numRuns: 40 },
  ))

test("[P-04] a profile has one id however it is written, and a wrong one is refused with the place", () => {
  const a = parseProfile({
    schema_version: 1,
    rules: [{ id: "r", op: { model: "m", type: "model.swap" }, select: { kind: "model" } }],
  })
  const b = parseProfile({
    rules: [{ select: { kind: "model" }, id: "r", op: { type: "model.swap", model: "m", reasoning_blocks: "auto" } }],
    schema_version: 1,
    scope: "from_fork",
  })
  expect(profileId(a)).toBe(profileId(b))
  const wrong = (rules: unknown) => () => parseProfile({ schema_version: 1, rules })
  expect(wrong([{ id: "r", select: {}, op: { type: "policy", mode: "live" } }])).toThrow(OrangeboxError)
  expect(wrong([{ id: "r", select: { kind: "model" }, op: { type: "model.swop" } }])).toThrow(/rules\.0\.op/)
})

const tapeOfModels = (histories: readonly string[][]): Promise<Tape> =>
  withUpstream(
    ({ count }, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer(`answer ${count}`))
    },
    async (url) => {
      const { tape } = await recordRun(async (run) => {
        for (const texts of histories) await post(run.fetch, url, messages(texts, { system: "Be brief." }))
        await run.tool({ name: "read", args: { p: 1 }, effect: "read" }, () => "text")
        await run.tool({ name: "write", args: { p: 2 }, effect: "write" }, () => "ok")
        await run.retrieval({ retriever: "docs", query: "q" }, () => [{ chunkId: "c1" }, { chunkId: "c2" }])
      })
      return tape
    },
  )

function forkOf(tape: Tape, over: Partial<ForkRequest> & { rules?: unknown[]; scope?: string; egress?: string }): Fork {
  const { rules = [], scope = "from_fork", egress = "models_only", ...request } = over
  const profile = parseProfile({ schema_version: 1, rules, scope, egress })
  const plan = planFork(tape, { stepId: tape.calls[1]!.stepId, ...request, profile })
  if (!plan.ok) throw new Error(plan.problems.map(({ code, reason }) => `${code}: ${reason}`).join())
  return plan.fork
}
const THREE = [["a"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]]

function askFor(tape: Tape, index: number, body: string): Ask {
  const ask = asRecorded(tape.calls[index]!, tape)
  const request = { ...ask.request!, body: Buffer.from(body, "utf8") }
  const signature = signStored({
    method: request.method!,
    url: request.url!,
    headers: request.headers ?? [],
    body: request.body,
    masks: [],
  })
  return { ...ask, ...signature!, request }
}

test("[P-04] a fork serves what comes before exactly, and sends the changed request of its step live", async () => {
  const tape = await tapeOfModels(THREE)
  const fork = forkOf(tape, {
    rules: [
      { id: "calm", select: { kind: "model" }, op: { type: "system.edit", edit: { find: "brief", with: "calm" } } },
    ],
  })
  const session = openReplay(tape, { reason: "what_if" }, { fork })
  expect(session.ask(asRecorded(tape.calls[0]!, tape))).toMatchObject({ outcome: "served", mode: "exact" })
  const live = session.ask(asRecorded(tape.calls[1]!, tape))
  if (live.outcome !== "live") throw new Error(live.outcome)
  expect(live).toMatchObject({ isChanged: true, ruleIds: ["calm"], source: { stepId: tape.calls[1]!.stepId } })
  expect(Buffer.from(live.request!.body).toString()).toContain('"system":"Be calm."')
  const next = session.ask(askFor(tape, 2, messages(["a", "b", "c", "NEW", "e"], { system: "Be brief." })))
  expect(next).toMatchObject({ outcome: "live", isChanged: true, taint: ["live"] })
  expect(session.report({ isOver: true }).divergences.map(({ code, severity }) => [code, severity])).toContainEqual([
    "STATE_NOT_RESTORED",
    "note",
  ])
})

test("[P-04] before the fork a request that was not recorded halts: a fork needs its prefix to be the recorded one", async () => {
  const tape = await tapeOfModels(THREE)
  const session = openReplay(tape, {}, { fork: forkOf(tape, {}) })
  expect(session.ask(askFor(tape, 0, messages(["other"], { system: "Be brief." })))).toMatchObject({
    outcome: "diverged",
  })
})

test("[P-04] an edit of one message is made in every later request that repeats it", async () => {
  const tape = await tapeOfModels(THREE)
  const rules = [
    { id: "m", select: { kind: "model" }, op: { type: "message.edit", at: { index: 0 }, edit: { replace_all: "A!" } } },
  ]
  const session = openReplay(tape, {}, { fork: forkOf(tape, { rules }) })
  session.ask(asRecorded(tape.calls[0]!, tape))
  for (const texts of [
    ["a", "b", "c"],
    ["a", "b", "c", "x", "y", "z", "w"],
  ]) {
    const outcome = session.ask(askFor(tape, 1, messages(texts, { system: "Be brief." })))
    if (outcome.outcome !== "live") throw new Error(outcome.outcome)
    expect(Buffer.from(outcome.request!.body).toString()).toContain('"content":"A!"')
  }
})

test("[P-04] a fork with nothing changed and everything exact is an exact replay", async () => {
  const tape = await tapeOfModels(THREE)
  const exact = { model: "exact", tool: "exact", retriever: "exact", http: "exact" } as const
  fc.assert(
    fc.property(
      fc.constantFrom(...tape.calls),
      fc.constantFrom("before_request" as const, "after_response" as const),
      (call, at) => {
        const session = openReplay(tape, {}, { fork: forkOf(tape, { stepId: call.stepId, at, post: exact }) })
        const plain = openReplay(tape)
        for (const recorded of tape.calls) {
          const ask = asRecorded(recorded, tape)
          expect(session.ask(ask)).toEqual(plain.ask(ask))
        }
        expect(session.report().fidelity).toBe("exact")
      },
    ),
  )
})

test("[P-04] an override that matches nothing, or finds its text the wrong number of times, fails before anything runs", async () => {
  const tape = await tapeOfModels(THREE)
  const planned = (rule: object, over: Partial<ForkRequest> = {}) => {
    const profile = parseProfile({ schema_version: 1, rules: [{ id: "r", ...rule }] })
    const plan = planFork(tape, { stepId: tape.calls[1]!.stepId, profile, ...over })
    return plan.ok ? [] : plan.problems.map(({ code, reason }) => `${code}: ${reason}`)
  }
  const edit = (find: string, expect_count = 1) => ({ type: "system.edit", edit: { find, with: "x", expect_count } })
  expect(planned({ select: { tool: "nope" }, op: { type: "tool.result", result: { inline: 1 } } })).toEqual([
    "OVERRIDE_MATCHES_NOTHING: selects no recorded call it could apply to",
  ])
  expect(planned({ select: { kind: "model" }, op: edit("e") })).toEqual([
    'OVERRIDE_REFUSED: "e" is there 2 time(s), expected 1',
  ])
  expect(planned({ select: { kind: "model" }, op: edit("missing") })).toEqual([
    'OVERRIDE_REFUSED: "missing" is there 0 time(s), expected 1',
  ])
  expect(planned({ select: { kind: "tool" }, op: edit("e", 2) })[0]).toMatch(
    "OVERRIDE_REFUSED: system.edit does not go with a tool call",
  )
  expect(
    planned({ select: { kind: "model" }, op: { type: "message.edit", at: { index: 40 }, edit: { append: "x" } } })[0],
  ).toMatch("OVERRIDE_REFUSED")
  expect(planned({ select: { kind: "model" }, op: edit("e", 2) })).toEqual([])
  expect(() => planFork(tape, { stepId: "ffffffffffffffff" })).toThrow(/is no call/)
})

test("[P-04] answers can be replaced, broken off, refused and patched, each as simulated with its rule", async () => {
  const tape = await tapeOfModels(THREE)
  const served = (op: object, index = 1) => {
    const call = tape.calls[index]!
    const rules = [{ id: "r", select: { kind: call.kind, ...(call.kind === "tool" ? { tool: call.name } : {}) }, op }]
    const session = openReplay(tape, {}, { fork: forkOf(tape, { rules }) })
    for (const before of tape.calls.slice(0, index)) session.ask(asRecorded(before, tape))
    const outcome = session.ask(asRecorded(call, tape))
    if (outcome.outcome !== "served") throw new Error(JSON.stringify(outcome))
    expect(outcome).toMatchObject({ mode: "simulated", tier: "override", ruleIds: ["r"] })
    return { ...outcome.answer, text: outcome.bytes === null ? null : Buffer.from(outcome.bytes).toString() }
  }
  expect(served({ type: "response.replace", response: { inline: { content: "mine" } } })).toMatchObject({
    text: '{"content":"mine"}',
    httpStatus: 200,
  })
  expect(
    served({
      type: "response.replace",
      response: { json_patch: [{ op: "replace", path: "/content/0/text", value: "patched" }] },
    }).text,
  ).toContain("patched")
  const artifact = tape.calls[0]!.answer!.body!.hash
  expect(served({ type: "response.replace", response: { artifact } }).text).toContain("answer 1")
  expect(served({ type: "fault", fault: "http_status", status: 529 })).toMatchObject({
    httpStatus: 529,
    status: "error",
  })
  expect(served({ type: "fault", fault: "truncate_stream", after_bytes: 10 })).toMatchObject({
    end: "upstream_reset",
    body: { byteSize: 10 },
  })
  expect(served({ type: "fault", fault: "timeout" })).toMatchObject({ status: "timeout", text: null })
  expect(served({ type: "fault", fault: "reset", after_bytes: 3 })).toMatchObject({
    end: "upstream_reset",
    status: "error",
  })
  expect(served({ type: "tool.result", result: { inline: "no" }, is_error: true }, 3)).toMatchObject({
    status: "error",
    error: { message: "no" },
  })
  expect(served({ type: "retrieval.result", drop_ids: ["c1"] }, 5).text).toMatch(/^\[\{"rank":0,"chunk_id":"c2"/)
  expect(served({ type: "retrieval.result", reorder: ["c2"] }, 5).text).toMatch(
    /^\[\{"rank":0,"chunk_id":"c2".*"rank":1,"chunk_id":"c1"/,
  )
  expect(served({ type: "retrieval.result", documents: { inline: [{ chunk_id: "d" }] } }, 5).text).toContain(
    '"chunk_id":"d"',
  )
})

test("[P-07] behind a fork a read is served again or runs, a write is blocked unless it is allowed", async () => {
  const tape = await tapeOfModels(THREE)
  const behind = (over: Partial<ForkRequest> = {}) => {
    const session = openReplay(tape, {}, { fork: forkOf(tape, over) })
    for (const call of tape.calls.slice(0, 3)) session.ask(asRecorded(call, tape))
    const tool = (name: string, effect: "read" | "write") => ({
      kind: "tool" as const,
      name,
      lane: "main",
      sig: `sha256:${name}`,
      effect,
    })
    return {
      session,
      read: asRecorded(tape.calls[3]!, tape),
      write: asRecorded(tape.calls[4]!, tape),
      newRead: tool("read", "read"),
      newWrite: tool("write", "write"),
    }
  }
  const strict = behind()
  expect(strict.session.ask(strict.read)).toMatchObject({ outcome: "served", mode: "cached" })
  expect(strict.session.ask(strict.newRead)).toMatchObject({ outcome: "live" })
  expect(strict.session.ask(strict.newWrite)).toMatchObject({
    outcome: "denied",
    mode: "simulated",
    reason: expect.stringContaining("--allow-effects write"),
  })
  expect(strict.session.report().egress.denied).toBe(1)
  const unknown = behind({ effects: { read: "unknown" } })
  expect(unknown.session.ask(unknown.newRead)).toMatchObject({ outcome: "denied" })
  const allowed = behind({ allowEffects: ["write"] })
  expect(allowed.session.ask(allowed.newWrite)).toMatchObject({ outcome: "live" })
})

test("[P-04] egress deny keeps every model call in, and a rule that never fires is told", async () => {
  const tape = await tapeOfModels(THREE)
  const rules = [
    { id: "late", select: { kind: "model", occurrence: 1 }, op: { type: "param.set", set: { temperature: 0 } } },
    { id: "once", select: { step_id: tape.calls[1]!.stepId }, times: 1, op: { type: "param.set", set: { top_k: 1 } } },
  ]
  const session = openReplay(tape, {}, { fork: forkOf(tape, { rules, egress: "deny" }) })
  session.ask(asRecorded(tape.calls[0]!, tape))
  expect(session.ask(asRecorded(tape.calls[1]!, tape))).toMatchObject({
    outcome: "diverged",
    divergence: { code: "EFFECT_DENIED" },
  })
  const unused = session.report({ isOver: true }).divergences.filter(({ code }) => code === "RULE_UNUSED")
  expect(unused.map(({ at }) => at.name)).toEqual(["late"])
})

test("[P-04] the cut is causal: branches beside the forked step keep their recorded answers", async () => {
  const { tape } = await recordRun(async (run) => {
    const branch = async (name: string): Promise<void> => {
      const step = run.step(name)
      for (const n of [1, 2])
        await step.tool({ name: `${name}${n}`, args: {} }, () => new Promise((done) => setTimeout(done, 5, n)))
      step.end()
    }
    await Promise.all([branch("left"), branch("right")])
    await run.tool({ name: "join", args: {} }, () => 1)
  })
  const id = (name: string): string => tape.calls.find((call) => call.name === name)!.stepId
  const cut = descendantsOf(tape, id("left1"), "start")
  const names = tape.calls.filter((call) => cut.has(call.stepId)).map((call) => call.name)
  expect(names).toEqual(["left1", "left2", "join"])
  expect(descendantsOf(tape, id("left2"), "end").has(id("right2"))).toBe(false)
})

test("[P-04] a fork inside a batch of tools moves to the answer that asked for it, and says so", async () => {
  const { tape } = await recordRun(async (run) => {
    await run.model({ provider: "p", model: "m", request: { q: 1 } }, () => "do both")
    await Promise.all(
      [1, 2].map((n) => run.tool({ name: "t", args: { n } }, () => new Promise((done) => setTimeout(done, 5, n)))),
    )
  })
  const fork = forkOf(tape, { stepId: tape.calls[2]!.stepId })
  expect(fork.call.stepId).toBe(tape.calls[0]!.stepId)
  expect(fork.at).toBe("after_response")
  expect(fork.notes.map(({ code }) => code)).toEqual(["FORK_SNAPPED", "STATE_NOT_RESTORED"])
})

test("[P-07] tools that would really run again are a coverage gap, unless they are known to be harmless", async () => {
  const tape = await tapeOfModels(THREE)
  const proxied: Tape = {
    ...tape,
    calls: tape.calls.map((call) =>
      call.kind === "tool" ? { ...call, isInferred: true, effect: "unknown" as const } : call,
    ),
  }
  expect(coverageGaps(proxied, { covers: ["model", "http"] }).map(({ tool, effect }) => [tool, effect])).toEqual([
    ["read", "unknown"],
    ["write", "unknown"],
  ])
  expect(coverageGaps(proxied, { covers: ["model"], effects: { read: "read", write: "pure" } })).toEqual([])
  expect(coverageGaps(tape, { covers: ["model", "tool"] })).toEqual([])
})

test("[P-04] a fork is judged against its control: an effect, none, or too few samples to say", () => {
  const many = (label: string, count: number): string[] => Array.from({ length: count }, () => label)
  expect(compareArms(["a"], ["b"])).toMatchObject({
    verdict: "inconclusive",
    reason: expect.stringContaining("at least 5"),
  })
  expect(compareArms(many("a", 6), many("b", 6))).toMatchObject({ verdict: "effect", p: expect.closeTo(0.00216, 4) })
  expect(compareArms([...many("a", 4), "b"], [...many("a", 3), "b", "c"])).toMatchObject({ verdict: "inconclusive" })
  expect(compareArms(many("a", 20), many("a", 20))).toMatchObject({ verdict: "no_effect", p: 1 })
  expect(compareArms([], ["a"])).toMatchObject({ verdict: "inconclusive", p: null })
})

test("[P-04] a simulator answers where a rule names it, and a swap to another provider is refused before anything runs", async () => {
  const tape = await tapeOfModels(THREE)
  const rules = [
    { id: "s", select: { kind: "tool", tool: "write" }, op: { type: "policy", mode: "simulated", simulator: "dry" } },
  ]
  const session = openReplay(
    tape,
    {},
    { fork: forkOf(tape, { rules, simulators: { dry: (ask, seed) => ({ value: { would: ask.name, seed } }) } }) },
  )
  for (const call of tape.calls.slice(0, 4)) session.ask(asRecorded(call, tape))
  const outcome = session.ask(asRecorded(tape.calls[4]!, tape))
  expect(outcome).toMatchObject({ outcome: "served", mode: "simulated", ruleIds: ["s"] })
  if (outcome.outcome === "served") expect(Buffer.from(outcome.bytes!).toString()).toBe('{"would":"write","seed":0}')
  const profile = parseProfile({
    schema_version: 1,
    rules: [{ id: "p", select: { kind: "model" }, op: { type: "model.swap", model: "m", provider: "openai" } }],
  })
  expect(planFork(tape, { stepId: tape.calls[1]!.stepId, profile })).toMatchObject({
    ok: false,
    problems: [{ code: "OVERRIDE_REFUSED" }],
  })
})

test("[P-04] a conversation the provider keeps is sent along when a fork goes live, and refused where it is not recorded", () =>
  withUpstream(
    ({ body, count }, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          id: `resp_${count}`,
          object: "response",
          model: "gpt-x",
          status: "completed",
          output: [
            {
              type: "message",
              id: `msg_${count}`,
              role: "assistant",
              content: [{ type: "output_text", text: `echo ${body.length}` }],
            },
          ],
        }),
      )
    },
    async (url) => {
      const ask = (run: Run, body: object) =>
        run
          .fetch(`${url}/v1/responses`, { method: "POST", body: JSON.stringify(body) })
          .then((response) => response.text())
      const { tape } = await recordRun(async (run) => {
        await ask(run, { model: "gpt-x", input: "hello" })
        await ask(run, { model: "gpt-x", previous_response_id: "resp_1", input: [{ role: "user", content: "and?" }] })
      })
      const session = openReplay(tape, {}, { fork: forkOf(tape, { stepId: tape.calls[1]!.stepId }) })
      session.ask(asRecorded(tape.calls[0]!, tape))
      const live = session.ask(asRecorded(tape.calls[1]!, tape))
      if (live.outcome !== "live") throw new Error(live.outcome)
      expect(JSON.parse(Buffer.from(live.request!.body).toString())).toEqual({
        model: "gpt-x",
        input: [
          { role: "user", content: "hello" },
          expect.objectContaining({ type: "message", role: "assistant" }),
          { role: "user", content: "and?" },
        ],
      })
      const gone = {
        ...tape,
        bodies: {
          get: (hash: string) => (hash === tape.calls[0]!.request.body!.hash ? undefined : tape.bodies.get(hash)),
        },
      }
      const blind = openReplay(gone, {}, { fork: forkOf(gone, { stepId: tape.calls[1]!.stepId }) })
      blind.ask(asRecorded(tape.calls[0]!, tape))
      expect(blind.ask(asRecorded(tape.calls[1]!, tape))).toMatchObject({
        outcome: "diverged",
        divergence: { code: "STATEFUL_ID_UNKNOWN" },
      })
    },
  ))
