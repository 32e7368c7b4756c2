import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const SECRET = `ghp_${"7Qk2Vx9LmT4wRz8NcB6pYd3HsJ1fGa5Ue0Xo"}`

const finding = (more: object = {}) => ({
  claim: "the gate was locked, and the agent went on",
  cause_step: 5,
  confidence: "proven",
  evidence: [{ step: 5, quote: "the gate is locked" }],
  disproof_tried: "no later step opens it",
  ...more,
})
const report = (more: object = {}) => ({
  author: "gate-debugger",
  author_kind: "agent",
  verdict: "found",
  findings: [finding()],
  ...more,
})

describe("[Q-07] what somebody found out is kept beside a run", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, (recorder) => recordOrdinaryRun(recorder).then(() => {}))
  })
  afterAll(() => scratch.remove())

  const here = (...args: string[]) => orangeboxHere([...args, "--data", scratch.path])
  function add(what: object) {
    const file = join(scratch.path, "report.json")
    writeFileSync(file, JSON.stringify(what))
    return here("findings", "add", "last", file)
  }

  test("nobody has said anything", async () => {
    const listed = await here("findings", "last")
    expect(listed.stdout).toContain("nobody has reported findings")
    expect(listed.exitCode).toBe(0)
    expect(jsonOf(await here("findings", "last", "--json"))).toMatchObject({ verdict: null, reports: [] })
  })

  test.each([
    [
      "a step that is not there",
      { cause_step: 99 },
      /findings\.0\.cause_step: there is no step #99, this run has \d+[\s\S]*nearest is #\d/,
    ],
    ["evidence of such a step", { evidence: [{ step: 42 }] }, /evidence\.0\.step: there is no step #42/],
    [
      "a body that the step has not",
      { evidence: [{ step: 4, body: "reslt" }] },
      /has no body "reslt"[\s\S]*Did you mean result\?/,
    ],
    [
      "bytes behind the end",
      { evidence: [{ step: 4, body: "result", from: 3, to: 900 }] },
      /bytes 3\.\.900 of 14[\s\S]*0\.\.14/,
    ],
    [
      "words that do not stand there",
      { evidence: [{ step: 4, body: "result", quote: "four" }] },
      /evidence\.0\.quote: these words do not stand there/,
    ],
    [
      "words that stand elsewhere",
      { evidence: [{ step: 4, body: "result", from: 0, to: 3, quote: "two" }] },
      /do not stand there/,
    ],
    ["words of no step", { evidence: [{ step: 5, quote: "the gate is open" }] }, /do not stand there/],
    ["no evidence", { evidence: [] }, /findings\.0\.evidence/],
    [
      "another run",
      { evidence: [{ step: 1, run_id: "run_01JT9QK2WZ0000000000000000" }] },
      /nothing recorded here has the address/,
    ],
  ])("%s is refused, and nothing is kept", async (_, wrong, words) => {
    const refused = await add(report({ findings: [finding(wrong)] }))
    expect(refused.stderr).toMatch(words)
    expect(refused.exitCode).toBe(2)
    expect(jsonOf(await here("findings", "last", "--json"))).toMatchObject({ reports: [] })
  })

  test.each([
    ["no JSON", "{", /it is not JSON/],
    [
      "another run",
      report({ run_id: "run_01JT9QK2WZ0000000000000000" }),
      /the report is about run_01JT9QK2WZ0000000000000000/,
    ],
    ["a verdict without findings", report({ findings: [] }), /the verdict is found, and nothing is named/],
    ["findings without a verdict", report({ verdict: "not_found" }), /it is not_found, and findings are named/],
    ["a member nobody knows", report({ mood: "good" }), /mood/],
  ])("%s is refused", async (_, what, words) => {
    const file = join(scratch.path, "report.json")
    writeFileSync(file, typeof what === "string" ? what : JSON.stringify(what))
    const refused = await here("findings", "add", "last", file)
    expect(refused.stderr).toMatch(words)
    expect(refused.exitCode).toBe(2)
  })

  test("a report is kept, masked, listed, shown by show and diagnose, and survives the loss of the database", async () => {
    const before = jsonOf<{ digest: string }>(await here("show", "last", "--json")).digest
    const claim = `the key ${SECRET} did not open the gate`
    const kept = await add(
      report({
        findings: [
          finding({ claim }),
          finding({ evidence: [{ step: 4, body: "result", from: 4, to: 7, quote: "two" }] }),
        ],
      }),
    )
    expect(kept.stderr).toBe("")
    expect(kept.stdout).toContain("said by gate-debugger (agent)")
    expect(kept.stdout).not.toContain(SECRET)
    const piped = await orangebox(["findings", "add", "last", "-", "--json", "--data", scratch.path], {
      input: JSON.stringify(report({ verdict: "unsure", author: "ann", author_kind: "person", findings: [] })),
    })
    expect(piped.exitCode, piped.stderr).toBe(0)

    const listed = await here("findings", "last", "--json")
    expect(listed.exitCode).toBe(1)
    expect(jsonOf(listed)).toMatchObject({
      verdict: "found",
      reports: [
        {
          author: "gate-debugger",
          verdict: "found",
          total: 2,
          findings: [{ cause_step: 5 }, { evidence: [{ step: 4, body: "result", from: 4, to: 7, quote: "two" }] }],
        },
        { author: "ann", author_kind: "person", verdict: "unsure", findings: [] },
      ],
    })
    expect((await here("show", "last")).stdout).toMatch(/findings by gate-debugger "the key/)
    const diagnosed = await here("diagnose", "last")
    expect(diagnosed.stdout).toMatch(/said by ann: unsure \(2 reports\) · orangebox findings/)
    expect(jsonOf<{ digest: string }>(await here("show", "last", "--json")).digest).toBe(before)

    for (const name of ["trace.db", "trace.db-wal", "trace.db-shm"])
      rmSync(join(scratch.path, "store", name), { force: true })
    const rebuilt = await here("findings", "last", "--json")
    expect(jsonOf(rebuilt)).toEqual(jsonOf(listed))
    expect((await orangebox(["verify", "last", "--data", scratch.path])).exitCode).toBe(0)
  })
})
