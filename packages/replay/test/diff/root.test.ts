import { type DiffItem, diffRuns, diffText, type RunDiff } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { type Act, model, type ScriptOptions, scriptRun, tool } from "./script-run.js"

const READ = { effect: "read" } as const
const WRITE = { effect: "write" } as const

/** A turn: the model says something and calls a tool, and the tool answers. */
const turn = (says: string, name: string, args: Record<string, unknown>, result: string, more: object = {}): Act[] => [
  model(says, { name, args }),
  tool(name, args, result, more),
]
const look = (path: string, says = `I look at ${path}.`): Act[] =>
  turn(says, "read_file", { path }, `this is what is in ${path}`, READ)

/** One agent, run twice. */
function compare(a: readonly Act[], b: readonly Act[], ends: [ScriptOptions?, ScriptOptions?] = []): RunDiff {
  return diffRuns(
    scriptRun(a, { answerIds: "own", ...ends[0], id: "A" }),
    scriptRun(b, { answerIds: "own", ...ends[1], id: "B" }),
  )
}

const rootOf = ({ root, items }: RunDiff): DiffItem | undefined => (root === null ? undefined : items[root])
const START = [...look("a.ts"), ...look("b.ts"), ...look("c.ts")]

describe("[P-13] the root of independent runs is the first decision that matters", () => {
  test.each([0, 3, 40])(
    "[P-13] delete_file instead of read_file after %i turns, everything later like it and not it, another end",
    (before) => {
      const run = (path: string, first: Act[]): Act[] => [
        ...Array.from({ length: before }, (_, i) => look(`f${i}.ts`)).flat(),
        ...first,
        ...Array.from({ length: 59 }, (_, i) => look(`src/parts/of/the/parser/${path}/file-${i}.ts`)).flat(),
      ]
      const diff = compare(
        run("old", look("x.ts")),
        run("new", turn("I delete x.ts.", "delete_file", { path: "x.ts" }, "ok")),
        [{ output: "fixed" }, { output: "lost", status: "failed" }],
      )
      expect(rootOf(diff)).toMatchObject({
        kind: "model",
        a: { n: 2 + 2 * before },
        b: { n: 2 + 2 * before },
        cause: "origin",
      })
      expect(rootOf(diff)!.decision).toEqual({ a: ["read_file"], b: ["delete_file"] })
      expect(diff.items.filter(({ cause }) => cause === "propagated")).toHaveLength(119)
    },
  )

  test("[P-13] similar arguments do not bring runs together; equal steps and absorbed ones do", () => {
    const tail = (word: string): Act[] => [
      ...look(`the/long/way/to/${word}/1.ts`),
      ...look(`the/long/way/to/${word}/2.ts`),
    ]
    const similar = compare([...START, ...look("x.ts"), ...tail("one")], [...START, ...look("y.ts"), ...tail("other")])
    expect(rootOf(similar)).toMatchObject({ kind: "model", b: { n: 8 } })
    const equal = compare([...START, ...look("x.ts"), ...tail("one")], [...START, ...look("y.ts"), ...tail("one")])
    expect([equal.root, equal.root_absent]).toEqual([null, "resynced"])
    const absorbed = (line: number): Act[] => turn("On.", "grep", { pattern: "leap", line }, "nothing found", READ)
    const taken = compare(
      [...START, ...look("x.ts"), ...absorbed(1), ...absorbed(2)],
      [...START, ...look("y.ts"), ...absorbed(3), ...absorbed(4)],
    )
    expect([taken.root, taken.root_absent]).toEqual([null, "resynced"])
  })

  test("[P-13] one decision that differs is the root of another end, though the calls after it are the same", () => {
    const tail = [...look("d.ts"), ...look("e.ts"), ...look("f.ts")]
    const wrote = (text: string): Act[] => turn("I write it.", "write_file", { path: "x", text }, "written", WRITE)
    const [a, b] = [
      [...START, ...wrote("retries: 3"), ...tail],
      [...START, ...wrote("retries: 5"), ...tail],
    ]
    expect(rootOf(compare(a, b, [{ output: "passed" }, { output: "failed" }]))).toMatchObject({
      kind: "model",
      b: { n: 8 },
    })
    expect(rootOf(compare(a, b, [{}, { status: "failed" }]))).toMatchObject({ kind: "model", b: { n: 8 } })
    expect(compare(a, b).root_absent).toBe("resynced")
  })

  test("[P-13] a reworded sentence is no divergence of what was done, and the later decision is found", () => {
    const acts = (says: string, last: Act[]): Act[] => [
      ...look("a.ts", `${says} a`),
      ...look("b.ts", `${says} b`),
      ...look("c.ts", `${says} c`),
      ...last,
      ...look(`${last.length}/d.ts`, `${says} d`),
      model(`${says}: it is done`),
    ]
    const diff = compare(
      acts("First I have to see", look("x.ts", "and x")),
      acts("Let me open the file", turn("gone", "delete_file", { path: "x.ts" }, "ok", WRITE).concat(look("y.ts"))),
    )
    expect(diff.items[diff.first!]).toMatchObject({ kind: "model", tiers: ["T0"], incidental: true, b: { n: 2 } })
    expect(rootOf(diff)).toMatchObject({
      kind: "model",
      b: { n: 8 },
      cause: "origin",
      tiers: ["T1"],
      incidental: false,
    })
  })

  test("[P-13] nor are ids, times and the reasons a model gives in arguments", () => {
    const acts = (n: number): Act[] => [
      ...turn(
        `say ${n}`,
        "bash",
        { command: "npm test", description: `Runs the tests, take ${n}` },
        `ok in ${n}41 ms, pid ${n}0312`,
      ),
      ...turn(
        `${n}`,
        "bash",
        { command: "date", reason: `to know ${n}` },
        `Mon Jan ${n} 10:0${n}:22 2026 on 2026-01-0${n}T10:00:0${n}Z`,
      ),
      ...turn(`yes ${n}`, "start", { session: `${n}5a3f2c1-4b5d-4e6f-8a9b-0c1d2e3f4a5b` }, `started 8f3a2c${n}b`),
      model(`all is well, ${n} times`),
    ]
    const diff = compare(acts(1), acts(2))
    expect([diff.verdict, diff.root, diff.root_absent]).toEqual(["differs", null, "no_origin"])
    expect(diff.items.filter(({ change, incidental }) => change === "changed" && !incidental)).toEqual([])
    expect(diff.decisive).toBeNull()
  })

  test("[P-13] an id that both runs knew was chosen, and that is a decision", () => {
    const ids = ["11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"]
    const acts = (id: string): Act[] => [
      ...START,
      ...turn("Who is there?", "list", {}, ids.join(" and "), READ),
      ...turn("I close it.", "close_account", { id }, "closed"),
    ]
    expect(rootOf(compare(acts(ids[0]!), acts(ids[1]!)))).toMatchObject({ kind: "model", b: { n: 10 } })
  })

  test("[P-13] a day or a number in an argument is decided, in a result a number is seen", () => {
    const booked = (date: string): Act[] => [...START, ...turn("I book.", "book", { date }, "booked")]
    expect(rootOf(compare(booked("2026-01-02"), booked("2026-01-03")))).toMatchObject({ kind: "model", b: { n: 8 } })
    const tested = (failed: number): Act[] => [...START, ...turn("I test.", "run_tests", {}, `${failed} failed`, READ)]
    const failing = compare(tested(0), tested(3), [{}, { status: "failed" }])
    expect(rootOf(failing)).toMatchObject({ kind: "tool", cause: "environment", b: { n: 9 } })
  })

  test("[P-13] a figure in a result is the root of what uses it, and of nothing else", () => {
    const acts = (figure: number, last: Act[]): Act[] => [
      ...START,
      ...turn("How many?", "read_file", { path: "retries" }, `retries = ${figure}, as ever`, READ),
      ...look("d.ts"),
      ...look("e.ts"),
      ...last,
    ]
    const write = (text: string): Act[] => turn("I write it.", "write_file", { path: "x", text }, "written", WRITE)
    const used = compare(acts(31, write("31 times")), acts(52, write("52 times")))
    expect(rootOf(used)).toMatchObject({ kind: "tool", cause: "environment", b: { n: 9 } })
    expect(rootOf(compare(acts(31, write("often")), acts(52, write("never"))))).toMatchObject({
      kind: "model",
      b: { n: 14 },
    })
    expect(compare(acts(31, write("often")), acts(52, write("often"))).root_absent).toBe("no_origin")
  })

  test("[P-13] a last answer in other words is no other end; a declared output is", () => {
    const acts = (detour: Act[], says: string): Act[] => [
      ...START,
      ...detour,
      ...look("d.ts"),
      ...look("e.ts"),
      model(says),
    ]
    const worded = compare(acts([], "It is done."), acts(look("detour.ts"), "All finished!"))
    expect([worded.root_absent, worded.outcome.fields]).toEqual(["resynced", ["output"]])
    const declared = compare(acts([], "Done."), acts(look("detour.ts"), "Done."), [{ output: "42" }, { output: "41" }])
    expect(rootOf(declared)).toMatchObject({ b: { n: 8 } })
  })
})

