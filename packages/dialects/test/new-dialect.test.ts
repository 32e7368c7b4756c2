import { type JsonNode, readJson } from "@orangebox/contract"
import { decisionsOf } from "@orangebox/decisions"
import { planVariables } from "@orangebox/proxy"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { editRequest, type OverrideOp } from "@orangebox/replay"
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest"
import { type Answer, DIALECTS, type Dialect, messageHash } from "../src/index.js"
import { booleanAt, itemsAt, memberOf, numberAt, stringAt } from "../src/json/node.js"
import { type JsonValue, recordOf, recordsOf, textOf } from "../src/json/value.js"
import { promptPart } from "../src/request/outline.js"
import { newCanon } from "../src/signature/canon.js"
import { UNKNOWN_USAGE } from "../src/usage.js"

const answerOf = (value: JsonValue): Answer => ({
  id: null,
  model: null,
  producedIds: [],
  message: value,
  parts: [
    { kind: "text", text: textOf(recordOf(value)["squawk"]) ?? "" },
    ...recordsOf(recordOf(value)["wants"]).map((want) => ({
      kind: "tool-call" as const,
      id: textOf(want["nr"]),
      name: textOf(want["trick"]) ?? "",
      arguments: JSON.stringify(want["with"]),
      runsAt: "client" as const,
    })),
  ],
  finishReason: textOf(recordOf(value)["ended"]),
  rawUsage: recordOf(value)["seeds"] ?? null,
  serviceTier: null,
  error: null,
  ended: "complete",
})

/** A protocol nobody speaks, with a name of its own for everything. This object is all that is written about it. */
const parrot: Dialect = {
  id: "parrot",
  provider: "aviary",
  access: {
    name: "aviary",
    origin: "https://parrot.test",
    baseUrlVariables: { PARROT_URL: "/v9" },
    version: { path: "/v9", endpoints: /^\/squawk/ },
    secretHeaders: ["x-perch"],
    behaviourHeaders: ["x-plumage"],
    versionHeader: "x-plumage",
    keyHeaders: ({ PARROT_KEY }) => (PARROT_KEY ? [["x-perch", PARROT_KEY]] : []),
  },
  cacheRules: [],
  finishReasons: { sated: "stop", begging: "tool_call" },
  endpointOf: ({ method, path }) => (method === "POST" && path.endsWith("/squawk") ? "generate" : undefined),
  claimsRequest: (root) => memberOf(root, "chatter") !== undefined,
  claimsAnswer: (value) => "squawk" in value,
  readAnswer: ({ value }) => answerOf(value),
  newFold: () => ({ take: () => false, isOver: () => false, answer: () => answerOf(null) }),
  streamEvents: ({ text }) => [{ event: null, data: text }],
  usageOf: (raw) => ({ ...UNKNOWN_USAGE, tokens: { prompt: Number(raw), completion: 1, total: Number(raw) + 1 }, raw }),
  outlineRequest: (root, text) => ({
    model: stringAt(root, "bird"),
    stream: booleanAt(root, "stream") ?? false,
    sampling: { temperature: numberAt(root, "warmth"), topP: null, maxTokens: null, seed: null },
    params: [],
    thinking: null,
    parts: [
      ...itemsAt(root, "tricks").map((node) => {
        const place = { role: null, message: null, node, cacheMark: null }
        return promptPart("tool-def", place, stringAt(node, "about"), { name: stringAt(node, "name") })
      }),
      ...[memberOf(root, "lore")].flatMap((node) =>
        node ? [promptPart("system", { role: "system", message: null, node, cacheMark: null }, nodeText(node))] : [],
      ),
      ...itemsAt(root, "chatter").map((node, message) => {
        const role = stringAt(node, "role") === "bird" ? "assistant" : "user"
        const place = { role, message, node, cacheMark: null }
        const did = memberOf(node, "did")
        if (did) {
          const made = { name: stringAt(node, "did"), callId: stringAt(node, "nr"), arguments: text.slice(0, 0) }
          return promptPart("tool-call", place, null, made)
        }
        const callId = stringAt(node, "of")
        return promptPart(callId === null ? "text" : "tool-result", place, stringAt(node, "words"), { callId })
      }),
    ],
    wholeMark: null,
    serverContext: [],
    conversationHint: null,
  }),
  canonicalRequest: (root, ids, notes) => newCanon(ids, notes).request(root, root),
  shape: {
    members: { bird: "model", lore: "system", chatter: "history", tricks: "tools" },
    roles: { bird: "assistant" },
    blocks: null,
    texts: ["words"],
    toolGroups: [],
    toolWrappers: [],
    toolSchemas: ["takes"],
    toolTraffic(node) {
      const did = stringAt(node, "did")
      if (did !== null) return { calls: [{ id: stringAt(node, "nr"), name: did }] }
      const id = stringAt(node, "of")
      return id === null ? undefined : { result: { id, content: memberOf(node, "words") } }
    },
    isReasoning: (block) => stringAt(block, "role") === "dream",
  },
}

