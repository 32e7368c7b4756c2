import { estimateTokens } from "@orangebox/text"
import { expect, test } from "vitest"
import { stepJson, stepText, viewRun } from "../src/index.js"
import { RunBuilder } from "./build-run.js"
import { crashedRun } from "./sample-runs.js"

test("[Q-02] one step with everything recorded in it", () => {
  expect(stepText(viewRun(crashedRun()), 12, { address: "last", all: true })).toMatchInlineSnapshot(`
    "#12 tool run_tests "npm test" · 12.0s · ✗ exit 1 CommandFailed: "expected 2024-02-29, got 2024-03-01"
    step:
      step_id                000000000000000c
      run_id                 run_01JT9QK2M0A7XK3V5B8D1E6F9G
      trace_id               0af7651916cd43dd8448eb211c80319c
      parent                 #1 run "Fix the failing date …"
      opened                 2026-02-02T02:40:22.120Z (+21.1s)
      closed                 2026-02-02T02:40:34.120Z (+33.1s)
      source                 fixer
    bodies:
      args                   sha256:784d89cb08365ebdcdf34491dc6968433205b05444538e46a70383dd0929bbe4  64 B · application/json
      result                 sha256:f97559eb11da47c4749d9f9efde83c4bab920005e9c65f0fa478c9436f0e86fe  5.3 kB · application/json
    event 22:
      event_type             tool_called
      at                     2026-02-02T02:40:22.120Z (+21.1s)
      event_id               0195a000-0000-7000-8000-000000000016
      tool_name              run_tests
      tool_version           null
      call_signature_hash    sha256:784d89cb08365ebdcdf34491dc6968433205b05444538e46a70383dd0929bbe4
      timeout_ms             null
      args_ref               sha256:784d89cb08365ebdcdf34491dc6968433205b05444538e46a70383dd0929bbe4
      args_summary           "npm test"
    event 23:
      event_type             tool_result
      at                     2026-02-02T02:40:34.120Z (+33.1s)
      event_id               0195a000-0000-7000-8000-000000000017
      tool_name              run_tests
      result_ref             sha256:f97559eb11da47c4749d9f9efde83c4bab920005e9c65f0fa478c9436f0e86fe
      error_class            CommandFailed
      error_message_ref      null
      status                 error
      latency_ms             0
      exit_code              1
      error_summary          "expected 2024-02-29, got 2024-03-01 at test/date.test.ts:14"
    rows 1–29 of 29"
  `)
})

test("[Q-10] content comes before facts, and hashes, nulls and ids of events only when they are asked for", () => {
  const contents = [
    { title: "arguments", text: '{ "command": "npm test" }', body: "args" },
    { title: "output", text: "1 failed\nrows 1–2 of 2", body: "result" },
    { title: "exception", text: undefined, note: "not here: pruned", body: "error_message" },
  ]
  const text = stepText(viewRun(crashedRun()), 12, { address: "last", contents })
  expect(text.split("\n").slice(0, 8)).toEqual([
    '#12 tool run_tests "npm test" · 12.0s · ✗ exit 1 CommandFailed: "expected 2024-02-29, got 2024-03-01"',
    "arguments:",
    '  │ { "command": "npm test" }',
    "output:",
    "  │ 1 failed",
    "  │ rows 1–2 of 2",
    "exception (not here: pruned):",
    "step:",
  ])
  expect(text).not.toMatch(/sha256:|\bnull\b|event_id|trace_id/)
  expect(text).toMatch(/^ {2}args +64 B · application\/json$/m)
  expect(text).toMatch(/rows 1–\d+ of \d+ · 9 more with --all: hashes, nulls, ids$/)
})

test("[Q-10] one long content leaves room for the facts, and says how to read the rest", () => {
  const contents = [{ title: "output", text: "a line of output\n".repeat(2000), body: "result" }]
  const text = stepText(viewRun(crashedRun()), 12, { address: "last", contents, budget: 600 })
  expect(estimateTokens(text)).toBeLessThanOrEqual(600)
  expect(text).toContain("  … orangebox step last#12 --body result")
  expect(text).toMatch(/^ {2}exit_code +1$/m)
})

test("[Q-02] a step that does not fit says which rows of how many, and how to go on", () => {
  const view = viewRun(crashedRun())
  const text = stepText(view, 2, { address: "last", budget: 250, all: true })
  const [, to, total] = /rows 1–(\d+) of (\d+) · next: orangebox step last#2 --all --cursor \1$/.exec(text)!
  expect(Number(total)).toBeGreaterThan(Number(to))
  const rest = stepJson(view, 2, { cursor: Number(to) })
  expect(rest).toMatchObject({ from: Number(to), to: Number(total), total: Number(total), next_cursor: null })
})

test("[Q-02] logs of every level, links, attributes and children are rows of the step", () => {
  const run = new RunBuilder()
  const step = run.step("plan")
  run.wait(1200).add(step, "log", { level: "debug", message: "cache\nwarm" })
  run.add(step, "link_added", { link: { kind: "spawned", run_id: "run_01JT9QK2M0A7XK3V5B8D1E6F9H" } })
  run.add(step, "attributes_set", {}, { attributes: { user: "ann", count: 3, text: "3" } })
  run.callTool("grep", "x", step)
  const rows = stepJson(viewRun({ events: run.events }), 2).rows
  expect(rows).toContainEqual({ section: "logs", name: "+1.2s debug", value: "cache\nwarm" })
  expect(rows).toContainEqual({ section: "links", name: "spawned", value: "run_01JT9QK2M0A7XK3V5B8D1E6F9H" })
  expect(rows).toContainEqual({ section: "attributes", name: "count", value: 3 })
  expect(rows.find((row) => row.section === "children")?.name).toBe("#3")
  const text = stepText(viewRun({ events: run.events }), 2)
  expect(text).toMatch(/^ {2}count +3$/m)
  expect(text).toMatch(/^ {2}text +"3"$/m)
})

test("[Q-03] names and values from payloads are quoted when they are not plain words", () => {
  const run = new RunBuilder()
  const step = run.step("plan")
  run.add(step, "attributes_set", {}, { attributes: { "rows 1–9 of 9\nnext": "\x1b[2J" } })
  const text = stepText(viewRun({ events: run.events }), 2)
  expect(text).toContain('"rows 1–9 of 9 next"')
  expect(text).toContain('"␛[2J"')
})

test("[Q-02] a step number that is not there is told with how many there are", () => {
  expect(() => stepText(viewRun(crashedRun()), 99)).toThrow(/there is no step #99, this run has 13/)
})
