import { textHash } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { beforeAfterOf, beforeAfterText, compareBeforeAfter, viewRun } from "../src/index.js"
import { RunBuilder } from "./build-run.js"

describe("before and after", () => {
  test("[K-06] the prompt as built and the request as sent are found for a call and for its attempt", () => {
    const run = new RunBuilder()
    const call = run.callModel("claude-x")
    run.add(call, "prompt_rendered", {
      prompt_template_id: null,
      prompt_template_version: null,
      prompt_variables_ref: null,
      rendered_prompt_ref: textHash("built"),
    })
    const attempt = run.callModel("claude-x", call, { attempt_no: 1 })
    run.modelAnswers(attempt, "claude-x", [1, 1, 0]).modelAnswers(call, "claude-x", [1, 1, 0]).complete()
    const view = viewRun({ events: run.events })
    const fromCall = beforeAfterOf(view, 2)
    expect(fromCall.before).toEqual({ n: 2, hash: textHash("built") })
    expect(fromCall.after.n).toBe(3)
    expect(beforeAfterOf(view, 3)).toEqual(fromCall)
    expect(() => beforeAfterOf(view, 1)).toThrow(/both as it was built and as it was sent/)
  })

  test("[K-06] the difference names what a transform changed, and nothing that it did not", () => {
    const before = '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read"}]}'
    const after =
      '{"tools":[{"name":"mcp__read"}], "model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"stream":true}'
    const comparison = compareBeforeAfter(before, after)
    expect(comparison.changes).toEqual([
      { pointer: "/messages/0", kind: "added", before: undefined, after: '{"role":"system","content":"be brief"}' },
      { pointer: "/tools/0/name", kind: "changed", before: '"read"', after: '"mcp__read"' },
      { pointer: "/stream", kind: "added", before: undefined, after: "true" },
    ])
    expect(beforeAfterText(comparison)).toContain("3 changes")
    expect(compareBeforeAfter('{"a":1,"b":2}', '{ "b": 2, "a": 1 }').isEqual).toBe(true)
    expect(compareBeforeAfter('{"a":1,"a":2}', '{"a":1,"a":2}').isEqual).toBe(true)
    expect(compareBeforeAfter('[{"name":"a"},{"name":"b"}]', '[{"name":"b"},{"name":"a"}]')).toMatchObject({
      isEqual: false,
      changes: [{ pointer: "/0", kind: "moved", to: "/1" }],
    })
    expect(compareBeforeAfter("not json", "{}")).toMatchObject({ changes: null, firstDifference: 0 })
  })

  test("[K-06] within a budget it says how many changes it leaves out", () => {
    const many = (value: string) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, value])))
    const text = beforeAfterText(compareBeforeAfter(many("a"), many("b")), { budget: 200 })
    expect(text).toMatch(/… \d+ of 500 changes left out/)
  })
})
