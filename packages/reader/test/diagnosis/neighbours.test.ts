import { Recorder, type Run } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import {
  asked,
  type Capture,
  diagnosed,
  diagnosisOf,
  folder,
  type Json,
  said,
  send,
  serving,
  use,
} from "./diagnosed.js"

type Diagnosed = Awaited<ReturnType<typeof diagnosed>>
const found = ({ json }: Diagnosed, detector: string) => json.findings.filter((one) => one.detector === detector)
const whyNot = ({ json }: Diagnosed, detector: string) => json.not_run.find((one) => one.detector === detector)?.why

describe("[G-02] arguments that break the schema of their request", () => {
  const offering = (schema: Json): Json => ({ ...asked(), tools: [{ name: "read", input_schema: schema }] })
  const LINES: Json = { type: "object", properties: { lines: { type: "integer" } }, required: ["lines"] }

  const calling = async (schema: Json, input: unknown, hasFailed: boolean, capture: Capture = "redacted") => {
    const url = await serving(said([{ ...use("t1"), input }], { stop_reason: "tool_use" }), said())
    return diagnosed(async (run) => {
      await send(run, url, offering(schema))
      await run
        .tool({ name: "read", args: input as Json, callId: "t1" }, () => {
          if (hasFailed) throw new Error("lines must be a number")
          return "text"
        })
        .catch(() => {})
      run.complete()
    }, capture)
  }

  test("a string for a number is proven, and harm where the tool failed on it and nothing mended it", async () => {
    const broken = await calling(LINES, { lines: "ten" }, true)
    expect(found(broken, "bad_tool_args")).toMatchObject([
      { kind: "schema", severity: "harm", confidence: "proven", cause_step: 2, fails_step: 3 },
    ])
    const taken = await calling(LINES, { lines: "ten" }, false)
    expect(found(taken, "bad_tool_args")).toMatchObject([{ severity: "notice" }])
  })

  test("[G-03] arguments that fit are no finding, and a schema that is not understood is not judged", async () => {
    const fits = await calling(LINES, { lines: 10 }, false)
    expect(found(fits, "bad_tool_args")).toEqual([])
    expect(whyNot(fits, "bad_tool_args")).toBeUndefined()
    const strange = await calling({ type: "object", patternProperties: { "^x": {} } }, { lines: "ten" }, true)
    expect(whyNot(strange, "bad_tool_args")).toMatch(/not understood/)
    const hashed = await calling(LINES, { lines: "ten" }, true, "hashed")
    expect(whyNot(hashed, "bad_tool_args")).toMatch(/no request that offers tools is kept/)
  })
})

describe("[G-02] instructions that are gone", () => {
  const RULES = [{ id: "src", type: "scope", rule: "paths.only src/**" }] as const
  const persona = (...texts: string[]): Json => ({
    ...asked(),
    system: texts.map((text) => ({ type: "text", text })),
  })
  const working = async (second: Json, isBroken: boolean, capture: Capture = "redacted") => {
    const url = await serving(said())
    const recorder = Recorder.open({ app: "agent", folder, cwd: folder, capture, environment: "local" })
    const run = recorder.startRun({ entrypoint: "fix", input: "fix it", constraints: RULES })
    await send(run, url, persona("You fix bugs.", "Only change files under src/."))
    await send(run, url, second)
    const path = isBroken ? "package.json" : "src/a.js"
    await run.tool({ name: "Edit", args: { file_path: path, old_string: "a", new_string: "b" } }, () => "ok")
    run.complete()
    recorder.close()
    return diagnosisOf(run.runId)
  }

  test("one that is gone and then broken is likely harm; without a broken rule it is a notice", async () => {
    for (const capture of ["full", "redacted"] as const) {
      const broken = await working(persona("You fix bugs."), true, capture)
      expect(found(broken, "lost_instruction")).toMatchObject([
        { kind: "then_violated", severity: "harm", confidence: "likely", cause_step: 3, fails_step: 4 },
      ])
    }
    const kept = await working(persona("You fix bugs."), false)
    expect(found(kept, "lost_instruction")).toMatchObject([{ kind: null, severity: "notice" }])
    const hashed = await working(persona("You fix bugs."), false, "hashed")
    expect(found(hashed, "lost_instruction")).toMatchObject([{ severity: "notice", cause_step: 3 }])
  })

  test("[G-03] one that was reworded, or whose clock went on, is not gone", async () => {
    for (const words of ["Only touch src/.", "Only change files under src/."]) {
      expect(found(await working(persona("You fix bugs.", words), true), "lost_instruction")).toEqual([])
    }
  })
})

