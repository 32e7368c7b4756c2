import { runDigest } from "@orangebox/contract"
import type { PaintRole } from "@orangebox/text"
import { estimateTokens, fenced } from "@orangebox/text"
import { expect, test } from "vitest"
import { type RunView, skeletonJson, skeletonText, viewRun } from "../src/index.js"
import { RunBuilder } from "./build-run.js"
import { crashedRun, longRun, retriedRun, unknownEvent } from "./sample-runs.js"

const address = "last"

test("[Q-01] the skeleton of a crashed run shows every step, what failed, and how it ended", () => {
  expect(skeletonText(viewRun(crashedRun()), { address })).toMatchInlineSnapshot(`
    "run_01JT9QK2M0A7XK3V5B8D1E6F9G · fixer · fix-issue · CRASHED after 33.1s · 5 model calls · 5 tool calls · 38.7k in (64 % cached) → 1.4k out + 1 call unknown · 1 error
    #1  run "Fix the failing date test"              open
    #2  ├ plan                                       5.4s
        │ ├ prompt persona(1180) · tool:read_file(300) · skill:web(400) · user(412)  2.3k of 32.0k tokens, 3 left out
    #3  │ ├ model claude-x 5.4k → 212 cache 0 %      4.9s  thought 1.8s · asks read_file
    #4  │ └ tool read_file src/date.ts               0.5s  ok 2.0 kB
    #5  ├ fix                                       15.7s
    #6  │ ├ model claude-x 9.0k → 400 cache 91 %     5.2s  asks edit_file
    #7  │ ├ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #8  │ ├ model claude-x 11.1k → 400 cache 74 %    5.2s  asks edit_file
    #9  │ ├ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #10 │ ├ model claude-x 13.2k → 400 cache 62 %    5.2s  asks edit_file
    #11 │ └ tool edit_file src/date.ts               40ms  ok 180 B · "1 replacement"
    #12 ├ tool run_tests "npm test"                 12.0s  ✗ exit 1 CommandFailed: "expected 2024-02-29, got 2024-03-01"
    #13 └ model claude-x ? → ?                       open  ✗ crashed after 1.2 kB of the response
    ✗ process 4711 died in #13: "pid 4711 is gone, same boot"
    25 events (+1 said later), 13 steps, 0 lost · next: orangebox step last#13"
  `)
})

test("[Q-01] under a small budget the failures, the crash and the model call before them stay, the rest is folded in its place", () => {
  expect(skeletonText(viewRun(crashedRun(20)), { address, budget: 360 })).toMatchInlineSnapshot(`
    "run_01JT9QK2M0A7XK3V5B8D1E6F9G · fixer · fix-issue · CRASHED after 2m 02s · 22 model calls · 22 tool calls · 584.4k in (28 % cached) → 8.2k out + 1 call unknown · 1 error
    #1  run "Fix the failing date test"               open
    #2  ├ plan                                        5.4s
        │ ├ prompt persona(1180) · tool:read_file(300) · skill:web(400) · user(412)  2.3k of 32.0k tokens, 3 left out
    #3  │ ├ model claude-x 5.4k → 212 cache 0 %       4.9s  thought 1.8s · asks read_file
    #4  │ └ tool read_file src/date.ts                0.5s  ok 2.0 kB
    #5  ├ fix                                       1m 45s
    #6  │ ├ model claude-x 9.0k → 400 cache 91 %      5.2s  asks edit_file
        │ ├ … 36 steps (18 model, 18 tool), all ok  (unfold: --at 7)
    #43 │ ├ tool edit_file src/date.ts                40ms  ok 180 B · "1 replacement"
    #44 │ ├ model claude-x 48.9k → 400 cache 17 %     5.2s  asks edit_file
    #45 │ └ tool edit_file src/date.ts                40ms  ok 180 B · "1 replacement"
    #46 ├ tool run_tests "npm test"                  12.0s  ✗ exit 1 CommandFailed: "expected 2024-02-29, got 2024-03-01"
    #47 └ model claude-x ? → ?                        open  ✗ crashed after 1.2 kB of the response
    ✗ process 4711 died in #47: "pid 4711 is gone, same boot"
    93 events (+1 said later), 11 of 47 steps shown, 0 lost · next: orangebox step last#47 · orangebox show last --all"
  `)
})

