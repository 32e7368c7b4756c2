import { loopGuardFor, recordSchemaRepair } from "@orangebox/context"
import type { Event, EventType } from "@orangebox/contract"
import { BlockedCallError, type GuardedCall, MemorySink, Recorder, type RecorderOptions } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"

function record(options: Partial<RecorderOptions> = {}) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test-app", cwd: "/", sink, ...options })
  const payloadsOf = <T extends EventType>(type: T): Event<T>["payload"][] =>
    (sink.events.filter((event) => event.event_type === type) as Event<T>[]).map(({ payload }) => payload)
  return { recorder, sink, payloadsOf }
}

const isJson = (output: string) => {
  try {
    return { ok: true as const, value: JSON.parse(output) as unknown }
  } catch {
    return { ok: false as const, problems: ["is no JSON"] }
  }
}

describe("recordSchemaRepair", () => {
  test("[F-03] a repair that helps is on record with both texts, and no fault is raised", async () => {
    const { recorder, sink, payloadsOf } = record()
    const step = recorder.startRun({ entrypoint: "judge" }).step("answer")
    const answer = await recordSchemaRepair(step, {
      output: "{oops",
      validate: isJson,
      repair: () => '{"fine":1}',
    })
    expect(answer).toMatchObject({ ok: true, value: { fine: 1 } })
    const [repair, ...others] = payloadsOf("repair")
    expect(others).toEqual([])
    expect(repair).toMatchObject({
      kind: "schema",
      outcome: "repaired",
      attempt: 1,
      max_attempts: 2,
      reason: "is no JSON",
    })
    expect([repair!.before_ref, repair!.after_ref].map((ref) => sink.textOf(ref))).toEqual(["{oops", '{"fine":1}'])
    expect(payloadsOf("fault")).toEqual([])
  })

  test("[F-03] attempts that do not help raise the fault once, and each is on record as soon as it is over", async () => {
    const { recorder, payloadsOf } = record()
    const step = recorder.startRun({ entrypoint: "judge" }).step("answer")
    const recordedBefore: number[] = []
    const answer = await recordSchemaRepair(step, {
      output: "{",
      validate: isJson,
      repair: (text) => {
        recordedBefore.push(payloadsOf("repair").length)
        return `${text}{`
      },
      maxAttempts: 3,
    })
    expect(answer.ok).toBe(false)
    expect(recordedBefore).toEqual([0, 1, 2])
    expect(payloadsOf("repair").map(({ outcome, after_ref }) => [outcome, after_ref])).toEqual(
      Array.from({ length: 3 }, () => ["failed", null]),
    )
    expect(payloadsOf("fault")).toMatchObject([
      { trigger: "schema_repair_failure", detail: "no valid answer after 3 repairs: is no JSON" },
    ])
  })

  test("an answer that is valid leaves no record", async () => {
    const { recorder, payloadsOf } = record()
    const step = recorder.startRun({ entrypoint: "judge" }).step("answer")
    expect(await recordSchemaRepair(step, { output: "[]", validate: isJson, repair: () => "" })).toMatchObject({
      ok: true,
      value: [],
    })
    expect([...payloadsOf("repair"), ...payloadsOf("fault")]).toEqual([])
  })
})

describe("loopGuardFor", () => {
  const callOf = (runId: string) => ({ signature: "same", step: { runId } })

  test("[F-03] plugged into a recorder it blocks the call after the threshold, in each run by itself", async () => {
    const { recorder, payloadsOf } = record({ guard: loopGuardFor({ threshold: 2 }) })
    const read = (run: ReturnType<typeof recorder.startRun>) =>
      run.tool({ name: "read", args: { path: "a" } }, () => "text")
    const [one, two] = [recorder.startRun({ entrypoint: "one" }), recorder.startRun({ entrypoint: "two" })]
    for (const run of [one, two, one, two]) expect(await read(run)).toBe("text")
    await expect(read(one)).rejects.toBeInstanceOf(BlockedCallError)
    expect(payloadsOf("fault")).toMatchObject([{ trigger: "loop_guard_override" }])
    expect(payloadsOf("safety_decision")).toMatchObject([{ policy_name: "loop-guard", decision: "block" }])
  })

  test("[F-03] an override that is asked for each call lets it through, which is a fault all the same", async () => {
    const guard = loopGuardFor<GuardedCall>({ threshold: 1, override: ({ name }) => name === "poll" })
    const { recorder, payloadsOf } = record({ guard })
    const run = recorder.startRun({ entrypoint: "one" })
    for (let i = 0; i < 2; i++) await run.tool({ name: "poll", args: {} }, () => i)
    expect(payloadsOf("fault")).toHaveLength(1)
    expect(payloadsOf("safety_decision")).toMatchObject([{ decision: "escalate" }])
    await run.tool({ name: "read", args: {} }, () => 1)
    await expect(run.tool({ name: "read", args: {} }, () => 1)).rejects.toBeInstanceOf(BlockedCallError)
  })

  test("of many runs, those that called last are remembered", () => {
    const guard = loopGuardFor({ threshold: 1 })
    expect(guard(callOf("first"))).toBeUndefined()
    for (let i = 0; i < 999; i++) guard(callOf(`run ${i}`))
    expect(guard(callOf("first"))).toMatchObject({ decision: "block" })
    guard(callOf("one more"))
    expect(guard(callOf("run 0"))).toBeUndefined()
  })

  test("a policy that can never hold is refused where it is written", () => {
    expect(() => loopGuardFor({ threshold: 3, window: 2 })).toThrow(/window/)
  })
})
