import { itemTypeOf, segmentKindOf, validate } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import type { ExcludedItem } from "../src/context/context-reading.js"
import {
  contextJson,
  contextOf,
  contextText,
  readContext,
  rebuildPrompt,
  recordedContexts,
  summarizeContexts,
  whyOf,
} from "../src/index.js"
import { ContextRun, judge, judgedTwice, messagesRequest, only, user } from "./context-run.js"

const address = "last"
const reasonOf = (excluded: readonly ExcludedItem[] | null, id: string): string | undefined =>
  excluded?.find((item) => item.id === id)?.reason

describe("the context of a step with a manifest", () => {
  test("[M-05] what the step saw is told in the order of the prompt, each item with its type, reason, size and share", () => {
    const { run, first } = judgedTwice()
    const view = run.contextAt(3)
    expect(view.basis).toBe("manifest")
    expect(view.items.map(({ id, itemType, reason }) => [id, itemType, reason])).toEqual([
      ["mission", "policy", "policy_requirement"],
      ["contracts.0", "policy", "policy_requirement"],
      ["guardrails.0", "policy", "policy_requirement"],
      ["objective", "policy", "plan_dependency"],
      ["question", "user_input", "plan_dependency"],
      ["copy", "evidence", "retrieval_trigger"],
    ])
    const { ctx_max_tokens } = first.manifest.token_budget
    for (const { tokens, share } of view.items) expect(share).toBe(tokens! / ctx_max_tokens)
    expect(view.items[5]).toMatchObject({ sourceRef: "file:copy.md", tier: 2, score: 1, kind: "other" })
    expect(view.prompt).toMatchObject({ budget: ctx_max_tokens, countedBy: "compiler", areItemsEstimated: false })
    expect(view.prefix).toEqual({ hash: first.manifest.prefix_hash, byteSize: first.manifest.prefix_length })
    expect(view.changes).toBeUndefined()
  })

  test("[M-02] what was available and left out is told with its reason, and nothing that was considered is missing", () => {
    const { run, first } = judgedTwice()
    const { items, excluded } = run.contextAt(3)
    expect(reasonOf(excluded, "notes")).toBe("duplicate")
    expect(reasonOf(excluded, "far")).toBe("score_below_threshold")
    expect(items.length + excluded!.length).toBe(first.manifest.considered_count)
    const text = contextText(run.contextAt(3), { address })
    expect(text).toMatch(/available, but left out \(1 duplicate, 1 score_below_threshold\):/)
    expect(text).toMatch(/^ {2}far +evidence +score_below_threshold +score 0\.\d+ < 0\.5 +file:far\.md$/m)
  })

  test("[M-05] what changed since the step before: what is new and why it was not there, what is gone and why, what is another", () => {
    const { run } = judgedTwice()
    const { changes } = run.contextAt(5)
    expect(changes).toMatchObject({ since: 3, same: 4, prefix: "same", historyLoss: undefined })
    expect(changes!.added.map(({ item, excludedBefore }) => [item.id, excludedBefore])).toEqual([
      ["far", "score_below_threshold"],
    ])
    expect(changes!.removed.map(({ item, excludedNow }) => [item.id, excludedNow])).toEqual([["copy", "budget_limit"]])
    expect(changes!.changed.map(({ item }) => item.id)).toEqual(["question"])
    const text = contextText(run.contextAt(5), { address })
    expect(text).toContain("since #3  1 added, 1 gone, 1 changed, 4 the same")
    expect(text).toMatch(/^\+ 6 .*\bfar\b.*\(left out before: score_below_threshold\)/m)
    expect(text).toMatch(/^− copy .*\(left out now: budget_limit\)$/m)
  })

  test("[M-05] the budget is told per tier: what it could have had, what it used, what is left", () => {
    const { run, second } = judgedTwice()
    const { tiers } = second.manifest.token_budget
    const { budget } = contextJson(run.contextAt(5), { address })
    expect(budget!.tiers).toEqual(tiers)
    const text = contextText(run.contextAt(5), { address })
    expect(text).toContain(`▒ history ${tiers.history.used} of ${tiers.history.reserved} (${tiers.history.left} left)`)
  })

  test("[B-04] a request that holds the prompt is told apart from one that something else was put into", () => {
    const run = new ContextRun()
    const compiled = judge()
    for (const content of [compiled.prompt, `${compiled.prompt}\nAlso, be nice.`]) {
      const step = run.step("judge")
      run.commit(step, compiled)
      run.send(messagesRequest([user(content)], { system: undefined }), { parent: step })
    }
    expect(run.contextAt(3).delivery).toBe("verbatim")
    expect(run.contextAt(5).delivery).toBe("context_injected")
    expect(contextText(run.contextAt(5), { address })).toContain("sent     context_injected")
  })

  test("[M-06] a system message beside the compiled prompt is injected context, and named", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    run.commit(step, compiled)
    run.send(messagesRequest([user(compiled.prompt)]), { parent: step })
    expect(run.contextAt(3).account).toMatchObject({ prompt: "whole", delivery: "context_injected" })
    expect(contextText(run.contextAt(3), { address })).toContain(
      "sent     context_injected: 1 system message before the prompt (16 bytes)",
    )
  })

  test("[B-04] a request that was masked when it was stored cannot accuse anybody", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    run.commit(step, compiled)
    run.send(messagesRequest([user(`${compiled.prompt} key …redacted…`)]), { parent: step })
    const called = run.events.findLast(({ event_type }) => event_type === "model_called")!
    const masks = [{ offset: 9, length: 3, rule: "api-key", tag: "t" }]
    Object.assign(called, { artifact_refs: called.artifact_refs.map((ref) => ({ ...ref, masks })) })
    expect(run.contextAt(3).delivery).toBe("unknown")
  })

  test("[M-05] what the model read beside the compiled prompt is told apart: no compiler answers for it", () => {
    const { run } = judgedTwice()
    expect(run.contextAt(3).beside.map(({ id, kind }) => [id, kind])).toEqual([
      ["tool:read_file", "tool-def"],
      ["system", "persona"],
    ])
    expect(contextText(run.contextAt(3), { address })).toMatch(
      /beside the compiled prompt \(≈ deduced from the request\):\n {2}82 B {2}tool-def {2}tool:read_file {2}"Reads a file"/,
    )
  })

  test("[F-01] a fault's revision of the manifest names its artifacts", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    run.commit(step, compiled)
    run.send(messagesRequest([user(compiled.prompt)]), { parent: step })
    const artifact = {
      artifact_id: "art_1",
      path: "snapshots/prompt.txt",
      hash: compiled.manifest.prompt_hash,
      size_bytes: 812,
      created_at: "2026-01-01T00:00:00Z",
    }
    const fault = { trigger: "tool_failure", detail: "run_tests timed out", missing: [] as string[] } as const
    run.commit(step, compiled, { ...compiled.manifest, revision: 1, faults: [{ ...fault, artifacts: [artifact] }] })
    const view = run.contextAt(3)
    expect(view.revisions).toEqual([
      {
        revision: 1,
        trigger: "tool_failure",
        detail: "run_tests timed out",
        missing: [],
        artifacts: [{ id: "art_1", hash: artifact.hash, sizeBytes: 812 }],
      },
    ])
    expect(recordedContexts(run.view())).toHaveLength(1)
    expect(contextText(view, { address })).toContain('revision 1: tool_failure "run_tests timed out" · 1 artifact')
  })

  test("[F-01] a revision that a failing tool below the step recorded belongs to the step's manifest", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    run.commit(step, compiled)
    run.send(messagesRequest([user(compiled.prompt)]), { parent: step })
    const tool = run.callTool("run_tests", "npm test", step)
    const fault = { trigger: "tool_failure", detail: "timed out", missing: [] as string[] } as const
    run.commit(tool, compiled, { ...compiled.manifest, revision: 1, faults: [{ ...fault, artifacts: [] }] })
    expect(recordedContexts(run.view()).map(({ n, manifests }) => [n, manifests.length])).toEqual([[3, 2]])
    expect(run.contextAt(3).revisions).toMatchObject([{ revision: 1, trigger: "tool_failure" }])
  })

  test("[M-06] a call has the manifest that its own step committed for it, and no other", () => {
    const run = new ContextRun()
    run.commit(run.root, judge({ objective: "of the run" }))
    const outer = run.step("outer")
    run.send(messagesRequest([user("x")]), { parent: run.step("deep", outer) })
    run.commit(outer, judge({ objective: "of the step" }))
    run.send(messagesRequest([user("x")]), { parent: outer })
    run.send(messagesRequest([user("x"), user("y")]), { parent: outer })
    run.commit(outer, judge({ objective: "of the third" }))
    run.send(messagesRequest([user("z")]), { parent: outer })
    const objectives = [4, 5, 6, 7].map((n) => run.contextAt(n).manifest?.intent?.objective)
    expect(objectives).toEqual([undefined, "of the step", undefined, "of the third"])
  })

  test("a context that was compiled and never sent is told at the step that compiled it", () => {
    const run = new ContextRun()
    const step = run.step("judge")
    run.commit(step, judge())
    run.fail("SystemError", "the disk is full", step)
    expect(run.contextAt(2)).toMatchObject({ basis: "manifest", delivery: "unknown" })
  })

  test("[M-03] the prompt is rebuilt byte for byte from its pieces; without them, what is missing is named", () => {
    const { run, first } = judgedTwice()
    const view = run.contextAt(3)
    const rebuilt = rebuildPrompt(view, run.bodies)
    if (!rebuilt.ok) throw new Error(rebuilt.reason)
    expect(new TextDecoder().decode(rebuilt.bytes)).toBe(first.prompt)

    const lost = first.manifest.inclusion_log[4]!
    run.bodies.delete(lost.rendered_ref)
    expect(rebuildPrompt(run.contextAt(3), run.bodies)).toMatchObject({
      ok: false,
      missing: [{ item_id: "question", source_ref: "event:e1", rendered_ref: lost.rendered_ref }],
      changed: [],
      reason: "1 of 6 items cannot be filled in",
    })
  })

  test("[M-03] pieces that were never kept say so", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    const refs = compiled.manifest.inclusion_log.map(({ rendered_ref }) => ({
      ...run.keep("x", "segment"),
      artifact_hash: rendered_ref,
      absent: "hashed" as const,
    }))
    run.add(step, "prompt_assembled", { segments: [], total_length: 0 }, { artifact_refs: refs })
    run.commit(step, { ...compiled, bodies: new Map() })
    expect(rebuildPrompt(run.contextAt(2), run.bodies)).toMatchObject({
      ok: false,
      partial: undefined,
      reason: "6 of 6 items cannot be filled in: hashed",
    })
  })

  test("[M-01] a manifest whose body is gone still tells what its event says, and says what it cannot", () => {
    const { run, first } = judgedTwice()
    const { payload } = run.events.find(({ event_type }) => event_type === "context_manifest")!
    run.bodies.delete((payload as { manifest_ref: string }).manifest_ref)
    const view = run.contextAt(3)
    expect(view).toMatchObject({
      basis: "request",
      excluded: null,
      excludedCount: first.manifest.exclusion_log.length,
      prefix: { hash: first.manifest.prefix_hash },
      gaps: ["the manifest's body is not there"],
    })
  })

  test("the events of these runs are what the contract asks for", () => {
    const { run } = judgedTwice()
    expect(run.events.flatMap((event) => validate(event))).toEqual([])
  })
})