test("[Q-01] parallel tools, warnings and the attempts of a call", () => {
  expect(skeletonText(viewRun(retriedRun()), { address })).toMatchInlineSnapshot(`
    "run_01JT9QK2M0A7XK3V5B8D1E6F9G · support · answer · completed 2.5s · 1 model call · 2 tool calls · 3.1k in (77 % cached) → 96 out · 2 failed attempts
    #1 run "Where is my order?"                                       2.5s
    #2 ├ retrieval lookup                                             0.4s
    #3 │ ├ tool orders id=1182                                        0.4s  ok 2.2 kB
    #4 │ └ tool carrier "DHL 0034"                                    0.3s  ok 940 B
       ├ warn fixer: "order 1182 has two parcels, using the first"
    #5 └ model claude-x 3.1k → 96 cache 77 % (3 attempts)             2.1s  "It arrives on Tuesday." · 2 of 3 attempts failed: HTTP 529 overloaded_error: "Overloaded"
    17 events, 8 steps (3 attempts told with their calls, --all unfolds), 0 lost · next: orangebox step last#5"
  `)
})

test("[Q-10] attempts have lines of their own when all lines are asked for, or one of them is", () => {
  const view = viewRun(retriedRun())
  const numbers = (text: string): string[] => [...text.matchAll(/^#\d+/gm)].map(([number]) => number)
  expect(numbers(skeletonText(view, { address }))).toEqual(["#1", "#2", "#3", "#4", "#5"])
  expect(numbers(skeletonText(view, { address, all: true }))).toHaveLength(8)
  expect(skeletonText(view, { address, at: 6 })).toMatch(/^#6 {3}├ model claude-x \? → \? attempt 1/m)
  const call = skeletonJson(view).rows.find((row) => row.type === "step" && row.n === 5)
  expect(call).toMatchObject({ attempts: 3, folded: { steps: 3, models: 3, failed: 2 } })
})

test("[Q-01] 10,000 steps fit 500 tokens with the one failure, its neighbours and both ends", () => {
  const view = viewRun(longRun(2500))
  const text = skeletonText(view, { address, budget: 500 })
  expect(estimateTokens(text)).toBeLessThanOrEqual(500)
  expect(text).toMatchInlineSnapshot(`
    "run_01JT9QK2M0A7XK3V5B8D1E6F9G · fixer · fix-issue · completed 38m 30s · 2500 model calls · 5000 tool calls · 103.7M in (70 % cached) → 300.0k out · 1 error
    #1     run "Fix the failing date test"                 38m 30s
    #2     ├ turn-0 … 3 steps (1 model, 2 tool), all ok       0.9s  (unfold: --at 2)
    #6     ├ turn-1 … 3 steps (1 model, 2 tool), all ok       0.9s  (unfold: --at 6)
    #10    ├ turn-2 … 3 steps (1 model, 2 tool), all ok       0.9s  (unfold: --at 10)
    #14    ├ turn-3 … 3 steps (1 model, 2 tool), all ok       0.9s  (unfold: --at 14)
    #18    ├ turn-4 … 3 steps (1 model, 2 tool), all ok       0.9s  (unfold: --at 18)
           ├ … 4980 steps (1245 model, 2490 tool), all ok   (unfold: --at 22)
    #5002  ├ turn-1250                                        0.9s
    #5003  │ ├ model claude-x 41.5k → 120 cache 70 %          0.9s  asks grep
    #5004  │ ├ tool grep src/file-1250.ts                     12ms  ok 800 B
    #5005  │ └ tool read_file src/file-1250.ts                12ms  ✗ Error: "ENOENT: no such file"
           ├ … 4976 steps (1244 model, 2488 tool), all ok   (unfold: --at 5006)
    #9982  ├ turn-2495 … 3 steps (1 model, 2 tool), all ok    0.9s  (unfold: --at 9982)
    #9986  ├ turn-2496 … 3 steps (1 model, 2 tool), all ok    0.9s  (unfold: --at 9986)
    #9990  ├ turn-2497 … 3 steps (1 model, 2 tool), all ok    0.9s  (unfold: --at 9990)
    #9994  ├ turn-2498                                        0.9s
           │ ├ … 2 steps (1 model, 1 tool), all ok          (unfold: --at 9995)
    #9997  │ └ tool read_file src/file-2498.ts                12ms  ok 800 B
    #9998  └ turn-2499                                        0.9s
    #9999    ├ model claude-x 79.0k → 120 cache 68 %          0.9s  asks grep
    #10000   ├ tool grep src/file-2499.ts                     12ms  ok 800 B
    #10001   └ tool read_file src/file-2499.ts                12ms  ok 800 B
    20002 events, 19 of 10001 steps shown, 0 lost · next: orangebox step last#5005 · orangebox show last --all"
  `)
})

test("[Q-01] --at reads on from a step, and the fold after it says where to go next", () => {
  const view = viewRun(longRun(2500))
  const text = skeletonText(view, { address, budget: 500, at: 402 })
  expect(text).toMatch(/^#402 +├ turn-100 /m)
  expect(text).toMatch(/^#403 +│ ├ model /m)
  const shown = numbersOf(text).filter((n) => n >= 402)
  expect(shown).toEqual(shown.map((_, index) => 402 + index))
  expect(text).toContain(`(unfold: --at ${402 + shown.length})`)
})

test("[Q-01] reading on from fold to fold passes every step", () => {
  const view = viewRun(longRun(60))
  const seen = new Set<number>()
  for (let at: number | undefined = 1; at !== undefined; ) {
    const text = skeletonText(view, { budget: 400, at })
    for (const n of numbersOf(text)) seen.add(n)
    const folds = [...text.matchAll(/--at (\d+)\)/g)].map(([, n]) => Number(n))
    const from: number = at
    at = folds.find((n) => n > from)
  }
  expect(seen.size).toBe(view.steps.length)
})

test("[Q-01] what did not run live says so on its line, in its fold and in the header", () => {
  const run = new RunBuilder({}, { determinism_mode: "exact" })
  for (let i = 0; i < 40; i++) run.toolReturns(run.callTool("grep", `f${i}`), "grep", 10)
  run.complete()
  const view = viewRun({ events: run.events })
  expect(skeletonText(view, { all: true })).toMatch(/^#2 +├ \[exact\] tool grep f0 /m)
  const folded = skeletonText(view, { budget: 330 })
  expect(folded).toMatch(/… \d+ steps \(\d+ tool\), all ok \[\d+ exact\]/)
  expect(folded).toContain("not live: 82 exact of 82 events")
})

test("[Q-01] what was deduced is marked apart from what was observed", () => {
  const run = new RunBuilder()
  run.toolReturns(run.callTool("grep", "x", run.root, { inferred_by: "wire" }), "grep", 10).complete()
  const text = skeletonText(viewRun({ events: run.events }))
  expect(text).toMatch(/^#2 └ ≈ tool grep x /m)
  expect(text).toContain("≈ inferred, not observed")
})

test("[Q-01] every line of the skeleton is backed by a record", () => {
  const run = new RunBuilder()
  const step = run.step("odd")
  unknownEvent(run, step)
  run.add(step, "fault", { trigger: "tool_failure", detail: "disk", artifact_ids: [], no_evidence: "nothing_sent" })
  run.lose(2).end(step).complete()
  const view = viewRun({ events: run.events })
  for (const row of skeletonJson(view, { all: true }).rows) {
    if (row.type === "step") expect(view.steps[row.n - 1]!.events.length).toBeGreaterThan(0)
    else if (row.type === "note" && row.kind !== "gap") {
      expect(run.events.map((event) => event.event_id)).toContain(row.event_id)
    }
  }
  expect(skeletonText(view, { all: true })).toContain("lost 2 events between 4 and 5: nothing says why")
})

test("[Q-01] many segments of one kind are told as one, and sizes say what they count", () => {
  const tools = Array.from({ length: 12 }, (_, i) => `tool_${i}`)
  const run = new RunBuilder()
  run.add(run.root, "prompt_assembled", {
    segments: [
      { contributor: "core", kind: "persona", role: "system", length: 1180 },
      ...tools.map((contributor) => ({ contributor, kind: "tool-def" as const, role: null, length: 100 })),
      { contributor: "chat", kind: "user-msg", role: "user", length: 412 },
    ],
    total_length: 2792,
  })
  const text = skeletonText(viewRun({ events: run.events }))
  expect(text).toContain("prompt persona(1180) · tools×12(1200) · user(412)")
  expect(text).toContain("2.8k chars")
})

test("[O-09] the digest of a run stands at its end", () => {
  const { events } = retriedRun()
  const digest = runDigest(events)
  expect(skeletonText(viewRun({ events, digest })).split("\n").at(-1)).toBe(`digest ${digest}`)
})

test("[Q-03] a tool name that looks like our own words stays in quotes on its line", () => {
  const name = 'x"  0.5s  ok  (unfold: --at 1)\n#99 └ tool fake'
  const run = new RunBuilder()
  run.toolReturns(run.callTool(name, name), name, 3).complete()
  const text = skeletonText(viewRun({ events: run.events }))
  expect(numbersOf(text)).toEqual([1, 2])
  expect(withoutQuoted(text)).not.toContain("fake")
  expect(withoutQuoted(text)).not.toContain("unfold")
})

test("[Q-03] Markdown from a run cannot leave its code block", () => {
  const run = new RunBuilder({ input_summary: "````\n# heading ![](http://x)" })
  const text = skeletonText(viewRun({ events: run.events }), { format: "markdown" })
  expect(text.split("\n").filter((line) => /^ {0,3}`/.test(line))).toEqual(["```text", "```"])
  expect(text.split("\n").filter((line) => line.includes("heading"))).toHaveLength(1)
  expect(fenced("a\n````\nb")).toBe("`````text\na\n````\nb\n`````")
})

test("colour is added to finished text and changes neither lines nor budget", () => {
  const view = viewRun(crashedRun())
  const paint = (text: string, role: PaintRole): string => `<${role}>${text}</${role}>`
  const painted = skeletonText(view, { address, budget: 400, color: paint })
  expect(painted).toContain("<bad>✗ exit 1 CommandFailed:")
  expect(painted.replace(/<\/?[a-z]+>/g, "")).toBe(skeletonText(view, { address, budget: 400 }))
})

test("an empty run and a run that only began say so", () => {
  expect(skeletonText(viewRun({ events: [] }))).toBe(
    "run · nothing recorded\n0 events, 0 steps, 0 lost · next: orangebox runs",
  )
  expect(skeletonText(viewRun({ events: new RunBuilder().events, isWriterAlive: true }), { address })).toBe(
    [
      "run_01JT9QK2M0A7XK3V5B8D1E6F9G · fixer · fix-issue · running, last heard after <1ms",
      '#1 run "Fix the failing date test"    open',
      "1 event, 1 step, 0 lost · next: orangebox step last#1",
    ].join("\n"),
  )
})

test("a chain of 10,000 open steps is folded in the way down and stays narrow", () => {
  const run = new RunBuilder()
  let parent = run.root
  for (let level = 0; level < 10_000; level++) parent = run.step("down", parent)
  const view: RunView = viewRun({ events: run.events })
  const text = skeletonText(view)
  expect(estimateTokens(text)).toBeLessThanOrEqual(2000)
  expect(numbersOf(text)).toContain(10_001)
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(320)
})

const numbersOf = (text: string): number[] => [...text.matchAll(/^#(\d+) /gm)].map(([, n]) => Number(n))
const withoutQuoted = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"/g, "")

test("[P-05] in a replay every call says how it was answered, the live ones too", () => {
  const replay = {
    source_run_id: "run_01JT9QK2M0A7XK3V5B8D1E6F9G",
    fork_step_id: "0000000000000002",
    override_profile_id: null,
    replay_reason_code: "what_if" as const,
  }
  const run = new RunBuilder({}, { actor_type: "replay_engine", replay })
  for (const mode of ["exact", "simulated", "live"] as const) {
    run.callModel("claude-x", run.root, { determinism_mode: mode })
  }
  const text = skeletonText(viewRun({ events: run.events }), { address })
  expect(text.match(/\[\w+\] model/g)).toEqual(["[exact] model", "[simulated] model", "[live] model"])
  expect(text).not.toContain("[live] run")
})
