import { ContextManifest, compile, defineStages, observeCall, rebuildContext, startLoopGuard } from "@orangebox/context"
import type { Event } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { FAKES } from "../../redaction/test/fake-secrets.js"
import { HeldStream } from "../src/faults/held-stream.js"
import { BlockedCallError, type Guard, type RecorderOptions, type Run, type Step } from "../src/index.js"
import { contractProblems, recordInMemory } from "./recording.js"

const stages = defineStages({
  name: "fixer",
  version: "1",
  stages: [{ id: "plan", name: "plan", mission: "Plan the fix." }],
})

const compiled = (text: string, more: object = {}) =>
  compile(stages.stage("plan"), {
    runId: "run_given_by_the_app",
    generatedAt: "2026-01-31T12:00:00Z",
    items: [{ id: "m1", type: "user_input", text, sourceRef: "event:m1" }],
    ...more,
  })

const audit = (more: Partial<RecorderOptions> = {}) => recordInMemory({ profile: "audit", ...more })

describe("[M-01] a step's context, recorded", () => {
  test("the manifest is the step's own, holds refs and no text of the items, and gives the prompt back byte for byte", () => {
    const { recorder, sink, only } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    const context = compiled("The date test fails on leap years.")
    step.context(context)
    const event = only("context_manifest")
    const text = sink.textOf(event.payload.manifest_ref)!
    const manifest = ContextManifest.parse(JSON.parse(text))
    expect(manifest).toMatchObject({ run_id: run.runId, step_id: step.id, revision: 0 })
    expect(text).not.toContain("leap years")
    expect(rebuildContext(manifest, sink.bodies)).toEqual({ ok: true, prompt: context.prompt })
    expect(sink.textOf(only("prompt_rendered").payload.rendered_prompt_ref)).toBe(context.prompt)
    const assembled = only("prompt_assembled").payload
    expect(assembled.segments.map(({ contributor, kind }) => [contributor, kind])).toEqual([
      ["mission", "persona"],
      ["m1", "user-msg"],
    ])
    expect(assembled.segments.map((segment) => sink.textOf(segment.content_ref)).join("")).toBe(context.prompt)
    step.end()
    run.complete()
    expect(contractProblems(sink)).toEqual([])
  })

  test("[M-02] what was left out, and what a retriever offered, are on record", () => {
    const { recorder, sink, only } = recordInMemory()
    const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
    const chunks = ["alpha beta", "beta gamma", "delta"].map((text, i) => ({
      id: `c${i}`,
      text,
      sourceRef: `file:${i}`,
    }))
    step.context(
      compiled("beta", {
        query: "beta",
        retrievers: [{ id: "by-hand", version: "1", retrieve: () => chunks.map((chunk, score) => ({ chunk, score })) }],
        minScore: 1,
      }),
    )
    const retrieval = only("retrieval_executed")
    expect(retrieval.payload).toMatchObject({ retriever_id: "by-hand", candidate_count: 3 })
    const manifest = ContextManifest.parse(JSON.parse(sink.textOf(only("context_manifest").payload.manifest_ref)!))
    expect(manifest.exclusion_log.map(({ excluded_reason }) => excluded_reason)).toContain("score_below_threshold")
    expect(only("context_manifest").payload.excluded_count).toBe(manifest.exclusion_log.length)
  })

  test("[M-03] a masked item keeps the manifest whole: it points at what is stored, and the masked prompt is rebuilt from it", () => {
    const { recorder, sink, only } = recordInMemory()
    const secret = FAKES["anthropic-key"]!
    const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
    step.context(compiled(`Use ${secret} for the call.`))
    const manifest = ContextManifest.parse(JSON.parse(sink.textOf(only("context_manifest").payload.manifest_ref)!))
    const rebuilt = rebuildContext(manifest, sink.bodies)
    expect(rebuilt).toMatchObject({ ok: true })
    expect(JSON.stringify(rebuilt)).toContain("…redacted…")
    expect(JSON.stringify([...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString()))).not.toContain(
      secret,
    )
  })

  test("[X-01] under hashed a manifest says what was there without a word of it", () => {
    const { recorder, sink, only } = recordInMemory({ capture: "hashed" })
    const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
    step.context(
      compiled("Nobody shall read this sentence.", { objective: "Nor this objective", query: "nor this query" }),
    )
    const text = sink.textOf(only("context_manifest").payload.manifest_ref)!
    const manifest = ContextManifest.parse(JSON.parse(text))
    expect(manifest.inclusion_log.map(({ item_type, included_reason }) => [item_type, included_reason])).toEqual([
      ["policy", "policy_requirement"],
      ["policy", "plan_dependency"],
      ["user_input", "plan_dependency"],
    ])
    expect(manifest.token_budget.prompt_tokens).toBeGreaterThan(0)
    expect(text).not.toMatch(/sentence|objective"?: "Nor|nor this/)
  })
})