describe("[K-07] one table maps the kinds of segments to the item types of manifests", () => {
  test.each([
    ["persona", "core", "policy"],
    ["tool-def", "tool:read_file", "policy"],
    ["skill", "web", "policy"],
    ["agent-profile", "reviewer", "policy"],
    ["history", "assistant", "memory"],
    ["history", "tool-result:read_file", "tool_output"],
    ["user-msg", "user", "user_input"],
    ["other", "x", "evidence"],
    ["of a newer version", "x", "evidence"],
  ])("a segment of kind %s by %s is %s", (kind, contributor, type) => {
    expect(itemTypeOf({ kind, contributor })).toBe(type)
  })

  test.each([
    ["user_input", "user-msg"],
    ["tool_output", "history"],
    ["memory", "history"],
    ["summary", "history"],
    ["evidence", "other"],
    ["policy", "persona"],
  ] as const)("an item of type %s is told as %s", (type, kind) => expect(segmentKindOf(type)).toBe(kind))

  test("who contributed an item, and as what, is taken from the assembled prompt where it says so", () => {
    const run = new ContextRun()
    const compiled = judge()
    const step = run.step("judge")
    run.add(step, "prompt_assembled", {
      segments: compiled.manifest.inclusion_log.map(({ rendered_ref, item_id, tokens }) => ({
        contributor: item_id === "mission" ? "catalog" : "compiler",
        kind: item_id === "mission" ? "agent-profile" : "other",
        role: "user",
        length: 10,
        tokens,
        segment_hash: rendered_ref,
      })),
      total_length: 50,
    })
    run.commit(step, compiled)
    run.send(messagesRequest([user(compiled.prompt)]), { parent: step })
    expect(run.contextAt(3).items[0]).toMatchObject({
      contributor: "catalog",
      kind: "agent-profile",
      itemType: "policy",
    })
  })
})

