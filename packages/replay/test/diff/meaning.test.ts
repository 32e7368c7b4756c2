import { type DiffItem, diffRuns, diffStoredRuns, exitCodeOf, type RunDiff } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { type Act, model, type ScriptOptions, scriptRun, tool } from "./script-run.js"

const READ = { effect: "read" } as const
const WRITE = { effect: "write" } as const
const read = (path: string, result: string): Act => tool("read_file", { path }, result, READ)
const write = (path: string, content: string): Act => tool("write_file", { path, content }, "written", WRITE)
const ask = (says: string, name: string, args: Record<string, unknown>): Act => model(says, { name, args })

const START: readonly Act[] = [
  ask("I look at a.", "read_file", { path: "a.ts" }),
  read("a.ts", "the content of file a is this"),
  ask("I look at b.", "read_file", { path: "b.ts" }),
  read("b.ts", "and this is what is in b"),
  ask("I look at c.", "read_file", { path: "c.ts" }),
  read("c.ts", "c holds the settings of the parser"),
]

function compare(a: readonly Act[], b: readonly Act[], options: ScriptOptions = {}): RunDiff {
  return diffRuns(scriptRun(a, { ...options, id: "A" }), scriptRun(b, { ...options, id: "B" }))
}

const at = (diff: RunDiff, index: number | null): DiffItem => diff.items[index!]!
const brief = ({ kind, change, cause, tiers, a, b }: DiffItem) =>
  `${kind} ${change} ${cause} ${tiers.join("+")} ${a?.n ?? ""}/${b?.n ?? ""}`