const nodeText = (node: JsonNode): string => (node.kind === "string" ? node.value : "")

const REQUEST = JSON.stringify({
  bird: "polly-1",
  warmth: 0.5,
  lore: "You are a parrot.",
  tricks: [{ name: "fetch", about: "gets a thing", takes: { type: "object" } }],
  chatter: [
    { role: "me", words: "Get the ring." },
    { role: "dream", words: "rings shine" },
    { role: "bird", did: "fetch", nr: "t1" },
    { role: "me", of: "t1", words: "a ring" },
  ],
})
const ANSWER = JSON.stringify({
  squawk: "Here.",
  wants: [{ nr: "t2", trick: "fetch", with: { thing: "nut" } }],
  ended: "begging",
  seeds: 41,
})

beforeAll(() => void (DIALECTS as Dialect[]).unshift(parrot))
afterAll(() => void (DIALECTS as Dialect[]).shift())

async function record() {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", environment: "local", sink })
  const run = recorder.startRun({ entrypoint: "aviary", input: "Get the ring." })
  vi.stubGlobal("fetch", async () => new Response(ANSWER))
  onTestFinished(() => void vi.unstubAllGlobals())
  const headers = { "x-perch": "a-secret-of-the-cage", "x-plumage": "green-2" }
  await (await run.fetch("https://parrot.test/v9/squawk", { method: "POST", headers, body: REQUEST })).text()
  run.complete()
  recorder.close()
  return sink
}

test("a call of a new dialect is recorded with its model, its version, its usage and the pieces of its prompt, its key masked", async () => {
  const sink = await record()
  const payload = (type: string) => sink.events.find(({ event_type }) => event_type === type)!.payload
  expect(payload("model_called")).toMatchObject({
    provider: "aviary",
    model_id: "polly-1",
    model_api_version: "green-2",
    temperature: 0.5,
  })
  expect(payload("model_result")).toMatchObject({
    finish_reason: "begging",
    requested_tools: ["fetch"],
    token_usage: { prompt: 41, completion: 1, total: 42 },
  })
  expect((payload("prompt_assembled") as { segments: { contributor: string }[] }).segments).toMatchObject([
    { contributor: "tool:fetch", kind: "tool-def" },
    { contributor: "system", kind: "persona" },
    { contributor: "user" },
    { contributor: "user" },
    { contributor: "assistant" },
    { contributor: "tool-result:fetch" },
  ])
  for (const bytes of sink.bodies.values()) expect(Buffer.from(bytes).toString()).not.toContain("a-secret-of-the-cage")
})

test("decisions show what was sent in it and what it asked for", async () => {
  const sink = await record()
  const events = sink.events.filter(({ run_id }) => run_id !== null)
  const [decision] = decisionsOf({ events, bodies: (ref) => sink.bodies.get(ref) })
  const { prompt_bundle: bundle } = decision!.prompt_provenance
  expect(bundle.tools).toEqual([{ name: "fetch", description: "gets a thing", schema: { type: "object" } }])
  expect(bundle.messages.map(({ role }) => role)).toEqual(["system", "user", "user", "assistant", "tool"])
  expect(decision!.model_output.tool_calls).toMatchObject([{ name: "fetch" }])
})

test("a fork edits its requests", () => {
  const check = (op: object, expected: string, anchors: { hash: string; nth: number | undefined }[] = []): void => {
    const asked = { method: "POST", url: "https://parrot.test/v9/squawk", headers: [], body: Buffer.from(REQUEST) }
    const edit = editRequest(asked, op as OverrideOp, anchors)
    expect(edit.ok && Buffer.from(edit.request.body).toString()).toBe(expected)
  }
  check(
    { type: "system.edit", edit: { find: "parrot", with: "crow", expect_count: 1 } },
    REQUEST.replace("a parrot", "a crow"),
  )
  check({ type: "tools.edit", remove: ["fetch"] }, REQUEST.replace(/"tricks":\[.*?\],"chatter/, '"tricks":[],"chatter'))
  const reading = readJson('{"role":"bird","did":"fetch","nr":"t1"}')
  const call = { hash: messageHash(reading.ok ? reading.node : expect.fail()), nth: undefined }
  check({ type: "context.drop", pairing: "drop_pair" }, REQUEST.replace(/,\{"role":"bird".*\}\]/, "]"), [call])
  check(
    { type: "model.swap", model: "crow-2", reasoning_blocks: "strip" },
    REQUEST.replace("polly-1", "crow-2").replace(/\{"role":"dream".*?\},/, ""),
  )
})

test("its clients are led through the proxy", () => {
  const plan = planVariables({})
  expect(plan.upstreams["aviary"]).toBe("https://parrot.test")
  expect(plan.variables.find(({ name }) => name === "PARROT_URL")).toMatchObject({ upstream: "aviary", path: "/v9" })
})
