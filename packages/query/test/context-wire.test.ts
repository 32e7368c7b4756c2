import { describe, expect, test } from "vitest"
import {
  contextText,
  hashesHolding,
  readContext,
  rebuildPrompt,
  recordedContexts,
  whyJson,
  whyOf,
} from "../src/index.js"
import { assistant, ContextRun, messagesRequest, user } from "./context-run.js"

const address = "last"
const TALK = [user("Fix the test"), assistant("Which one?"), user("The date test"), assistant("Done"), user("Thanks")]

describe("the context of a call recorded on the wire", () => {
  test("[M-05] what it saw are the segments of its request, in the order the model reads them, marked as deduced", () => {
    const run = new ContextRun()
    run.send(messagesRequest([user("Fix the test")]))
    const view = run.contextAt(2)
    expect(view).toMatchObject({ basis: "request", inferredBy: "dialects", excluded: null, excludedCount: undefined })
    expect(view.items.map(({ id, kind, itemType, text }) => [id, kind, itemType, text])).toEqual([
      ["tool:read_file", "tool-def", "policy", "Reads a file"],
      ["system", "persona", "policy", "You are careful."],
      ["user", "user-msg", "user_input", "Fix the test"],
    ])
    expect(contextText(view, { address })).toContain("≈ deduced by dialects")
  })

  test("[M-05] where nobody counted the parts, the provider's count is shared out by size, and marked as an estimate", () => {
    const run = new ContextRun()
    run.send(messagesRequest(TALK))
    const { items, prompt } = run.contextAt(2)
    expect(prompt).toMatchObject({ tokens: 1000, countedBy: "provider", areItemsEstimated: true, budget: undefined })
    expect(items.reduce((sum, { share }) => sum + share!, 0)).toBeCloseTo(1)
    expect(Math.abs(items.reduce((sum, { tokens }) => sum + tokens!, 0) - 1000)).toBeLessThanOrEqual(items.length)
  })

  test("[M-05] messages that were there before are told as one, and --all unfolds them", () => {
    const run = new ContextRun()
    run.send(messagesRequest(TALK))
    run.send(messagesRequest([...TALK, assistant("You are welcome"), user("Now the other")]))
    const folded = contextText(run.contextAt(3), { address })
    expect(folded).toMatch(/3–7: 5 messages as in #2 \(unfold: --all\)/)
    expect(folded).toMatch(/^\+ 9 .*"Now the other"$/m)
    expect(contextText(run.contextAt(3), { address, all: true })).toMatch(/^ {2}3 .*"Fix the test"$/m)
  })

  test.each([
    ["truncation", TALK.slice(2)],
    ["compaction", [user("Summary: the date test was fixed")]],
    ["rewritten", [TALK[0]!, assistant("Which one do you mean?"), ...TALK.slice(2)]],
  ])("[K-09] messages that vanished since the request before are told as %s, and as deduced", (why, now) => {
    const run = new ContextRun()
    run.send(messagesRequest(TALK))
    run.send(messagesRequest(now))
    const { changes } = run.contextAt(3)
    expect(changes!.historyLoss).toMatchObject({ why, inferredBy: "context-reader@1" })
    expect(changes!.historyLoss!.items).toBe(changes!.removed.length)
    expect(contextText(run.contextAt(3), { address })).toContain(`(≈ gone by ${why})`)
  })

  test("[K-09] what the proxy concluded about the history comes before our own conclusion", () => {
    const run = new ContextRun()
    const turn = run.step("turn")
    run.send(messagesRequest(TALK), { parent: turn })
    run.send(messagesRequest(TALK.slice(2)), { parent: turn })
    run.add(
      turn,
      "log",
      { level: "warn", message: "the history was replaced by a summary" },
      { inferred_by: "wire-reducer@1", attributes: { history: "compaction", certainty: "likely" } },
    )
    expect(run.contextAt(4).changes!.historyLoss).toEqual({
      why: "compaction",
      items: 2,
      certainty: "likely",
      inferredBy: "wire-reducer@1",
    })
  })

  test("a tool or a system prompt that says something else is the same item, changed; cache marks are no change", () => {
    const run = new ContextRun()
    run.send(messagesRequest(TALK, { system: [{ type: "text", text: "You are careful." }] }))
    run.send(
      messagesRequest(TALK, {
        system: [{ type: "text", text: "You are careful.", cache_control: { type: "ephemeral" } }],
        tools: [{ name: "read_file", description: "Reads any file", input_schema: { type: "object" } }],
      }),
    )
    const { changes } = run.contextAt(3)
    expect(changes!.changed.map(({ item }) => item.id)).toEqual(["tool:read_file"])
    expect(changes).toMatchObject({ added: [], removed: [], same: 6 })
  })

  test("a call is compared with the last one of its lane, or with the one it is known to go on from", () => {
    const run = new ContextRun()
    const first = run.send(messagesRequest([user("Fix it")]), { lane: "main" })
    run.send(messagesRequest([user("Search for it")]), { lane: "agent" })
    run.send(messagesRequest([user("a title")]), { lane: "main", attributes: { auxiliary: true } })
    run.send(messagesRequest([user("Fix it"), assistant("ok"), user("go")]), { lane: "main" })
    run.send(messagesRequest([user("Summary")]), { lane: "compacted", follows: first })
    expect(run.contextAt(3).changes).toBeUndefined()
    expect(run.contextAt(5).changes).toMatchObject({ since: 2, removed: [], same: 3 })
    expect(run.contextAt(6).changes!.since).toBe(2)
  })

  test("[M-05] what the provider holds, may edit and says it edited is told", () => {
    const run = new ContextRun()
    run.send(
      messagesRequest(TALK, {
        container: "container_1",
        context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      }),
      {
        answer: {
          type: "message",
          role: "assistant",
          content: [],
          context_management: {
            applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 }],
          },
        },
      },
    )
    const view = run.contextAt(2)
    expect(view.provider.map(({ role, what, id, counts }) => [role, what, id, counts])).toEqual([
      ["held", "container", "container_1", []],
      ["may_edit", "clear_tool_uses_20250919", undefined, []],
      [
        "edited",
        "clear_tool_uses_20250919",
        undefined,
        [
          { name: "cleared_tool_uses", count: 8 },
          { name: "cleared_input_tokens", count: 50_000 },
        ],
      ],
    ])
    expect(view.provider.every(({ inferredBy }) => inferredBy === "context-reader@1")).toBe(true)
    expect(contextText(view, { address })).toContain(
      "edited: clear_tool_uses_20250919 (cleared_tool_uses 8, cleared_input_tokens 50.0k)",
    )
  })

  test("[K-07] a call that was recorded by hand is read from its request's body alone", () => {
    const run = new ContextRun()
    run.send(messagesRequest(TALK), { isUntold: true })
    const view = run.contextAt(2)
    expect(view).toMatchObject({ basis: "request", inferredBy: "context-reader@1" })
    expect(view.items).toHaveLength(7)
  })
})

