import type { Event } from "@orangebox/contract"
import type { RunInput } from "../src/index.js"
import { RunBuilder } from "./build-run.js"

const MODEL = "claude-x"

/** The run of the README: a plan, a fix, a failing test, and a process that dies while the model is answering. */
export function crashedRun(fixes = 3): RunInput & { run: RunBuilder } {
  const run = new RunBuilder()
  const plan = run.step("plan")
  run.add(plan, "prompt_assembled", {
    segments: [
      { contributor: "core", kind: "persona", role: "system", length: 4720, tokens: 1180 },
      { contributor: "read_file", kind: "tool-def", role: null, length: 1200, tokens: 300 },
      { contributor: "web", kind: "skill", role: "system", length: 1600, tokens: 400 },
      { contributor: "chat", kind: "user-msg", role: "user", length: 1650, tokens: 412 },
    ],
    total_length: 9170,
    token_budget: 32_000,
    excluded_count: 3,
  })
  const thinking = run.callModel(MODEL, plan)
  run.wait(4900).modelAnswers(thinking, MODEL, [5400, 212, 0], {
    finish_reason: "tool_use",
    thinking_ms: 1800,
    requested_tools: ["read_file"],
  })
  const read = run.callTool("read_file", "src/date.ts", plan)
  run.wait(500).toolReturns(read, "read_file", 2048).end(plan)

  const fix = run.step("fix")
  for (let round = 0; round < fixes; round++) {
    const call = run.callModel(MODEL, fix)
    run.wait(5200).modelAnswers(call, MODEL, [9000 + round * 2100, 400, 8200], {
      finish_reason: "tool_use",
      requested_tools: ["edit_file"],
    })
    const edit = run.callTool("edit_file", "src/date.ts", fix)
    run.wait(40).toolReturns(edit, "edit_file", 180, { result_summary: "1 replacement" })
  }
  run.end(fix)

  const tests = run.callTool("run_tests", "npm test")
  run.wait(12_000).toolReturns(tests, "run_tests", 5300, {
    status: "error",
    error_class: "CommandFailed",
    exit_code: 1,
    error_summary: "expected 2024-02-29, got 2024-03-01\n    at test/date.test.ts:14",
  })
  const last = run.callModel(MODEL)
  run.annotate("process_crashed", {
    writer_id: "w1",
    pid: 4711,
    last_open_step_id: last,
    evidence: "pid 4711 is gone, same boot",
  })
  return { run, events: run.events, partials: [{ stepId: last, role: "response", byteSize: 1200 }] }
}

/** Tools side by side, a model call that needed three attempts, a warning, and a good end. */
export function retriedRun(): RunInput & { run: RunBuilder } {
  const run = new RunBuilder({ app_id: "support", entrypoint_name: "answer", input_summary: "Where is my order?" })
  const lookup = run.step("lookup", run.root, "retrieval")
  const [orders, carrier] = [run.callTool("orders", "id=1182", lookup), run.callTool("carrier", "DHL 0034", lookup)]
  run.wait(310).toolReturns(carrier, "carrier", 940)
  run.wait(90).toolReturns(orders, "orders", 2210).end(lookup)
  run.add(run.root, "log", { level: "warn", message: "order 1182 has two parcels, using the first" })
  const call = run.callModel(MODEL)
  for (const attempt of [1, 2, 3]) {
    const attempted = run.callModel(MODEL, call, { attempt_no: attempt })
    run.wait(700)
    if (attempt === 3)
      run.modelAnswers(attempted, MODEL, [3100, 96, 2400], { output_summary: "It arrives on Tuesday." })
    else {
      run.modelAnswers(attempted, MODEL, [0, 0, 0], {
        status: "error",
        http_status: 529,
        error_class: "overloaded_error",
        error_summary: "Overloaded",
        token_usage: { prompt: null, completion: null, total: null },
      })
    }
  }
  run.modelAnswers(call, MODEL, [3100, 96, 2400], { output_summary: "It arrives on Tuesday." })
  run.complete()
  return { run, events: run.events }
}

/** A long run of rounds, a model call and two tools each, with one failure in the middle. */
export function longRun(rounds: number): RunInput & { run: RunBuilder } {
  const run = new RunBuilder()
  for (let round = 0; round < rounds; round++) {
    const turn = run.step(`turn-${round}`)
    const call = run.callModel(MODEL, turn)
    run.wait(900).modelAnswers(call, MODEL, [4000 + round * 30, 120, 3900 + round * 20], { requested_tools: ["grep"] })
    for (const name of ["grep", "read_file"]) {
      const tool = run.callTool(name, `src/file-${round}.ts`, turn)
      const isBroken = round === Math.floor(rounds / 2) && name === "read_file"
      run.wait(12).toolReturns(tool, name, 800, isBroken ? broken("ENOENT: no such file") : {})
    }
    run.end(turn)
  }
  run.complete()
  return { run, events: run.events }
}

function broken(summary: string) {
  return { status: "error", error_class: "Error", error_summary: summary } as const
}

/** An event type that a newer minor version may bring. */
export function unknownEvent(run: RunBuilder, step: string): Event {
  const known = run.add(step, "log", { level: "info", message: "x" }).events.pop()!
  const newer: unknown = { ...known, schema_version: "1.9.0", event_type: "quantum_leap", payload: { to: 1969 } }
  run.events.push(newer as Event)
  return newer as Event
}
