import { observeCall, startLoopGuard, withSchemaRepair } from "@orangebox/context"
import { textHash, validatePayload } from "@orangebox/contract"
import fc from "fast-check"
import { describe, expect, test } from "vitest"

describe("the loop guard", () => {
  const play = (signatures: readonly string[], policy = {}, override = false) => {
    let guard = startLoopGuard(policy)
    return signatures.map((signature) => {
      const verdict = observeCall(guard, signature, override)
      guard = verdict.guard
      return verdict
    })
  }

  test("[F-03] the call after the threshold is stopped, and that is a fault", () => {
    const verdicts = play(["a", "a", "a", "a"])
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["go", "go", "go", "stop"])
    expect(verdicts.at(-1)).toMatchObject({
      repeats: 4,
      fault: { trigger: "loop_guard_override", detail: "call repeated 4 times in the last 4, 3 allowed: stop" },
    })
  })

  test("[F-03] an override lets the call go on, and is the fault the recorder has to keep", () => {
    const last = play(["a", "a", "a", "a"], {}, true).at(-1)!
    expect(last.verdict).toBe("overridden")
    expect(validatePayload("fault", { ...last.fault, artifact_ids: ["prompt_snapshot-1"] })).toEqual([])
  })

  test("[F-03] going round in circles through several calls is a loop too", () => {
    expect(play(["a", "b", "a", "b", "a", "b"], { threshold: 2 }).map(({ verdict }) => verdict)).toEqual([
      "go",
      "go",
      "go",
      "go",
      "stop",
      "stop",
    ])
  })

  test("[F-03] repeats that lie further back than the window are forgotten", () => {
    const calls = ["a", "b", "c", "d", "a", "b", "c", "d", "a"]
    expect(play(calls, { threshold: 2, window: 4 }).every(({ verdict }) => verdict === "go")).toBe(true)
  })

  test("[F-03] it stops exactly when the window holds more than the threshold (property)", () => {
    const letter = fc.constantFrom("a", "b", "c")
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (calls, threshold) => {
        const window = threshold * 4
        const verdicts = play(calls, { threshold })
        for (const [index, { verdict }] of verdicts.entries()) {
          const held = calls.slice(Math.max(0, index + 1 - window), index + 1).filter((call) => call === calls[index])
          expect(verdict).toBe(held.length > threshold ? "stop" : "go")
        }
      }),
    )
  })

  test.each([{ threshold: 0 }, { threshold: 1.5 }, { threshold: 3, window: 3 }])(
    "[F-03] a policy %j is refused",
    (policy) => {
      expect(() => startLoopGuard(policy)).toThrow(expect.objectContaining({ code: "CONTEXT_LOOP_GUARD" }))
    },
  )
})

describe("schema repair", () => {
  const isJson = (output: string) => {
    try {
      return { ok: true, value: JSON.parse(output) as unknown } as const
    } catch {
      return { ok: false, problems: ["is not JSON"] } as const
    }
  }

  test("[F-03] a valid answer needs no repair", async () => {
    const result = await withSchemaRepair({ output: "[1]", validate: isJson, repair: () => "" })
    expect(result).toMatchObject({ ok: true, value: [1], repairs: [] })
  })

  test("[F-03] each attempt is a repair record; the one that works says so", async () => {
    const asked: unknown[] = []
    const result = await withSchemaRepair({
      output: "[1",
      validate: isJson,
      repair: async (output, about) => {
        asked.push([output, about.problems, about.attempt])
        return about.attempt === 2 ? "[1]" : "[1,"
      },
      maxAttempts: 3,
    })
    expect(asked).toEqual([
      ["[1", ["is not JSON"], 1],
      ["[1,", ["is not JSON"], 2],
    ])
    expect(result).toMatchObject({ ok: true, value: [1], output: "[1]" })
    expect(result.repairs).toEqual([
      {
        kind: "schema",
        before_ref: textHash("[1"),
        after_ref: null,
        outcome: "failed",
        attempt: 1,
        max_attempts: 3,
        reason: "is not JSON",
      },
      {
        kind: "schema",
        before_ref: textHash("[1,"),
        after_ref: textHash("[1]"),
        outcome: "repaired",
        attempt: 2,
        max_attempts: 3,
        reason: "is not JSON",
      },
    ])
    for (const record of result.repairs) expect(validatePayload("repair", record)).toEqual([])
    expect(Buffer.from(result.bodies.get(textHash("[1,"))!).toString()).toBe("[1,")
  })

  test("[F-03] when the attempts are used up the failure is a fault, and the last answer is kept", async () => {
    const result = await withSchemaRepair({ output: "a", validate: isJson, repair: () => "b", maxAttempts: 2 })
    expect(result).toMatchObject({
      ok: false,
      output: "b",
      problems: ["is not JSON"],
      fault: { trigger: "schema_repair_failure", detail: "no valid answer after 2 repairs: is not JSON" },
    })
    expect(result.repairs.map(({ outcome }) => outcome)).toEqual(["failed", "failed"])
    expect(result.bodies.has(textHash("b"))).toBe(true)
    if (!result.ok)
      expect(validatePayload("fault", { ...result.fault, artifact_ids: ["prompt_snapshot-1"] })).toEqual([])
  })

  test("[F-03] a repair or a validator that throws is a failed attempt, not an exception", async () => {
    const throwing = () => {
      throw new Error("no network")
    }
    const repair = await withSchemaRepair({ output: "a", validate: isJson, repair: throwing, maxAttempts: 1 })
    expect(repair).toMatchObject({ ok: false, repairs: [{ reason: "the repair failed: Error: no network" }] })
    const validate = await withSchemaRepair({ output: "a", validate: throwing, repair: () => "b", maxAttempts: 0 })
    expect(validate).toMatchObject({ ok: false, repairs: [], problems: ["the validator threw: Error: no network"] })
  })

  test("[F-03] a number of attempts that is none is refused", async () => {
    const asked = withSchemaRepair({ output: "a", validate: isJson, repair: () => "b", maxAttempts: -1 })
    await expect(asked).rejects.toMatchObject({ code: "CONTEXT_REPAIR", where: "maxAttempts" })
  })
})