describe("without any text", () => {
  function hashed(): ContextRun {
    const run = new ContextRun()
    run.send(messagesRequest(TALK), { absent: "hashed" })
    run.send(messagesRequest(TALK.slice(2)), {
      absent: "hashed",
      attributes: { context_held_by_provider: "file container" },
    })
    return run
  }

  test("[X-01] segments, sizes, what changed and what vanished are the same, by hash", () => {
    const run = hashed()
    const withText = run.contextAt(3)
    run.bodies.clear()
    const view = run.contextAt(3)
    const withoutText = (items: typeof view.items) => items.map((item) => ({ ...item, text: undefined }))
    expect(withoutText(view.items)).toEqual(withoutText(withText.items))
    expect(view.changes).toMatchObject({ since: 2, same: 5, historyLoss: { why: "truncation", items: 2 } })
    expect(view.provider.map(({ what, inferredBy }) => [what, inferredBy])).toEqual([
      ["file", "dialects"],
      ["container", "dialects"],
    ])
    expect(contextText(view, { address })).not.toContain('"')
  })

  test("[M-03] there is no prompt to rebuild, and the reason is said", () => {
    const run = hashed()
    run.bodies.clear()
    expect(rebuildPrompt(run.contextAt(2), run.bodies)).toMatchObject({
      ok: false,
      reason: "the request's body is not there: hashed",
    })
  })
})

describe("one item through a run on the wire", () => {
  const read = (run: ContextRun) => recordedContexts(run.view()).map((context) => readContext(context, run.bodies))
  const run = new ContextRun()
  run.send(messagesRequest(TALK.slice(0, 1)))
  run.send(messagesRequest(TALK.slice(0, 3)))
  run.send(messagesRequest(TALK))
  run.send(messagesRequest(TALK.slice(2), { tools: [] }))

  test("[M-05] a tool by its name", () => {
    const why = whyOf(read(run), "read_file")
    expect(why.matchedBy).toBe("contributor")
    expect(why.items[0]!.sightings.map(({ n, state }) => [n, state])).toEqual([
      [2, "included"],
      [3, "included"],
      [4, "included"],
      [5, "absent"],
    ])
  })

  test("[M-05] a message by its hash, or by its text, with how it went", () => {
    const readings = read(run)
    const { hash } = readings[1]!.items.find(({ text }) => text === "Which one?")!
    const expected = [
      { n: 2, state: "absent", reason: undefined },
      { n: 3, state: "included", position: 4 },
      { n: 4, state: "included", position: 4 },
      { n: 5, state: "absent", reason: "truncation" },
    ]
    expect(whyOf(readings, hash!.slice(0, 16)).items).toMatchObject([{ sightings: expected }])
    const hashes = readings.flatMap((reading) => hashesHolding(reading, run.bodies, "which ONE"))
    const byText = whyOf(readings, "which ONE", { hashes: new Set(hashes) })
    expect(byText.matchedBy).toBe("text")
    expect(byText.items).toMatchObject([{ sightings: expected }])
  })

  test("a word that fits very many items is answered in pages that meet", () => {
    const talk = Array.from({ length: 120 }, (_, index) => user(`message ${index}`))
    const run = new ContextRun()
    run.send(messagesRequest(talk))
    const readings = read(run)
    const seen: string[] = []
    for (let from: number | null = 0; from !== null; ) {
      const page = whyJson(whyOf(readings, "user", { from }), { command: "x", budget: 2000 })
      expect(page.from).toBe(from)
      seen.push(...page.items.map(({ hash }) => hash!))
      from = page.next_cursor
    }
    expect(new Set(seen).size).toBe(120)
    expect(seen).toHaveLength(120)
  })
})
