import { type DiffItem, diffRuns, RunDiff } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { type Act, model, type ScriptOptions, scriptRun, tool } from "./script-run.js"

/** Small and seeded, so that a failing case can be run again by its number. */
function generator(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below
  }
}

const TOOLS = ["read_file", "write_file", "search", "run_tests"]
const WORDS = ["date", "parser", "module", "test", "line", "value", "index", "error", "fixture", "leap"]

function sentence(pick: (below: number) => number): string {
  return Array.from({ length: 4 + pick(8) }, () => WORDS[pick(WORDS.length)]!).join(" ")
}

function anyTool(pick: (below: number) => number, retries = true): Extract<Act, { does: "tool" }> {
  return {
    does: "tool",
    name: TOOLS[pick(TOOLS.length)]!,
    // Few different values, so that many calls are repeated.
    args: { path: `src/${WORDS[pick(4)]}.ts`, line: pick(3) },
    result: sentence(pick),
    ...(retries && pick(8) === 0 ? { retries: 1 + pick(2) } : {}),
  }
}

function anyActs(pick: (below: number) => number, length: number): Act[] {
  return Array.from({ length }, (_, index): Act => {
    if (index % 2 === 0)
      return { does: "model", says: sentence(pick), ...(pick(8) === 0 ? { retries: 1 + pick(2) } : {}) }
    if (pick(6) === 0) return { does: "step", name: `phase ${pick(3)}`, acts: [anyTool(pick), anyTool(pick)] }
    if (pick(5) === 0) {
      return { does: "parallel", acts: Array.from({ length: 2 + pick(3) }, () => anyTool(pick, false)) }
    }
    return anyTool(pick)
  })
}

/** What can be told apart, act by act: the independent measure of where two runs first differ. */
function keysOf(acts: readonly Act[]): string[] {
  let history = ""
  const keys: string[] = []
  const visit = (act: Act): void => {
    switch (act.does) {
      case "model":
        keys.push(`model ${history} ${act.says}`)
        history += `|${act.says}`
        return
      case "tool":
        keys.push(`tool ${act.name} ${JSON.stringify(act.args)} ${act.result}`)
        history += `|${act.result}`
        return
      case "step":
        keys.push(`step ${act.name}`)
        act.acts.forEach(visit)
        return
      case "parallel":
        act.acts.forEach(visit)
    }
  }
  acts.forEach(visit)
  return keys
}

type Mutation = "args" | "output" | "says" | "insert" | "remove" | "swap" | "name"
const MUTATIONS: readonly Mutation[] = ["args", "output", "says", "insert", "remove", "swap", "name"]

/** One change at one place; undefined where this change is not possible there. */
function mutate(acts: readonly Act[], mutation: Mutation, pick: (below: number) => number): Act[] | undefined {
  const changed = [...acts]
  const at = pick(acts.length)
  const act = acts[at]!
  switch (mutation) {
    case "insert":
      changed.splice(at, 0, tool("new_tool", { path: "new" }, "new result"))
      return changed
    case "remove":
      changed.splice(at, 1)
      return changed
    case "swap": {
      const other = pick(acts.length)
      changed[at] = acts[other]!
      changed[other] = act
      return changed
    }
    case "says":
      if (act.does !== "model") return undefined
      changed[at] = { ...act, says: `${act.says} indeed` }
      return changed
    default: {
      if (act.does !== "tool") return undefined
      if (mutation === "args") changed[at] = { ...act, args: { ...act.args, line: 77 } }
      if (mutation === "output") changed[at] = { ...act, result: `${act.result} changed` }
      if (mutation === "name") changed[at] = { ...act, name: "other_tool" }
      return changed
    }
  }
}