/** What each trigger needs to happen, under whatever keeps bodies on faults only. */
const TRIGGERS: { readonly [trigger: string]: (run: Run, step: Step) => void | Promise<void> } = {
  tool_failure: async (_, step) => {
    await step.tool({ name: "flaky", args: {} }, () => Promise.reject(new Error("no"))).catch(() => {})
  },
  system_error: (run) => run.fail(new Error("the agent broke")),
  debug_request: (_, step) => void step.snapshot("builder_user"),
  missing_pointer: (_, step) =>
    void step.fault({ trigger: "missing_pointer", detail: "evidence e1 cannot be resolved", missing: ["e1"] }),
  schema_repair_failure: (_, step) => void step.fault({ trigger: "schema_repair_failure", detail: "two attempts" }),
  loop_guard_override: (_, step) => void step.fault({ trigger: "loop_guard_override", detail: "4 of 3" }),
}

describe("[F-01] each of the six triggers stores what the model saw and what the tools said", () => {
  test.each(Object.keys(TRIGGERS))("%s", async (trigger) => {
    const { recorder, sink, eventsOf, only } = audit()
    const run = recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    const context = compiled("The date test fails.")
    step.context(context)
    await step.model({ provider: "p", model: "m", request: { prompt: context.prompt } }, () => ({
      text: "I will look.",
    }))
    await step.tool({ name: "read", args: { path: "a" } }, () => "the raw output of the tool")
    expect(sink.textOf(eventsOf("model_called")[0]!.payload.request_ref)).toBeUndefined()
    await TRIGGERS[trigger]!(run, step)

    const fault = only("fault").payload
    expect(fault.trigger).toBe(trigger)
    const artifacts = eventsOf("artifact_recorded").map(({ payload }) => payload)
    expect(fault.artifact_ids).toEqual(artifacts.map(({ artifact_id }) => artifact_id))
    const stored = artifacts.map(({ content_ref }) => sink.textOf(content_ref))
    expect(stored).toContain(JSON.stringify({ prompt: context.prompt }))
    expect(stored).toContain("the raw output of the tool")
    for (const { path, hash, size_bytes } of artifacts) {
      expect(path).toMatch(/^\.orangebox\/snapshots\/run_/)
      expect(hash).toMatch(/^sha256:/)
      expect(size_bytes).toBeGreaterThan(0)
    }
    const revised = eventsOf("context_manifest").at(-1)!.payload
    expect(revised.revision).toBe(1)
    const manifest = ContextManifest.parse(JSON.parse(sink.textOf(revised.manifest_ref)!))
    expect(manifest.faults).toHaveLength(1)
    expect(manifest.faults[0]).toMatchObject({ trigger })
    expect(manifest.faults[0]!.artifacts.map(({ artifact_id }) => artifact_id)).toEqual(fault.artifact_ids)
    for (const artifact of manifest.faults[0]!.artifacts) {
      expect(Object.keys(artifact).sort()).toEqual(["artifact_id", "created_at", "hash", "path", "size_bytes"])
    }
    if (trigger !== "system_error") {
      step.end()
      run.complete()
    }
    expect(contractProblems(sink).filter((problem) => !problem.startsWith("step_open"))).toEqual([])
  })

  test("its scope is the step with everything below it: a sibling's prompt is not in it", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ bodies: "on_fault" })
    const run = recorder.startRun({ entrypoint: "fix" })
    const [one, two] = [run.step("one"), run.step("two")]
    await one.model({ provider: "p", model: "m", request: "asked by one" }, () => "")
    await two.model({ provider: "p", model: "m", request: "asked by two" }, () => "")
    two.fault({ trigger: "debug_request", detail: "look" })
    const stored = eventsOf("artifact_recorded").map(({ payload }) => sink.textOf(payload.content_ref))
    expect(stored).toContain("asked by two")
    expect(stored).not.toContain("asked by one")
  })

  test("with bodies always kept the artifacts name the bytes that are there already", async () => {
    const { recorder, sink, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "fix" })
    await run.model({ provider: "p", model: "m", request: "asked" }, () => "answered")
    run.snapshot()
    run.complete()
    expect(eventsOf("artifact_recorded").map(({ payload }) => sink.textOf(payload.content_ref))).toContain("asked")
    expect(contractProblems(sink)).toEqual([])
  })

  test("[F-04] no path of ours is absolute", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        const { recorder, eventsOf } = recordInMemory()
        const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
        await step.tool({ name: text || "t", args: text }, () => text)
        step.snapshot()
        for (const { payload } of eventsOf("artifact_recorded")) expect(payload.path).not.toMatch(/^(?:\/|[A-Za-z]:)/)
      }),
      { numRuns: 30 },
    )
  })
})