describe("[P-09] what differs and why", () => {
  test("[P-09] a model that answers the same question otherwise is an origin; what it leads to is propagated", () => {
    const diff = compare(
      [...START, ask("I write it.", "write_file", { path: "x" }), write("x", "one"), model("done with x")],
      [
        ...START,
        ask("I delete it.", "delete_file", { path: "x" }),
        tool("delete_file", { path: "x" }, "gone", WRITE),
        model("all deleted"),
      ],
    )
    expect(diff.items.filter(({ cause }) => cause !== null).map(brief)).toEqual([
      "model changed origin T1 8/8",
      "tool changed propagated T1+T3 9/9",
      "model changed propagated T0 10/10",
    ])
    expect(at(diff, diff.first).decision).toEqual({ a: ["write_file"], b: ["delete_file"] })
    expect(diff.root).toBe(diff.first)
    expect(diff.decisive).toEqual({ item: diff.first! + 1, effect: "write" })
    expect(diff.outcome).toMatchObject({ differs: true, fields: ["output"] })
    expect(exitCodeOf(diff)).toBe(1)
  })

  test("[P-09] the same call with another result is the environment, and another request with the same answer absorbs it", () => {
    const diff = compare(
      [...START, model("fine"), read("d.ts", "old"), model("fine as well")],
      [
        ...START.slice(0, 5),
        read("c.ts", "c holds the settings of the lexer"),
        model("fine"),
        read("d.ts", "old"),
        model("fine as well"),
      ],
    )
    expect(diff.items.filter(({ cause }) => cause !== null).map(brief)).toEqual([
      "tool changed environment T2 7/7",
      "model changed absorbed  8/8",
      "model changed absorbed  10/10",
    ])
    expect(diff.outcome.differs).toBe(false)
  })

  test("[P-09] other words with the same calls are tier T0 and never the root", () => {
    const diff = compare([...START, model("I am done now.")], [...START, model("It is finished.")])
    expect(at(diff, diff.first).tiers).toEqual(["T0"])
    expect(diff.root).toBeNull()
    expect(diff.root_absent).toBe("no_origin")
  })

  test("[P-09] a call that sees what the runs wrote differently is no environment", () => {
    const diff = compare(
      [...START, write("x", "one"), tool("run_tests", {}, "1 failed", READ)],
      [...START, write("x", "two"), tool("run_tests", {}, "all passed", READ)],
    )
    expect(diff.items.at(-1)).toMatchObject({ cause: "propagated", tiers: ["T2"] })
  })

  test("[P-09] a user who asks something else is the environment, told at the run itself", () => {
    const diff = diffRuns(
      scriptRun(START, { id: "A", input: "Fix the date test" }),
      scriptRun(START, { id: "B", input: "Fix the time test" }),
    )
    expect(brief(at(diff, diff.first))).toBe("run changed environment T2 1/1")
    expect(at(diff, diff.first).payloads![0]!.ops[0]).toMatchObject({ a: "Fix the date test", b: "Fix the time test" })
  })

  test("[P-09] how a container came out is told after what happened inside it", () => {
    const inside = (result: string): Act[] => [...START, { does: "step", name: "check", acts: [read("z.ts", result)] }]
    const diff = compare(inside("good"), inside("bad"))
    expect(at(diff, diff.first)).toMatchObject({ kind: "tool", a: { n: 9 } })
    expect(diff.items.find(({ kind }) => kind === "step")!.change).toBe("same")
  })

  test("[P-09] no root is made up: runs without a common beginning are told so", () => {
    const diff = compare(
      [
        ask("x", "search", { q: "one" }),
        tool("search", { q: "one" }, "aaa bbb"),
        ask("y", "open", { u: 1 }),
        tool("open", { u: 1 }, "page"),
      ],
      [
        ask("z", "compile", { t: "all" }),
        tool("compile", { t: "all" }, "ccc ddd"),
        ask("w", "run", { u: 2 }),
        tool("run", { u: 2 }, "trace"),
      ],
    )
    expect(diff.root).toBeNull()
    expect(diff.root_absent).toBe("no_common_prefix")
    expect(diff.first).not.toBeNull()
  })

  test("[P-09] a detour after which both do the same again is not the root", () => {
    const end = [read("e.ts", "the end of it"), read("f.ts", "the very end of it")]
    const diff = compare([...START, ...end], [...START, read("detour.ts", "nothing here"), ...end])
    expect(brief(at(diff, diff.first))).toBe("tool inserted origin T1 /8")
    expect(diff.root_absent).toBe("resynced")
  })

  test("[P-09] without effect classes the first other call is named as one that may have written", () => {
    const diff = compare(
      [...START, tool("bash", { command: "ls" }, "a b")],
      [...START, tool("bash", { command: "rm a" }, "")],
    )
    expect(diff.decisive).toMatchObject({ effect: "unknown" })
    const known = diffRuns(
      scriptRun([...START, tool("bash", { command: "ls" }, "a b")], { id: "A" }),
      scriptRun([...START, tool("bash", { command: "rm a" }, "")], { id: "B" }),
      { effectOf: (name) => (name === "bash" ? "write" : undefined) },
    )
    expect(known.decisive).toMatchObject({ effect: "write" })
  })

  test("[P-09] a value that only the diverged output has is followed to the call that uses it", () => {
    const tail = (file: string): Act[] => [
      ask("I see.", "read_file", { path: "list" }),
      read("list", `the config is in ${file} today`),
      ask("I read it.", "read_file", { path: file }),
      read(file, "key = 1"),
    ]
    const diff = compare([...START, ...tail("prod.json")], [...START, ...tail("staging.json")])
    expect(diff.carry).toMatchObject({ value: "staging.json", ptr: "/path", side: "b" })
    expect(at(diff, diff.carry!.to)).toMatchObject({ kind: "tool", b: { n: 11 } })
  })

  test("[P-09] what is done elsewhere moved; concurrent steps that took turns are reordered", () => {
    const moved = compare([read("first.ts", "one thing"), ...START], [...START, read("first.ts", "one thing")])
    expect(moved.items.filter(({ change }) => change === "moved")).toHaveLength(1)
    expect(moved.stats.inserted + moved.stats.removed).toBe(0)
    const set = [read("p.ts", "pp"), read("q.ts", "qq"), read("r.ts", "rr")]
    const turned = compare([{ does: "parallel", acts: set }], [{ does: "parallel", acts: [set[2]!, set[0]!, set[1]!] }])
    expect(turned.stats).toMatchObject({ moved: 0, reordered: 1, changed: 0, inserted: 0, removed: 0 })
  })

  test("[P-09] retries are part of the call they repeat, and no difference", () => {
    const calm = [model("go"), tool("fetch", { url: "u" }, "page")]
    const stormy: Act[] = [
      { does: "model", says: "go", retries: 2 },
      tool("fetch", { url: "u" }, "page", { retries: 1 }),
    ]
    const diff = compare(calm, stormy)
    expect(diff.verdict).toBe("noise")
    // Three tries of the call, and the tool's first.
    expect(diff.b.folded_attempts).toBe(4)
    expect(diff.b.steps - diff.b.folded_attempts).toBe(diff.b.compared)
    expect(diff.items.map(({ noise }) => noise)).toEqual([[], ["attempts"], ["attempts"]])
    expect(exitCodeOf(diff)).toBe(0)
  })

  test("[P-09] what differs only under accepted masks is noise", () => {
    const acts = (day: string): Act[] => [
      tool("now", {}, `it is ${day}`),
      tool("log", { at: day }, "ok"),
      model("fine"),
    ]
    const [a, b] = [scriptRun(acts("2026-01-02"), { id: "A" }), scriptRun(acts("2026-03-04"), { id: "B" })]
    expect(diffRuns(a, b).verdict).toBe("differs")
    const masked = diffRuns(a, b, { masks: ["iso_date"] })
    expect(masked.items.slice(1, 3).map(({ change }) => change)).toEqual(["noise", "noise"])
    expect(masked.notes).toContainEqual(expect.objectContaining({ code: "MASKS" }))
  })

  test("[P-09] hashed runs are compared by hash, and the diff says which bytes are not there", () => {
    const diff = compare([...START, read("d.ts", "old")], [...START, read("d.ts", "new")], { capture: "hashed" })
    expect(brief(at(diff, diff.first))).toBe("tool changed environment T2 8/8")
    expect(at(diff, diff.first).payloads![0]).toMatchObject({
      form: "absent",
      absent: { a: "hashed", b: "hashed" },
      ops: [],
    })
    expect(diff.notes.map(({ code }) => code)).toContain("BODIES_ABSENT")
  })

  test("[P-09] a run that kept its text serves the hashed one it is compared with", () => {
    const diff = diffRuns(scriptRun(START, { id: "A", capture: "hashed" }), scriptRun(START, { id: "B" }))
    expect(diff.verdict).toBe("same")
  })

  test("[P-09] two secrets that look alike under their mask are a difference", () => {
    const run = (id: string, tag: string) => {
      const scripted = scriptRun([tool("login", {}, "token abc…redacted…xyz")], { id })
      const events = scripted.events.map((event) => ({
        ...event,
        artifact_refs: event.artifact_refs.map((ref) => ({
          ...ref,
          masks: [{ offset: 6, length: 16, rule: "token", tag }],
        })),
      }))
      return { events, body: scripted.body }
    }
    expect(diffRuns(run("A", "one"), run("B", "one")).verdict).toBe("same")
    expect(diffRuns(run("A", "one"), run("B", "two")).items[1]).toMatchObject({ change: "changed", fields: ["output"] })
  })

  test("[P-09] a stretch too long for one table is cut first, and the diff says so", () => {
    const long = (word: string): Act[] =>
      Array.from({ length: 2_050 }, (_, i) =>
        tool(i % 3 === 0 ? "search" : "read_file", { path: `${word} ${i}` }, `${word} result ${i}`),
      )
    const diff = diffRuns(scriptRun(long("left"), { id: "A" }), scriptRun(long("right"), { id: "B" }), { payloads: 0 })
    expect(diff.notes.map(({ code }) => code)).toContain("COARSE_ALIGNMENT")
    expect(diff.stats.cells).toBeLessThan(2_050 * 2_050)
    expect(diff.stats.changed).toBeGreaterThan(2_000)
  })

  test("[P-09] runs in a store give the same diff, and each body is fetched once", async () => {
    const [a, b] = [
      scriptRun([...START, write("x", "one"), model("done")], { id: "A" }),
      scriptRun([...START, write("x", "two"), model("finished")], { id: "B" }),
    ]
    const fetched: string[] = []
    const stored = (run: typeof a) => ({
      events: run.events,
      body: async (ref: string) => {
        const found = run.body(ref)
        if (found instanceof Uint8Array) fetched.push(ref)
        return found
      },
    })
    expect(await diffStoredRuns(stored(a), stored(b))).toEqual(diffRuns(a, b))
    expect(new Set(fetched).size).toBe(fetched.length)
  })

  test("[P-09] a run without events cannot be compared, and says so", () => {
    const nothing = { events: [], body: () => ({ absent: "unknown" as const }) }
    expect(() => diffRuns(nothing, scriptRun(START))).toThrow(expect.objectContaining({ code: "DIFF_EMPTY_RUN" }))
  })

  test("[P-09] events with broken payloads are compared all the same", () => {
    const run = scriptRun(START, { id: "A" })
    for (let broken = 0; broken < run.events.length; broken++) {
      for (const payload of [{}, null, [], { call_signature_hash: 3, response_ref: {}, tool_name: null }]) {
        const events = run.events.map((event, index) =>
          index === broken ? ({ ...event, payload } as typeof event) : event,
        )
        const diff = diffRuns(run, { events, body: run.body })
        expect(diff.items.length).toBeGreaterThan(0)
      }
    }
  })
})