describe("[P-13] what led to a later decision", () => {
  test("[P-13] a detour is the root where a later decision uses what only it has seen", () => {
    const acts = (detour: Act[], file: string): Act[] => [
      ...START,
      ...detour,
      ...look("d.ts"),
      ...look("e.ts"),
      ...look(file),
      ...look(`${file}.bak`),
    ]
    const seen = turn("What is there?", "list", { path: "conf" }, "conf/staging.json is the one in use", READ)
    const diff = compare(acts([], "conf/prod.json"), acts(seen, "conf/staging.json"))
    expect(rootOf(diff)).toMatchObject({ kind: "model", cause: "origin", b: { n: 8 } })
  })
})

describe("[P-13] abstention keeps its place and says what would decide", () => {
  test("[P-13] a detour that looked around, and a later decision it may have led to: a fork would tell", () => {
    const diff = compare(
      [...START, ...look("d.ts"), ...look("e.ts"), ...look("x.ts"), ...look("x2.ts")],
      [...START, ...look("detour.ts"), ...look("d.ts"), ...look("e.ts"), ...look("y.ts"), ...look("y2.ts")],
    )
    expect([diff.root, diff.root_absent]).toEqual([null, "undecided"])
    expect(diff.would_decide.map(({ by, item }) => [by, diff.items[item!]!.b!.n])).toEqual([
      ["fork", 8],
      ["fork", 14],
    ])
    expect(diffText(diff)).toMatch(
      /^ROOT none: an earlier difference may .*; to find out, fork b at #8 or fork b at #14$/m,
    )
  })

  test("[P-13] runs that come together again and end alike: a fork would tell whether it could have mattered", () => {
    const tail = [...look("d.ts"), ...look("e.ts")]
    const diff = compare([...START, ...tail], [...START, ...look("detour.ts"), ...tail])
    expect([diff.root_absent, diff.would_decide]).toEqual(["resynced", [{ by: "fork", item: diff.first }]])
    expect(diffText(diff)).toMatch(/^ROOT none: every difference .* end alike; to find out, fork b at #8$/m)
  })

  test("[P-13] runs without a common beginning: a good run would tell", () => {
    const diff = compare(
      [...turn("x", "search", { q: "one" }, "aaa"), ...turn("y", "open", { u: 1 }, "page")],
      [...turn("z", "compile", { t: "all" }, "ccc"), ...turn("w", "run", { u: 2 }, "trace")],
    )
    expect([diff.root_absent, diff.would_decide]).toEqual(["no_common_prefix", [{ by: "good_run", item: null }]])
    expect(diffText(diff)).toMatch(/; to find out, compare with a good run$/m)
  })

  test("[P-13] the same steps with another end: nothing on record explains it", () => {
    const diff = compare(START, START, [{}, { status: "failed" }])
    expect([diff.verdict, diff.root_absent]).toEqual(["differs", "no_difference"])
    const reworded = compare([...START, model("Done.")], [...START, model("Finished.")], [{}, { status: "failed" }])
    expect([reworded.root_absent, reworded.would_decide]).toEqual(["no_origin", [{ by: "good_run", item: null }]])
  })
})

describe("[P-13] what is said of a moved step", () => {
  test("[P-13] moved, other answer: only when the answers differ", () => {
    const ask = (asks: string, says: string): Act => ({ does: "model", asks, says, calls: [] })
    const questions = ["two", "three", "four"].map((word) => ask(word, `the answer to ${word}`))
    const moved = (first: Act, last: Act): string =>
      diffText(compare([first, ...questions], [...questions, last]), { all: true })
    const said = moved(ask("one", "yes"), ask("one", "yes"))
    expect(said).toMatch(/model claude-x \w+ T1: moved from #2 to #5$/m)
    const calling = (name: string): Act => ({ does: "model", asks: "one", says: "yes", calls: [{ name, args: {} }] })
    expect(moved(calling("read_file"), calling("delete_file"))).toMatch(
      /: moved from #2 to #5, calls read_file -> delete_file$/m,
    )
  })
})
