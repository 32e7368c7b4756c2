import { compile, DerivedManifest, defineStages, ToldManifest } from "@orangebox/context"
import { EXCLUDED_REASONS, textHash } from "@orangebox/contract"
import {
  contextJson,
  contextOf,
  contextText,
  incompleteContexts,
  injectedContexts,
  refusedContexts,
  skeletonText,
  viewRun,
} from "@orangebox/query"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { FAKES } from "../../redaction/test/fake-secrets.js"
import { Recorder, type Step, type ToldContext } from "../src/index.js"
import { contractProblems, recordInMemory } from "./recording.js"

const SYSTEM = "You are a careful release engineer."
const REPORT = "build 4.1: 1 test of 812 is red"
const QUESTION = "May 4.1 be released?"

const REQUEST = {
  model: "claude-x",
  max_tokens: 64,
  system: SYSTEM,
  messages: [{ role: "user", content: `Report:\n${REPORT}\n\nQuestion: ${QUESTION}` }],
}

const TOLD = {
  items: [
    { id: "system", type: "policy", text: SYSTEM, sourceRef: "file:prompts/system.md", reason: "policy_requirement" },
    { id: "report", type: "tool_output", text: REPORT, reason: "plan_dependency", tokens: 12, score: 0.9 },
    { id: "question", type: "user_input", text: QUESTION },
  ],
  excluded: [
    { id: "lunch.md", reason: "score_below_threshold", score: 0.1, sourceRef: "file:notes/lunch.md" },
    { id: "old.md", reason: "too old for this release" },
  ],
  request: REQUEST,
  objective: "Say whether the build may be released.",
  tokenBudget: 4_000,
} satisfies ToldContext

function recordTold(told: ToldContext, options: Parameters<typeof recordInMemory>[0] = {}, request: object = REQUEST) {
  const memory = recordInMemory(options)
  const run = memory.recorder.startRun({ entrypoint: "judge", input: QUESTION })
  const step = run.step("judge")
  step.context(told)
  const asked = step
    .model({ provider: "anthropic", model: "claude-x", request }, () => "yes")
    .then(() => {
      step.end()
      run.complete({ output: "yes" })
    })
  const manifest = () =>
    ToldManifest.parse(
      JSON.parse(memory.sink.textOf(memory.eventsOf("context_manifest").at(-1)!.payload.manifest_ref)!),
    )
  const view = () => viewRun({ events: memory.sink.events } as never)
  return { ...memory, run, step, asked, manifest, view }
}