describe("[G-02] evidence that was left out", () => {
  const excluded = [{ id: "notes/leap-years.md", reason: "budget_limit", sourceRef: "file:notes/leap-years.md" }]
  const working = async (error: string, between: (run: Run) => Promise<unknown>, isTold = true) => {
    const url = await serving(said())
    return diagnosed(async (run) => {
      const step = run.step("turn")
      if (isTold) step.context({ items: [{ id: "question", type: "user_input", text: "go" }], excluded })
      await (await step.fetch(url, { method: "POST", body: JSON.stringify(asked()) })).text()
      step.end()
      await between(run)
      await run.tool({ name: "test", args: {} }, () => Promise.reject(new Error(error))).catch(() => {})
      run.fail(new Error("tests failed"))
    })
  }
  const nothing = async (): Promise<void> => {}

  test("an item that a later error names is likely what was missing", async () => {
    const missing = await working("see notes/leap-years.md: centuries", nothing)
    expect(found(missing, "excluded_evidence")).toMatchObject([
      { severity: "harm", confidence: "likely", cause_step: 3, fails_step: 4 },
    ])
  })

  test("[G-03] one that no error names, or that the agent opened itself, is none; without a manifest it is not looked for", async () => {
    expect(found(await working("1900 is no leap year", nothing), "excluded_evidence")).toEqual([])
    const opened = await working("see notes/leap-years.md", (run) =>
      run.tool({ name: "read", args: { path: "notes/leap-years.md" } }, () => "text"),
    )
    expect(found(opened, "excluded_evidence")).toEqual([])
    expect(whyNot(await working("see notes/leap-years.md", nothing, false), "excluded_evidence")).toMatch(/no manifest/)
  })
})

describe("[G-02] beside a good run of the same input", () => {
  const write = (run: Run, to: string): Promise<unknown> =>
    run.tool({ name: "book", args: { seat: to }, effect: "write" }, () => "ok")
  const booking = async (input: string, seats: readonly string[], isGood: boolean, capture: Capture = "redacted") => {
    const recorder = Recorder.open({ app: "agent", folder, cwd: folder, capture, environment: "local" })
    const run = recorder.startRun({ entrypoint: "book", input })
    await run.tool({ name: "look", args: { seats }, effect: "read" }, () => "free")
    for (const seat of seats) await write(run, seat)
    if (isGood) run.complete({ output: "done" })
    else run.fail(new Error("the guest complained"))
    recorder.close()
    return run.runId
  }

  test("the first change that no good run made decides, in every capture mode; what was read does not count", async () => {
    for (const capture of ["full", "redacted", "hashed"] as const) {
      await booking(`a trip ${capture}`, ["1A", "1B"], true, capture)
      const bad = await diagnosisOf(await booking(`a trip ${capture}`, ["1A", "9F"], false, capture))
      expect(found(bad, "sibling_divergence")).toMatchObject([
        { severity: "harm", confidence: "likely", cause_step: 4, evidence: [{ step_no: 4 }, { step_no: 4 }] },
      ])
      expect(bad.json.suspects).toEqual([])
    }
  })

  test("[G-03] the same changes are no divergence, nor is anything where no good run is on record", async () => {
    await booking("a trip", ["1A"], true)
    expect(found(await diagnosisOf(await booking("a trip", ["1A"], false)), "sibling_divergence")).toEqual([])
    const alone = await diagnosisOf(await booking("another trip", ["9F"], false))
    expect(whyNot(alone, "sibling_divergence")).toMatch(/no good run of the same input/)
  })
})

describe("[G-02] a step that took far longer than its like", () => {
  const running = async (steps: number, slowMs: number): Promise<Diagnosed> => {
    let ms = 0
    const now = () => ({ wallMs: Date.UTC(2026, 10, 18) + ms, monoUs: ms * 1000 })
    const recorder = Recorder.open({ app: "agent", folder, cwd: folder, environment: "local", now } as never)
    const run = recorder.startRun({ entrypoint: "poll" })
    for (let at = 0; at < steps; at++) {
      await run.tool({ name: "probe", args: { at } }, () => {
        ms += at === steps - 1 ? slowMs : 10
        return String(at)
      })
    }
    run.complete()
    recorder.close()
    return diagnosisOf(run.runId)
  }

  test("is a hint with the figures it rests on; with few of its kind on record it is not looked for", async () => {
    const slow = await running(40, 900)
    expect(found(slow, "latency_outlier")).toMatchObject([
      { severity: "notice", confidence: "possible", cause_step: 41 },
    ])
    expect(slow.bad).toEqual([])
    expect(found(slow, "latency_outlier")[0]?.claim).toMatch(/half of 39 like it/)
    const few = await diagnosed(async (run) => {
      await run.tool({ name: "other", args: {} }, () => "x")
      run.complete()
    })
    expect(whyNot(few, "latency_outlier")).toMatch(/fewer than 30/)
  })

  test("[G-03] one that took a little longer is none", async () => {
    expect(found(await running(40, 30), "latency_outlier")).toEqual([])
  })
})
