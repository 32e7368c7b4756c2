import { ContextManifest, compile, defineStages, loopGuardFor } from "@orangebox/context"
import { type PayloadOf, validate, validatePayload } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import type { RecorderOptions, Run, Step } from "../src/index.js"
import { contractProblems, recordInMemory } from "./recording.js"

const stages = defineStages({
  name: "fixer",
  version: "1",
  stages: [{ id: "plan", name: "plan", mission: "Plan the fix." }],
})

/** Compiles, says and asks, as the documentation shows it. */
async function ask(step: Step, text: string, answer: unknown = "an answer"): Promise<string> {
  const compiled = compile(stages.stage("plan"), {
    runId: step.runId,
    stepId: step.id,
    generatedAt: "2026-01-31T12:00:00Z",
    items: [{ id: "m1", type: "user_input", text, sourceRef: "event:m1" }],
  })
  step.context(compiled)
  await step.model({ provider: "p", model: "m", request: { prompt: compiled.prompt } }, () => answer)
  return JSON.stringify({ prompt: compiled.prompt })
}

const audit = (more: Partial<RecorderOptions> = {}) => recordInMemory({ profile: "audit", ...more })

/** What the one fault of a recording stored, as text. */
function stored(recording: ReturnType<typeof audit>) {
  const fault = recording.eventsOf("fault").at(-1)!.payload
  const artifacts = recording.eventsOf("artifact_recorded").map(({ payload }) => payload)
  const texts = fault.artifact_ids.map((id) =>
    recording.sink.textOf(artifacts.find(({ artifact_id }) => artifact_id === id)?.content_ref),
  )
  return { fault, texts }
}

function lastManifest({ eventsOf, sink }: ReturnType<typeof audit>) {
  const { payload } = eventsOf("context_manifest").at(-1)!
  return ContextManifest.parse(JSON.parse(sink.textOf(payload.manifest_ref)!))
}