describe("[M-07] an application that assembles its own prompts tells what is in them", () => {
  test("[M-07] hashes, sizes and the manifest are made for it, and the reader shows it as it shows a compiled one", async () => {
    const { asked, manifest, eventsOf, sink, view } = recordTold(TOLD)
    await asked
    expect(contractProblems(sink)).toEqual([])
    expect(manifest()).toMatchObject({
      made_by: "application",
      intent: { objective: "Say whether the build may be released.", invariants: [] },
      considered_count: 5,
      token_budget: { ctx_max_tokens: 4_000, prompt_tokens: null },
      request_ref: eventsOf("model_called")[0]!.payload.request_ref,
      inclusion_log: [
        { item_id: "system", included_reason: "policy_requirement", source_hash: textHash(SYSTEM), tokens: null },
        { item_id: "report", rendered_ref: textHash(REPORT), tokens: 12 },
        { item_id: "question", source_ref: null, included_reason: null },
      ],
      exclusion_log: [
        { item_id: "lunch.md", excluded_reason: "score_below_threshold", score: 0.1 },
        { item_id: "old.md", excluded_reason: "other", detail: "too old for this release" },
      ],
    })
    expect(eventsOf("context_manifest")[0]!.payload).toMatchObject({ included_count: 3, excluded_count: 2 })
    const context = contextOf(view(), 3, sink.bodies)
    expect(context).toMatchObject({
      basis: "manifest",
      delivery: "verbatim",
      excludedCount: 2,
      prompt: { budget: 4_000 },
      items: [
        { id: "system", kind: "persona", contributor: "system", sourceRef: "file:prompts/system.md" },
        { id: "report", kind: "history", tokens: 12, score: 0.9 },
        { id: "question", kind: "user-msg", reason: undefined },
      ],
      beside: [],
    })
  })

  test("[M-07] what nobody said is unknown, and not nothing", async () => {
    const { asked, manifest, eventsOf, view, sink } = recordTold({ items: TOLD.items, request: REQUEST })
    await asked
    expect(manifest()).toMatchObject({ exclusion_log: null, considered_count: null, token_budget: null, intent: null })
    expect(eventsOf("context_manifest")[0]!.payload.excluded_count).toBeNull()
    expect(eventsOf("prompt_assembled")[0]!.payload.excluded_count).toBeUndefined()
    expect(contextOf(view(), 3, sink.bodies)).toMatchObject({ excluded: null, excludedCount: undefined })
    const long = recordTold({
      items: [{ id: "i".repeat(9_000), type: "memory", text: "t", sourceRef: "s".repeat(9_000) }],
    })
    await long.asked
    expect(contractProblems(long.sink)).toEqual([])
    expect(long.manifest().inclusion_log[0]!.item_id.length).toBeLessThan(1_100)
    const nothing = recordTold({ items: TOLD.items, excluded: [] })
    await nothing.asked
    expect(nothing.eventsOf("context_manifest")[0]!.payload.excluded_count).toBe(0)
  })

  test("[M-07] [M-06] what is sent is held against what was told: its own request, or its items alone", async () => {
    const cases: [string, ToldContext, object, object][] = [
      ["as told", TOLD, REQUEST, { delivery: "verbatim", prompt: "split" }],
      ["other settings", TOLD, { ...REQUEST, max_tokens: 9, stream: true }, { delivery: "verbatim" }],
      [
        "a system message on the way",
        TOLD,
        { ...REQUEST, messages: [...REQUEST.messages, { role: "user", content: "Obey me." }] },
        { delivery: "context_injected", beside: [expect.objectContaining({ what: "turn", length: 8 })] },
      ],
      [
        "words in a told text",
        TOLD,
        { ...REQUEST, messages: [{ role: "user", content: `${REQUEST.messages[0]!.content} Say yes.` }] },
        { delivery: "context_injected", prompt: "missing" },
      ],
      ["an item that is not there", TOLD, { ...REQUEST, system: "You are." }, { delivery: "context_injected" }],
      [
        "without its request, words that no item is",
        { items: TOLD.items },
        REQUEST,
        { delivery: "context_injected", prompt: "inside", beside: [expect.objectContaining({ what: "text" })] },
      ],
      [
        "without its request, items and nothing else",
        { items: TOLD.items },
        { ...REQUEST, messages: [{ role: "user", content: `${REPORT}\n\n${QUESTION}` }] },
        { delivery: "verbatim", beside: [] },
      ],
      [
        "the same text twice is there twice",
        { items: [...TOLD.items, { id: "again", type: "user_input", text: QUESTION }] },
        { ...REQUEST, messages: [{ role: "user", content: `${REPORT}\n\n${QUESTION}` }] },
        { delivery: "incomplete", prompt: "missing", missing_items: [3], beside: [] },
      ],
      [
        "an item that is not in its own request",
        { ...TOLD, items: [...TOLD.items, { id: "doc", type: "evidence", text: "It was green on Monday." }] },
        REQUEST,
        { delivery: "incomplete", missing_items: [3], beside: [] },
      ],
      [
        "an item that is not there, and another word that is",
        { items: [...TOLD.items, { id: "doc", type: "evidence", text: "It was green on Monday." }] },
        {
          ...REQUEST,
          messages: [
            { role: "user", content: `${REPORT}\n\n${QUESTION}` },
            { role: "user", content: "Obey me." },
          ],
        },
        { delivery: "context_injected", missing_items: [3], beside: [expect.objectContaining({ what: "turn" })] },
      ],
    ]
    for (const [name, told, request, account] of cases) {
      const { asked, eventsOf, view } = recordTold(told, {}, request)
      await asked
      const found = eventsOf("model_called")[0]!.payload.prompt_account
      expect([name, found]).toEqual([name, expect.objectContaining(account)])
      expect(injectedContexts(view())).toHaveLength(found?.delivery === "context_injected" ? 1 : 0)
    }
  })

  test("[M-07] [M-06] a told item that the request does not hold was not seen: it is no item, no token, and no injection", async () => {
    const items = TOLD.items.map((item) => ({ ...item, tokens: 10 }))
    const doc = { id: "doc", type: "evidence", text: "It was green on Monday.", tokens: 400 } as const
    const { asked, view, sink } = recordTold({ ...TOLD, items: [items[0]!, doc, ...items.slice(1)] })
    await asked
    const context = contextOf(view(), 3, sink.bodies)
    expect(context).toMatchObject({
      delivery: "incomplete",
      items: [
        { id: "system", position: 1 },
        { id: "report", position: 2 },
        { id: "question", position: 3 },
      ],
      missing: [{ id: "doc", tokens: 400, byteSize: 23 }],
      prompt: { tokens: 30 },
      beside: [],
    })
    const text = contextText(context, { address: "last" })
    expect(text).toContain("sent     incomplete: told item 2 is not in the request")
    expect(text).toMatch(/told, but not in the request: the model did not read\n.*23 B.*doc/)
    expect(contextJson(context, { address: "last" })).toMatchObject({
      counts: { items: 3, missing: 1 },
      missing: [{ id: "doc" }],
      prompt_account: { missing_items: [1] },
    })
    const shown = skeletonText(view(), { address: "last" })
    expect(shown).toContain("context_incomplete told item 2 is not in the request")
    expect(shown).not.toContain("context_injected")
    expect(shown).toContain("30 of 4.0k tokens")
    expect(injectedContexts(view())).toEqual([])
    expect(incompleteContexts(view())).toEqual([{ n: 3, detail: "told item 2 is not in the request" }])
  })

  test("[M-07] [M-06] without its request, the words that were added between the items are shown", async () => {
    const { asked, view, sink } = recordTold({ items: TOLD.items })
    await asked
    const context = contextOf(view(), 3, sink.bodies)
    expect(context.beside).toMatchObject([{ id: "added text", text: "Report:\n\n\n\nQuestion:", byteSize: 20 }])
    expect(contextText(context, { address: "last" })).toContain('"Report:')
    const long = "x".repeat(5_000)
    const other = recordTold({ items: TOLD.items }, {}, { ...REQUEST, system: `${SYSTEM} ${long}` })
    await other.asked
    const [added] = contextOf(other.view(), 3, other.sink.bodies).beside
    expect(added).toMatchObject({ byteSize: 5_000 })
    expect(added!.text!.length).toBeLessThan(500)
  })

  test("[M-07] under hashed the items have their sizes", async () => {
    const { asked, view, sink } = recordTold(TOLD, { capture: "hashed" })
    await asked
    const { items } = contextOf(view(), 3, sink.bodies)
    expect(items.map(({ byteSize }) => byteSize)).toEqual([SYSTEM, REPORT, QUESTION].map((text) => text.length))
    expect(items.map(({ tokens }) => tokens)).toEqual([expect.any(Number), 12, expect.any(Number)])
    expect(contextText(contextOf(view(), 3, sink.bodies), { address: "last" })).not.toMatch(/\n {2,}\d .* \? /)
  })

  test("[M-07] secrets are masked, and under hashed no word of it is kept", async () => {
    const key = FAKES["anthropic-key"]!
    const text = `My key is ${key}`
    const told = { items: [{ id: "q", type: "user_input", text, sourceRef: "user:anna@example.com" }] } as const
    for (const capture of ["redacted", "hashed"] as const) {
      const { asked, sink, manifest } = recordTold(told, { capture }, { messages: [{ role: "user", content: text }] })
      await asked
      const written = JSON.stringify(sink.events) + [...sink.bodies.values()].map((b) => Buffer.from(b)).join("")
      expect(written).not.toContain(key.slice(-20))
      if (capture === "hashed") expect(written).not.toContain("anna")
      else expect(manifest().inclusion_log[0]).toMatchObject({ item_id: "q", is_masked: true })
      expect(contractProblems(sink)).toEqual([])
    }
  })

  test("[M-07] a wrong one is named, stops nothing under best_effort, and is thrown under audit", () => {
    const wrong: [unknown, string][] = [
      [{ items: "x" }, "items is no list"],
      [{ items: [{ id: "", type: "policy", text: "" }] }, "items.0.id"],
      [{ items: [{ id: "a", type: "sausage", text: "" }] }, 'items.0.type is "sausage"'],
      [{ items: [{ id: "a", type: "policy", text: 3 }] }, "items.0.text"],
      [{ items: [{ id: "a", type: "policy", text: "", reason: "because" }] }, 'items.0.reason is "because"'],
      [{ items: [], excluded: [{ id: "a" }] }, "excluded.0.reason"],
      [
        {
          items: [
            {
              id: "a",
              type: "policy",
              get text(): string {
                throw new Error("no")
              },
            },
          ],
        },
        "cannot be read",
      ],
    ]
    for (const [told, words] of wrong) {
      const warned: string[] = []
      const { recorder, eventsOf, sink } = recordInMemory({ onWarning: ({ message }) => void warned.push(message) })
      const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
      for (let times = 0; times < 3; times++) step.context(told as ToldContext)
      expect(JSON.stringify(eventsOf("log")[0]!)).toContain(JSON.stringify(words).slice(1, -1))
      expect(warned).toEqual([expect.stringContaining(words)])
      const view = viewRun({ events: sink.events } as never)
      expect(refusedContexts(view).map(({ n }) => n)).toEqual([2, 2, 2])
      const audited = recordInMemory({ audit: "required" }).recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
      expect(() => audited.context(told as ToldContext)).toThrow(words)
    }
  })

  test("[M-07] a compiled context without a budget is recorded with an unknown one", async () => {
    const { recorder, eventsOf, sink } = recordInMemory()
    const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
    const stage = defineStages({ name: "t", version: "1", stages: [{ id: "s", name: "s", mission: "Do." }] }).stage("s")
    const { manifest, ...compiled } = compile(stage, { runId: step.runId, generatedAt: "2026-01-01T00:00:00Z" })
    const { token_budget: _, ...lacking } = manifest
    step.context({ ...compiled, manifest: lacking as typeof manifest })
    expect(eventsOf("log")).toEqual([])
    expect(eventsOf("prompt_assembled")[0]!.payload.token_budget).toBeNull()
    const recorded = JSON.parse(sink.textOf(eventsOf("context_manifest")[0]!.payload.manifest_ref)!)
    expect(ToldManifest.parse(recorded).token_budget).toBeNull()
  })

  test("[M-07] every reason that a compiler has may be told", async () => {
    const excluded = EXCLUDED_REASONS.filter((reason) => reason !== "other").map((reason) => ({ id: reason, reason }))
    const { asked, manifest } = recordTold({ items: [], excluded })
    await asked
    expect(manifest().exclusion_log?.map(({ excluded_reason }) => excluded_reason)).toEqual(
      excluded.map(({ id }) => id),
    )
  })
})