describe("[F-05] what is kept of what went well", () => {
  test("under on_fault nothing but manifests; a snapshot can be asked for with the asker's role", async () => {
    const { recorder, sink, only } = audit()
    const run = recorder.startRun({ entrypoint: "fix", input: "the input" })
    const step = run.step("plan")
    step.context(compiled("Fix it."))
    await step.model({ provider: "p", model: "m", request: "a long request" }, () => "an answer")
    await step.tool({ name: "read", args: { path: "a" } }, () => "output")
    step.end()
    run.complete({ output: "done" })
    const texts = [...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString())
    expect(texts).toHaveLength(1)
    expect(JSON.parse(texts[0]!)).toMatchObject({ revision: 0 })
    expect(only("model_called").artifact_refs[0]).toMatchObject({ absent: "not_kept", byte_size: 14 })
    expect(contractProblems(sink)).toEqual([])

    const second = audit()
    const asked = second.recorder.startRun({ entrypoint: "fix" }).step("plan")
    asked.snapshot("builder_user")
    expect(second.only("fault").payload).toMatchObject({ trigger: "debug_request", requested_by: "builder_user" })
  })

  test("sample:3 keeps the bodies of every third model call", async () => {
    const { recorder, sink, eventsOf } = recordInMemory({ bodies: "sample:3" })
    const run = recorder.startRun({ entrypoint: "fix" })
    for (let i = 0; i < 7; i++)
      await run.model({ provider: "p", model: "m", request: `request ${i}` }, () => `answer ${i}`)
    const kept = eventsOf("model_called").map(({ payload }) => sink.textOf(payload.request_ref))
    expect(kept.filter((text) => text !== undefined)).toEqual(["request 2", "request 5"])
  })
})