describe("[F-08] a fault has its evidence", () => {
  test("the documented loop guard, on a tool call that repeats", async () => {
    const recording = audit({ guard: loopGuardFor({ threshold: 2 }) })
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    const prompt = await ask(step, "The date test fails.")
    const read = () => step.tool({ name: "read", args: { path: "a" } }, () => "the same output")
    await read()
    await read()
    await expect(read()).rejects.toThrow(/blocked by loop-guard/)
    const { fault, texts } = stored(recording)
    expect(fault.trigger).toBe("loop_guard_override")
    expect(texts).toContain(prompt)
    expect(texts).toContain("the same output")
    expect(recording.eventsOf("fault")[0]!.step_id).toBe(step.id)
    expect(lastManifest(recording).faults[0]!.artifacts).toHaveLength(texts.length)
    step.end()
    run.complete()
    expect(contractProblems(recording.sink)).toEqual([])
  })

  test("the loop guard on a model call, and on a tool in a step where no model was asked", async () => {
    const recording = audit({ guard: loopGuardFor({ threshold: 1 }) })
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const plan = run.step("plan")
    const prompt = await ask(plan, "The date test fails.")
    plan.end()
    const act = run.step("act")
    await act.tool({ name: "read", args: {} }, () => "output")
    await expect(act.tool({ name: "read", args: {} }, () => "output")).rejects.toThrow(/blocked/)
    expect(stored(recording).texts).toContain(prompt)
    expect(lastManifest(recording)).toMatchObject({ step_id: plan.id, revision: 1 })
    await expect(
      act.model({ provider: "p", model: "m", request: JSON.parse(prompt) as object }, () => "again"),
    ).rejects.toThrow()
  })

  test("a run that fails after its last step ended well", async () => {
    const recording = audit()
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    const prompt = await ask(step, "The date test fails.", "{ not json")
    await step.tool({ name: "read", args: {} }, () => "what the tool said")
    step.end()
    try {
      JSON.parse("{ not json")
    } catch (error) {
      run.fail(error)
    }
    const { fault, texts } = stored(recording)
    expect(fault.trigger).toBe("system_error")
    expect(texts).toEqual(expect.arrayContaining([prompt, "{ not json", "what the tool said"]))
    expect(lastManifest(recording)).toMatchObject({ step_id: step.id, revision: 1 })
    expect(contractProblems(recording.sink)).toEqual([])
  })

  test("only the last calls are held, however many steps ended well, and a run that completes leaves none", async () => {
    for (const isFailing of [true, false]) {
      const recording = audit()
      const run = recording.recorder.startRun({ entrypoint: "fix" })
      const prompts: string[] = []
      for (let n = 0; n < 20; n++) {
        const step = run.step(`step ${n}`)
        prompts.push(await ask(step, `question ${n}`))
        for (let i = 0; i < 10; i++) await step.tool({ name: "t", args: { n, i } }, () => `output ${n}.${i}`)
        step.end()
      }
      if (isFailing) run.fail(new Error("late"))
      else run.complete()
      if (!isFailing) {
        expect(recording.eventsOf("artifact_recorded")).toEqual([])
        continue
      }
      const { texts } = stored(recording)
      expect(texts).toContain(prompts.at(-1))
      expect(texts).toContain("output 19.9")
      expect(texts).not.toContain(prompts[0])
      expect(texts.filter((text) => text?.startsWith("output")).length).toBeLessThanOrEqual(16)
    }
  })

  test.each([
    ["a run that asked nothing", (run: Run) => run.fail(new Error("at once"))],
    ["a step that asked nothing", (run: Run) => void run.step("idle").snapshot()],
  ])("%s says that nothing was sent", (_, fail) => {
    const recording = audit()
    fail(recording.recorder.startRun({ entrypoint: "fix" }))
    expect(recording.only("fault").payload).toMatchObject({ artifact_ids: [], no_evidence: "nothing_sent" })
  })

  test("what is still coming is part of it", () => {
    const recording = recordInMemory({ bodies: "on_fault" })
    const step = recording.recorder.startRun({ entrypoint: "fix" }).step("plan")
    const call = step.startModel({ provider: "p", model: "m", request: "a question" })
    call.chunk(Buffer.from("data: the first half of\n\n"))
    step.snapshot()
    expect(stored(recording).texts).toEqual(["a question", expect.stringContaining("the first half")])
    call.chunk(Buffer.from("data: the answer\n\n"))
    call.endModel({})
    step.snapshot()
    expect(stored(recording).texts.at(-1)).toBe("data: the first half of\n\ndata: the answer\n\n")
  })

  test.each(["closed", "exit"] as const)("a run left open when its recorder says goodbye (%s)", async (how) => {
    const recording = audit()
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const prompt = await ask(run.step("plan"), "The date test fails.")
    const listeners = process.rawListeners("exit")
    if (how === "closed") recording.recorder.close()
    else (listeners.at(-1) as (code: number) => void).call(process, 0)
    expect(stored(recording).texts).toContain(prompt)
    expect(recording.only("fault").payload.detail).toMatch(/with the run open/)
    expect(run.runId).toBe(recording.only("fault").run_id)
  })
})

describe("[F-08] a fault without evidence and without a reason cannot be said", () => {
  const bare = { trigger: "system_error", detail: "x", artifact_ids: [] } as const

  test("the type refuses it", () => {
    // @ts-expect-error neither an artifact nor a reason
    const wrong: PayloadOf<"fault"> = { ...bare, artifact_ids: [] }
    // @ts-expect-error both
    const both: PayloadOf<"fault"> = { ...bare, artifact_ids: ["a"], no_evidence: "nothing_sent" }
    expect([wrong, both]).toHaveLength(2)
  })

  test("the contract refuses it from schema 1.2 on, and reads older ones as they are", () => {
    expect(validatePayload("fault", bare)).toMatchObject([{ code: "no_evidence" }])
    expect(validatePayload("fault", { ...bare, no_evidence: "nothing_sent" })).toEqual([])
    const { recorder, sink, only } = recordInMemory()
    recorder.startRun({ entrypoint: "x" }).snapshot()
    const event = only("fault")
    expect(validate(event)).toEqual([])
    const { no_evidence: _, ...payload } = event.payload
    expect(validate({ ...event, payload })).toMatchObject([{ code: "no_evidence" }])
    expect(validate({ ...event, schema_version: "1.1.0", payload })).toEqual([])
    expect(sink.events).not.toHaveLength(0)
  })

  test("whatever an application raises, in every way to keep bodies", async () => {
    for (const keeping of [{}, { bodies: "on_fault" }, { bodies: "sample:2" }, { capture: "hashed" }] as const) {
      for (const given of [undefined, {}, { trigger: "missing_pointer", detail: "x", missing: ["e1"] }]) {
        const { recorder, only } = recordInMemory(keeping)
        const step = recorder.startRun({ entrypoint: "x" }).step("plan")
        step.fault(given as never)
        const { artifact_ids, no_evidence } = only("fault").payload
        expect(artifact_ids.length > 0 || no_evidence !== undefined).toBe(true)
      }
    }
  })
})