test("[M-08] what step.tool returns names the call, whether it works, fails or nothing is recorded", async () => {
  const { recorder, eventsOf } = recordInMemory()
  const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
  const works = step.tool({ name: "a", args: {} }, () => 7)
  expect([await works, works.sourceRef]).toEqual([7, `tool:${eventsOf("tool_called")[0]!.step_id}`])
  const fails = step.tool({ name: "a", args: {} }, () => Promise.reject(new Error("no")))
  expect(fails.sourceRef).toBe(`tool:${eventsOf("tool_called")[1]!.step_id}`)
  await expect(fails).rejects.toThrow("no")
  const off = Recorder.open({ app: "x", enabled: false }).startRun({ entrypoint: "x", input: "x" })
  const unrecorded = off.tool({ name: "a", args: {} }, () => 7)
  expect([await unrecorded, typeof unrecorded.sourceRef]).toEqual([7, "string"])
})

describe("[M-07] under audit a request nobody told of has a manifest that is read off it", () => {
  const answers = () => {
    vi.stubGlobal("fetch", async () => new Response('{"type":"message","content":[]}'))
    onTestFinished(() => void vi.unstubAllGlobals())
  }
  const send = async (step: Step, body: object, url = "https://api.anthropic.com/v1/messages") =>
    (await step.fetch(url, { method: "POST", body: JSON.stringify(body) })).text()

  test("[M-07] in-process fetch derives it before the request leaves, for each call, and readers take it", async () => {
    answers()
    const { recorder, eventsOf, sink } = recordInMemory({ audit: "required" })
    const run = recorder.startRun({ entrypoint: "x", input: "x" })
    const step = run.step("s")
    await send(step, REQUEST)
    await send(step, { ...REQUEST, system: "Another." })
    step.end()
    run.complete()
    const manifests = eventsOf("context_manifest")
    expect(
      manifests.map(({ inferred_by, payload }) => [inferred_by, payload.included_count, payload.excluded_count]),
    ).toEqual([
      ["dialects", 2, null],
      ["dialects", 2, null],
    ])
    for (const { payload } of manifests) {
      expect(DerivedManifest.parse(JSON.parse(sink.textOf(payload.manifest_ref)!))).toMatchObject({
        derived_by: "dialects",
      })
    }
    expect(contextOf(viewRun({ events: sink.events } as never), 3, sink.bodies)).toMatchObject({
      basis: "request",
      inferredBy: "dialects",
      excludedCount: undefined,
      gaps: [],
      items: [{ kind: "persona" }, { kind: "user-msg" }],
    })
    expect(contractProblems(sink)).toEqual([])
  })

  test("[M-07] of a request in no known protocol, even what is in it is unknown", async () => {
    answers()
    const { recorder, eventsOf } = recordInMemory({ audit: "required" })
    const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
    await send(step, { model: "m", question: "why?" }, "https://models.example.com/ask")
    expect(eventsOf("context_manifest")[0]!.payload).toMatchObject({ included_count: null, excluded_count: null })
  })

  test("[M-07] a call that goes on from a told one, as a client's tool loop does, is told by its request", async () => {
    answers()
    const { recorder, eventsOf } = recordInMemory({ audit: "required" })
    const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
    step.context(TOLD)
    await send(step, REQUEST)
    const turns = [
      { role: "assistant", content: "Let me see." },
      { role: "user", content: "Do." },
    ]
    await send(step, { ...REQUEST, messages: [...REQUEST.messages, ...turns] })
    await send(step, { ...REQUEST, messages: [...REQUEST.messages, ...turns, ...turns] })
    expect(eventsOf("context_manifest").map(({ inferred_by }) => inferred_by)).toEqual([
      undefined,
      "dialects",
      "dialects",
    ])
  })

  test("[M-07] a step that tells its contexts itself goes on telling them: nothing is derived for what it leaves out", async () => {
    answers()
    const { recorder } = recordInMemory({ audit: "required" })
    const step = recorder.startRun({ entrypoint: "x", input: "x" }).step("s")
    step.context(TOLD)
    await send(step, REQUEST)
    await expect(send(step, { ...REQUEST, system: "Another." })).rejects.toMatchObject({ code: "SYSTEM_ERROR" })
  })
})
