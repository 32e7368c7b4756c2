import type { Event } from "@orangebox/contract"
import { diffRuns } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { type Act, model, type ScriptedRun, scriptRun, tool } from "./script-run.js"

const acts = (count: number): Act[] =>
  Array.from({ length: count }, (_, i) =>
    i % 2 === 0 ? model(`say ${i}`) : tool("read_file", { path: `f${i % 5}` }, `text ${i}`),
  )

const runId = (letter: string): string => `run_${"0".repeat(25)}${letter}`

/** Marks a call as the replay of the source's call at the same place. */
function replayOf(source: ScriptedRun, letter: string, upTo = Number.POSITIVE_INFINITY) {
  return (place: number): Partial<Event> => ({
    determinism_mode: place < upTo ? "exact" : "live",
    replay: {
      source_run_id: runId(letter),
      fork_step_id: null,
      override_profile_id: null,
      replay_reason_code: "what_if",
      ...(place < upTo ? { source_step_id: source.steps[place]! } : {}),
    },
  })
}

describe("[P-09] related runs", () => {
  test("[P-09] a replay is matched by the steps it names, without a table and without reading a body", () => {
    const source = scriptRun(acts(400), { id: "A" })
    const replay = scriptRun(acts(400), { id: "B", replay: replayOf(source, "A") })
    const before = source.reads() + replay.reads()
    const diff = diffRuns(source, replay)
    expect(diff).toMatchObject({ regime: "R1", verdict: "same" })
    expect(diff.stats).toMatchObject({ cells: 0, anchors: 0, same: 401 })
    // The last answer, which is the outcome.
    expect(source.reads() + replay.reads() - before).toBeLessThanOrEqual(4)
  })

  test("[P-09] the work grows with the steps and no faster", () => {
    const readsOf = (count: number): number => {
      const source = scriptRun(acts(count), { id: "A" })
      const changed = acts(count)
      changed[2] = model("something else")
      const replay = scriptRun(changed, { id: "B", replay: replayOf(source, "A") })
      const diff = diffRuns(source, replay, { payloads: 0 })
      expect(diff.stats.cells).toBe(0)
      return source.reads() + replay.reads()
    }
    expect(readsOf(800)).toBeLessThanOrEqual(4 * readsOf(200) + 50)
  })

  test("[P-09] the root of a fork is its first step that differs, even with nothing in common before", () => {
    const source = scriptRun(acts(20), { id: "A" })
    const changed = acts(20)
    changed[0] = model("go another way", { name: "write_file", args: { path: "w" } })
    const fork = scriptRun(changed, { id: "B", replay: replayOf(source, "A", 1) })
    const diff = diffRuns(source, fork)
    expect(diff.regime).toBe("R1")
    expect(diff.items[diff.root!]).toMatchObject({ a: { step_id: source.steps[0] }, b: { mode: "exact" } })
    expect(diff.root_absent).toBeNull()
  })

  test("[P-09] what comes after a fork is aligned, and only that", () => {
    const source = scriptRun(acts(60), { id: "A" })
    const fork = scriptRun([...acts(40), model("turn"), ...acts(10)], { id: "B", replay: replayOf(source, "A", 40) })
    const diff = diffRuns(source, fork)
    expect(diff.stats.cells).toBeGreaterThan(0)
    expect(diff.stats.cells).toBeLessThanOrEqual(20 * 11)
    expect(diff.items[diff.root!]!.b?.step_id).toBe(fork.steps[40])
  })

  test("[P-09] plain steps around calls are matched by the calls inside them, and the tail of a fork by what it does", () => {
    const inside = (says: string): Act[] => [
      { does: "step", name: "plan", acts: [model("look"), tool("read_file", { path: "a" }, "text")] },
      { does: "step", name: "work", acts: [model(says), tool("write_file", { path: "b" }, says, { effect: "write" })] },
    ]
    const source = scriptRun(inside("one"), { id: "A" })
    const calls = source.steps.filter((_, place) => place !== 0 && place !== 3)
    const named = (place: number) => ({
      replay: { ...replayOf(source, "A")(place).replay!, source_step_id: calls[place]! },
    })
    const same = diffRuns(source, scriptRun(inside("one"), { id: "B", replay: named }))
    expect(same).toMatchObject({ verdict: "same", stats: { cells: 0, same: 7 } })
    const changed = diffRuns(source, scriptRun(inside("two"), { id: "B", replay: named }))
    expect(changed.items.filter(({ cause }) => cause !== null).map(({ kind, cause }) => [kind, cause])).toEqual([
      ["model", "origin"],
      ["tool", "environment"],
    ])
  })

  test("[P-09] two replays of one source are matched through it", () => {
    const source = scriptRun(acts(10), { id: "A" })
    const [one, other] = [
      scriptRun(acts(10), { id: "B", replay: replayOf(source, "A") }),
      scriptRun(acts(10), { id: "C", replay: replayOf(source, "A") }),
    ]
    expect(diffRuns(one, other)).toMatchObject({ regime: "R1", verdict: "same" })
  })

  test("[P-09] a replay of a replay is matched with its grandparent where the lineage is known", () => {
    const source = scriptRun(acts(10), { id: "A" })
    const child = scriptRun(acts(10), { id: "B", replay: replayOf(source, "A") })
    const grandchild = scriptRun(acts(10), { id: "C", replay: replayOf(child, "B") })
    expect(diffRuns(source, grandchild).regime).toBe("R2")
    const origin = new Map(child.steps.map((step, place) => [step, source.steps[place]!]))
    const lineage = {
      sourceOfRun: (run: string) => (run === runId("B") ? runId("A") : undefined),
      sourceOfStep: (_: string, step: string) => origin.get(step),
    }
    const diff = diffRuns(source, grandchild, { lineage })
    expect(diff).toMatchObject({ regime: "R1", verdict: "same", stats: { cells: 0 } })
  })
})