const sharedLength = (a: readonly string[], b: readonly string[]): number => {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

const differing = (item: DiffItem): boolean => item.change !== "same" && item.change !== "noise"

function pairFrom(seed: number, options: ScriptOptions = {}) {
  const pick = generator(seed)
  const acts = anyActs(pick, 4 + pick(14))
  const mutation = MUTATIONS[pick(MUTATIONS.length)]!
  const mutated = mutate(acts, mutation, pick)
  if (!mutated) return undefined
  const a = scriptRun(acts, { ...options, id: "A" })
  const b = scriptRun(mutated, { ...options, id: "B" })
  const keys = [keysOf(acts), keysOf(mutated)] as const
  return { acts, mutated, mutation, a, b, keys, at: sharedLength(...keys) }
}

/** Only the payloads of the telling steps. */
const THIN = { payloads: 0 }
const CASES = 2_000

describe("[P-09] the first divergence of generated pairs", () => {
  test(`[P-09] is the changed step in ${CASES} runs with one change, retries and concurrent calls`, () => {
    let compared = 0
    for (let seed = 1; seed <= CASES; seed++) {
      const pair = pairFrom(seed)
      if (!pair) continue
      const { a, b, keys, at } = pair
      const diff = diffRuns(a, b, THIN)
      compared++
      const where = `seed ${seed}, ${pair.mutation}`
      if (keys[0].join("\n") === keys[1].join("\n")) {
        expect(diff.verdict, where).toBe("same")
        continue
      }
      expect(diff.verdict, where).toBe("differs")
      const first = diff.items[diff.first!]!
      const expected = [a.steps[at], b.steps[at]]
      const isThere =
        (first.a !== null && first.a.step_id === expected[0]) || (first.b !== null && first.b.step_id === expected[1])
      expect(isThere, `${where}: first is #${first.a?.n}/#${first.b?.n}, not place ${at}`).toBe(true)
    }
    expect(compared).toBeGreaterThan(CASES / 2)
  })

  test("[P-09] is the same whether texts were kept or only their hashes", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const kept = pairFrom(seed)
      const hashed = pairFrom(seed, { capture: "hashed" })
      if (!kept || !hashed) continue
      const [withText, withHashes] = [diffRuns(kept.a, kept.b, THIN), diffRuns(hashed.a, hashed.b, THIN)]
      expect(withHashes.verdict, `seed ${seed}`).toBe(withText.verdict)
      if (withText.first === null) continue
      const at = kept.at
      const first = withHashes.items[withHashes.first!]!
      expect([first.a?.step_id === hashed.a.steps[at], first.b?.step_id === hashed.b.steps[at]]).toContain(true)
    }
  })

  test("[P-09] is a tool of a concurrent set, whatever order the set came in", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const pick = generator(seed)
      const size = 2 + pick(5)
      const set = Array.from({ length: size }, (_, i) =>
        tool("search", { query: `${WORDS[pick(10)]} ${i}` }, sentence(pick)),
      )
      const shuffled = set.map((act) => ({ act, key: pick(1_000) })).sort((x, y) => x.key - y.key)
      const at = pick(size)
      const before = shuffled.findIndex(({ act }) => act === set[at])
      const changed = shuffled.map(({ act }, index) =>
        index === before && act.does === "tool" ? { ...act, result: `${act.result} and more` } : act,
      )
      const [a, b] = [
        scriptRun([model("go"), { does: "parallel", acts: set }], { id: "A" }),
        scriptRun([model("go"), { does: "parallel", acts: changed }], { id: "B" }),
      ]
      const diff = diffRuns(a, b)
      const found = diff.items.filter((item) => differing(item) && item.change !== "reordered")
      expect(found.map((item) => [item.change, item.a?.step_id, item.b?.step_id, item.cause])).toEqual([
        ["changed", a.steps[1 + at], b.steps[1 + before], "environment"],
      ])
      expect(diff.stats.moved).toBe(0)
    }
  })
})

describe("[P-09] laws of the diff", () => {
  test("[P-09] a run does not differ from itself", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const pick = generator(seed)
      const run = scriptRun(anyActs(pick, 2 + pick(14)))
      const diff = diffRuns(run, run)
      expect(diff.verdict).toBe("same")
      expect(diff.items.filter(differing)).toEqual([])
      expect(diff.stats.same).toBe(diff.a.compared)
    }
  })

  test("[P-09] the same agent run twice differs only in the ids its provider makes, and that is noise", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const pick = generator(seed)
      const acts = anyActs(pick, 2 + pick(14))
      const diff = diffRuns(
        scriptRun(acts, { id: "A", answerIds: "own" }),
        scriptRun(acts, { id: "B", answerIds: "own" }),
      )
      expect(diff.verdict).toBe("noise")
      expect(diff.first).toBeNull()
    }
  })

  test("[P-09] swapping the sides swaps what came and what went, and changes nothing else", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const pick = generator(seed)
      // Two changes and more: alignments with ties.
      const acts = anyActs(pick, 4 + pick(14))
      const [a, b] = [
        scriptRun(acts, { id: "A" }),
        scriptRun(mutate(mutate(acts, "swap", pick)!, "remove", pick)!.concat(anyActs(pick, pick(5))), { id: "B" }),
      ]
      const [forth, back] = [diffRuns(a, b, THIN), diffRuns(b, a, THIN)]
      const { inserted, removed, ...others } = forth.stats
      expect({ ...others, inserted: removed, removed: inserted }).toEqual(back.stats)
      expect(back.first === null).toBe(forth.first === null)
      expect(back.tiers.T3 === null).toBe(forth.tiers.T3 === null)
    }
  })

  test("[P-09] is the same every time, and as its schema says", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const pair = pairFrom(seed)
      if (!pair) continue
      const diff = diffRuns(pair.a, pair.b)
      expect(diffRuns(pair.a, pair.b)).toEqual(diff)
      expect(RunDiff.parse(JSON.parse(JSON.stringify(diff)))).toEqual(diff)
    }
  })

  test("[P-09] every step of both runs is in exactly one item", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const pair = pairFrom(seed)
      if (!pair) continue
      const diff = diffRuns(pair.a, pair.b, THIN)
      const numbers = (side: "a" | "b") => diff.items.flatMap((item) => item[side]?.n ?? []).sort((x, y) => x - y)
      expect(new Set(numbers("a")).size).toBe(diff.a.compared)
      expect(numbers("a")).toHaveLength(diff.a.compared)
      expect(numbers("b")).toHaveLength(diff.b.compared)
    }
  })
})