describe("[F-08] [F-02] a run that was stopped", () => {
  test("for want of a manifest says so itself, and cannot look completed", async () => {
    const recording = audit()
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const plan = run.step("plan")
    const prompt = await ask(plan, "The date test fails.")
    plan.end()
    const bare = run.step("without a context")
    await expect(bare.model({ provider: "p", model: "m", request: "x" }, () => "y")).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
    })
    bare.end()
    run.complete({ output: "all went well" })
    expect(stored(recording).texts).toContain(prompt)
    expect(recording.only("fault").payload).toMatchObject({
      trigger: "system_error",
      stops_run: true,
      missing: [`context_manifest of step ${bare.id}`],
    })
    expect(recording.eventsOf("run_completed")).toEqual([])
    expect(recording.eventsOf("final_output")).toEqual([])
    expect(recording.only("run_failed").payload.error_class).toBe("SystemError")
  })

  test("for want of room for a snapshot names the artifact by id and kind, and the fault it was for", async () => {
    const { recorder, sink, eventsOf } = audit()
    const run = recorder.startRun({ entrypoint: "fix" })
    const step = run.step("plan")
    await ask(step, "The date test fails.")
    sink.commit = () => {
      throw new Error("ENOSPC")
    }
    await expect(step.tool({ name: "t", args: {} }, () => Promise.reject(new Error("no")))).rejects.toThrow()
    expect(JSON.parse(sink.words[0]!)).toMatchObject({
      event_type: "artifact_recorded",
      artifact_id: expect.stringMatching(/^prompt_snapshot-\d+$/),
      artifact_type: "prompt_snapshot",
      trigger: "tool_failure",
      detail: "t: Error",
    })
    step.end()
    run.complete()
    expect(eventsOf("run_completed")).toEqual([])
    expect(eventsOf("run_failed")).toHaveLength(1)
  })
})

describe("[F-05] [F-08] one in N of what goes well", () => {
  test("is a snapshot its step can be rebuilt from: the prompt, the answer, the outputs of its tools", async () => {
    const recording = recordInMemory({ bodies: "sample:2" })
    const run = recording.recorder.startRun({ entrypoint: "fix" })
    const prompts: string[] = []
    for (let n = 0; n < 4; n++) {
      const step = run.step(`step ${n}`)
      prompts.push(await ask(step, `question ${n}`, `answer ${n}`))
      await step.tool({ name: "t", args: {} }, () => `output ${n}`)
      step.end()
    }
    run.complete()
    const { eventsOf, sink } = recording
    expect(eventsOf("fault").map(({ payload }) => payload.trigger)).toEqual(["debug_request", "debug_request"])
    const kept = eventsOf("artifact_recorded").map(({ payload }) => sink.textOf(payload.content_ref))
    for (const n of [1, 3]) expect(kept).toEqual(expect.arrayContaining([prompts[n], `answer ${n}`, `output ${n}`]))
    for (const n of [0, 2]) expect(kept).not.toContain(prompts[n])
    const manifests = eventsOf("context_manifest").map(({ payload }) =>
      ContextManifest.parse(JSON.parse(sink.textOf(payload.manifest_ref)!)),
    )
    const rebuilt = manifests.filter(({ prompt_hash }) => sink.bodies.has(prompt_hash))
    expect(new Set(rebuilt.map(({ step_id }) => step_id)).size).toBe(2)
    expect(rebuilt.filter(({ revision }) => revision === 1)).toHaveLength(2)
    expect(contractProblems(sink)).toEqual([])
  })

  test("a sampled step that fails is no sample, and calls made in the run itself are kept at its end", async () => {
    const failing = recordInMemory({ bodies: "sample:1" })
    const step = failing.recorder.startRun({ entrypoint: "fix" }).step("plan")
    await ask(step, "a question")
    step.end({ err: new Error("no") })
    expect(failing.eventsOf("fault")).toEqual([])
    const direct = recordInMemory({ bodies: "sample:1" })
    const run = direct.recorder.startRun({ entrypoint: "fix" })
    await run.model({ provider: "p", model: "m", request: "asked in the run" }, () => "answered")
    run.complete()
    expect(stored(direct).texts).toEqual(["asked in the run", "answered"])
  })
})