describe("[F-02] [F-06] audit: required fails closed", () => {
  test("a model is not asked by a step that has not said what it will see, and the run is latched", async () => {
    const { recorder, only } = audit()
    const run = recorder.startRun({ entrypoint: "fix" })
    let wasAsked = false
    const ask = (step: Step) =>
      step.model({ provider: "p", model: "m", request: "x" }, () => {
        wasAsked = true
      })
    await expect(ask(run.step("plan"))).rejects.toMatchObject({ code: "SYSTEM_ERROR" })
    expect(wasAsked).toBe(false)
    expect(run.signal.aborted).toBe(true)
    await expect(run.tool({ name: "t", args: {} }, () => 1)).rejects.toMatchObject({ code: "SYSTEM_ERROR" })
    expect(only("fault").payload).toMatchObject({ stops_run: true, no_evidence: "nothing_sent" })
    expect(only("fault").payload.missing!.join()).toContain("context_manifest")
  })

  test("a manifest that cannot be written stops the run before the request leaves; the stop raises no fault of its own", async () => {
    const { recorder, sink, eventsOf } = audit()
    const run = recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    sink.commit = () => {
      throw new Error("ENOSPC")
    }
    expect(() => step.context(compiled("Fix it."))).toThrow(/could not be made durable/)
    let wasAsked = false
    await step
      .model({ provider: "p", model: "m", request: "x" }, () => {
        wasAsked = true
      })
      .catch(() => {})
    expect(wasAsked).toBe(false)
    expect(eventsOf("fault")).toEqual([])
    run.fail(new Error("stopped"))
    expect(eventsOf("fault")).toEqual([])
    expect(eventsOf("run_failed")).toHaveLength(1)
  })

  test("so does a snapshot, and the last words name what is missing", async () => {
    const { recorder, sink } = audit()
    const run = recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    step.context(compiled("Fix it."))
    await step.model({ provider: "p", model: "m", request: "x" }, () => "y")
    sink.commit = () => {
      throw new Error("ENOSPC")
    }
    await expect(step.tool({ name: "t", args: {} }, () => Promise.reject(new Error("no")))).rejects.toThrow()
    expect(run.signal.aborted).toBe(true)
    expect(sink.words.join()).toContain("artifact_recorded")
  })

  test("under best_effort the same loss leaves the agent alone", async () => {
    const { recorder, sink } = recordInMemory({ bodies: "on_fault" })
    sink.emit = () => {
      throw new Error("ENOSPC")
    }
    const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
    step.context(compiled("Fix it."))
    await expect(step.model({ provider: "p", model: "m", request: "x" }, () => "y")).resolves.toBe("y")
  })

  test("a step has exactly one manifest", () => {
    const { recorder } = audit()
    const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
    step.context(compiled("Fix it."))
    expect(() => step.context(compiled("Fix it again."))).toThrow(/exactly one/)
  })
})

describe("careless callers of contexts and faults", () => {
  const wrong: unknown[] = [undefined, null, {}, { prompt: "p", segments: [], bodies: new Map(), manifest: {} }, "text"]

  test("what is no compiled context is named under audit: required, and logged where telemetry may fail", () => {
    for (const given of wrong) {
      const step = audit().recorder.startRun({ entrypoint: "x" }).step("plan")
      expect(() => step.context(given as never)).toThrow(/(?:prompt|manifest\.intent) is not there.*compile\(\)/)
      const open = recordInMemory()
      open.recorder
        .startRun({ entrypoint: "x" })
        .step("plan")
        .context(given as never)
      expect(open.only("log").payload.message).toBe("a context could not be recorded")
    }
  })

  test("a fault takes whatever it is given, and says what is wrong with it", () => {
    for (const given of [undefined, {}, { trigger: "nonsense", detail: 5, missing: "x" }]) {
      const { recorder, eventsOf } = recordInMemory()
      recorder
        .startRun({ entrypoint: "x" })
        .step("plan")
        .fault(given as never)
      expect(eventsOf("fault")).toHaveLength(1)
    }
    expect(() => audit({ bodies: "sample:0" as never })).toThrow(/none of always, on_fault, sample:N/)
  })
})