describe("one item through a run", () => {
  const read = (run: ContextRun) => recordedContexts(run.view()).map((context) => readContext(context, run.bodies))

  test("[M-05] where it was included and why, where it was left out and why", () => {
    const { run } = judgedTwice()
    const why = whyOf(read(run), "copy")
    expect(why).toMatchObject({ matchedBy: "id", contexts: 2 })
    expect(why.items[0]!.sightings).toMatchObject([
      { n: 3, state: "included", reason: "retrieval_trigger", position: 6 },
      { n: 5, state: "excluded", reason: "budget_limit" },
    ])
    expect(whyOf(read(run), "note").items.map(({ id }) => id)).toEqual(["notes"])
    expect(whyOf(read(run), "nothing like it").items).toEqual([])
  })

  test("[M-05] a table of the run's contexts tells sizes, what was left out and what changed", () => {
    const { run } = judgedTwice()
    expect(summarizeContexts(read(run))).toMatchObject([
      { n: 3, basis: "manifest", items: 6, excluded: 2, changes: null },
      { n: 5, items: 6, changes: { since: 3, added: 1, removed: 1, changed: 1, same: 4, prefix: "same" } },
    ])
  })
})

test("a step that called no model has no context, and the error says where to look", () => {
  const run = new ContextRun()
  run.callTool("read_file", "x")
  expect(() => contextOf(run.view(), 2, run.bodies)).toThrow(/step #2 has no context: it called no model/)
  expect(only(run.events, "tool_called").step_id).toBe(run.view().steps[1]!.id)
})