describe("[F-03] guards are asked before a call is made", () => {
  const loopGuard = (threshold: number, override: boolean): Guard => {
    let guard = startLoopGuard({ threshold, window: 8 })
    return ({ signature }) => {
      const verdict = observeCall(guard, signature, override)
      guard = verdict.guard
      if (verdict.fault === undefined) return undefined
      return {
        decision: override ? "warn" : "block",
        policy: "loop-guard",
        fault: verdict.fault,
        reason: verdict.fault.detail,
      }
    }
  }

  test("a call made too often is blocked, on record as asked and refused, and a fault", async () => {
    const { recorder, eventsOf, only, sink } = recordInMemory({ guard: loopGuard(2, false) })
    const run = recorder.startRun({ entrypoint: "fix" })
    let ran = 0
    const again = () => run.tool({ name: "read", args: { path: "a" } }, () => ++ran)
    await again()
    await again()
    await expect(again()).rejects.toBeInstanceOf(BlockedCallError)
    expect(ran).toBe(2)
    expect(only("fault").payload.trigger).toBe("loop_guard_override")
    expect(only("safety_decision").payload).toMatchObject({ policy_name: "loop-guard", decision: "block" })
    expect(eventsOf("tool_result").at(-1)!.payload).toMatchObject({ status: "error", error_class: "BlockedCallError" })
    await run.tool({ name: "read", args: { path: "b" } }, () => ++ran)
    expect(ran).toBe(3)
    run.complete()
    expect(contractProblems(sink)).toEqual([])
  })

  test("an override lets it through and is a fault all the same", async () => {
    const { recorder, only, eventsOf } = recordInMemory({ guard: loopGuard(1, true) })
    const run = recorder.startRun({ entrypoint: "fix" })
    for (let i = 0; i < 2; i++) await run.tool({ name: "read", args: {} }, () => i)
    expect(only("fault").payload.detail).toContain("overridden")
    expect(eventsOf("tool_result").map(({ payload }) => payload.status)).toEqual(["success", "success"])
  })

  test("a guard that throws blocks: nobody has looked at the call", async () => {
    const { recorder, only } = recordInMemory()
    const run = recorder.startRun({
      entrypoint: "fix",
      guard: () => {
        throw new TypeError("broken guard")
      },
    })
    await expect(run.tool({ name: "rm", args: {} }, () => 1)).rejects.toBeInstanceOf(BlockedCallError)
    expect(only("safety_decision").payload.decision).toBe("block")
  })

  test("a guard whose answer is no verdict blocks, too: a promise is not waited for", async () => {
    const answers: readonly unknown[] = [
      Promise.resolve({ decision: "block", policy: "p" }),
      { decision: "deny" },
      true,
    ]
    for (const answer of answers) {
      const { recorder, only } = recordInMemory({ guard: (() => answer) as Guard })
      const run = recorder.startRun({ entrypoint: "agent" })
      let hasRun = false
      const call = run.tool({ name: "rm", args: {} }, () => {
        hasRun = true
      })
      await expect(call).rejects.toBeInstanceOf(BlockedCallError)
      expect(hasRun).toBe(false)
      expect(only("safety_decision").payload).toMatchObject({ decision: "block", policy_name: "guard" })
    }
    const { recorder } = recordInMemory({ guard: ((): unknown => null) as Guard })
    const run = recorder.startRun({ entrypoint: "agent" })
    expect(await run.tool({ name: "ls", args: {} }, () => 1)).toBe(1)
  })
})

test("[X-01] under hashed neither the fault nor the revised manifest holds a word of what the application said", () => {
  const { recorder, sink, eventsOf } = audit({ capture: "hashed" })
  const step = recorder.startRun({ entrypoint: "fix" }).step("plan")
  step.context(compiled("Fix it."))
  step.fault({ trigger: "missing_pointer", detail: "zebra is gone", missing: ["notes/zebra.md"] })
  const texts = [...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString())
  expect(eventsOf("fault")).toHaveLength(1)
  expect(JSON.stringify([sink.events, texts])).not.toContain("zebra")
})

test("streamed answers of a long run are held up to a bound, not for ever", () => {
  const held = new HeldStream("s1", undefined)
  held.write(Buffer.from("one "))
  held.write(Buffer.from("two"))
  expect(held.finish()).toMatchObject({ byteSize: 7, complete: true })
  expect(Buffer.from(held.bytes()).toString()).toBe("one two")
  expect(held.bytes()).toHaveLength(0)
})

test("events of a run under every profile keep the contract", async () => {
  const profiles: Partial<RecorderOptions>[] = [
    {},
    { profile: "audit" },
    { bodies: "sample:2" },
    { capture: "hashed" },
    { capture: "hashed", profile: "audit" },
  ]
  for (const options of profiles) {
    const { recorder, sink } = recordInMemory(options)
    const run = recorder.startRun({ entrypoint: "fix", input: "x" })
    const step = run.step("plan")
    step.context(compiled("Fix it."))
    const model = step.startModel({ provider: "p", model: "m", request: { a: 1 } })
    model.chunk(Buffer.from('data: {"a":1}\n\n'))
    model.endModel({})
    await step.tool({ name: "t", args: {} }, () => Promise.reject(new Error("no"))).catch(() => {})
    step.end()
    run.fail(new Error("x"))
    const problems = contractProblems(sink)
    expect({ options, problems }).toEqual({ options, problems: [] })
    expect((sink.events as Event[]).length).toBeGreaterThan(8)
  }
})
