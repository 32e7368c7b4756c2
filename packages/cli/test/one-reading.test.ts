import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event } from "@orangebox/contract"
import { actionsOf, decisionsOf, runReport } from "@orangebox/decisions"
import { recordedContexts, skeletonJson, stepJson, viewRun } from "@orangebox/query"
import { MemorySink, Recorder, type RecorderOptions } from "@orangebox/recorder"
import { diffRuns, readPortable, replayRecorder, tapeOf, writePortable } from "@orangebox/replay"
import { foldRun } from "@orangebox/runs"
import { openReadOnlySql, openStore, type TraceStore } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { recordThroughProxy } from "../../proxy/test/replayed-proxy.js"
import { orangebox } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"
import { recordAgent } from "./two-runs.js"

/**
 * Every reader of a run stands on the same fold. This takes runs that real components recorded, loses, damages or doubles every single
 * event of them in turn, and asks all readers for number, parent, status and totals.
 */
const folder = mkdtempSync(join(tmpdir(), "orangebox-one-reading-"))
let store: TraceStore
beforeAll(() => {
  store = openStore(folder).store
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Recording {
  readonly events: readonly Event[]
  readonly bodies: ReadonlyMap<string, Uint8Array>
}

async function recorded(
  work: (recorder: Recorder) => unknown,
  options: Partial<RecorderOptions> = {},
): Promise<Recording> {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "fixer", environment: "local", sink, ...options })
  await work(recorder)
  recorder.close()
  const [first] = sink.events.filter(({ run_id }) => run_id !== null)
  return { events: sink.events.filter(({ run_id }) => run_id === first!.run_id), bodies: sink.bodies }
}

/** A call that the provider refuses once: two tries of one call, seen by `recorder.fetch` below `step.model`. */
async function recordRetried(recorder: Recorder): Promise<void> {
  let asked = 0
  const server = await startModelServer((_, response) => {
    if (asked++ > 0) return answerMessage(response, { content: [{ type: "text", text: "seven" }] })
    response.writeHead(529, { "content-type": "application/json" })
    response.end(JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } }))
  })
  const run = recorder.startRun({ entrypoint: "retried", input: "count" })
  const step = run.step("plan")
  const request = { model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "count" }] }
  await step.model({ provider: "anthropic", model: "claude-x", request }, async ({ headers }) => {
    for (;;) {
      const response = await recorder.fetch(`${server.origin}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(request),
      })
      const answer: unknown = await response.json()
      if (response.ok) return answer
    }
  })
  step.end()
  run.complete({ output: "7" })
  await server.close()
}

async function recordNested(recorder: Recorder): Promise<void> {
  const run = recorder.startRun({ entrypoint: "nested", input: "go" })
  const turn = run.step("turn")
  const helper = turn.startRun({ entrypoint: "helper", input: "look" })
  await helper.tool({ name: "grep", args: { text: "x" } }, () => "none")
  helper.complete({ output: "none" })
  const search = turn.log.span("search")
  await search
    .tool({ name: "bash", args: { command: "false" } }, () => {
      throw new Error("exit 1")
    })
    .catch(() => {})
  search.log.warn("nothing found", {})
  search.end()
  turn.end()
  run.fail(new Error("gave up"))
}

const RUNS: Readonly<Record<string, () => Promise<Recording>>> = {
  "recorded with the SDK": () => recorded(recordOrdinaryRun),
  "of an agent with tools": () => recorded(recordAgent),
  "with a call of two attempts": () => recorded(recordRetried),
  "with steps in steps and a failure": () => recorded(recordNested),
  "seen on the wire alone": recordWire,
  "with hashes only": () => recorded(recordOrdinaryRun, { capture: "hashed" }),
  "whose process died": async () => {
    const { events, bodies } = await recorded(recordAgent)
    const left = events.slice(0, -3)
    return { events: [...left, crashOf(left.at(-1)!)], bodies }
  },
  "that is a replay": async () => {
    const source = await recorded(recordAgent)
    const tape = tapeOf(source.events, source.bodies)
    if (!tape.ok) throw new Error("no tape")
    const sink = new MemorySink()
    const replay = replayRecorder(tape.tape, { app: "fixer", environment: "local", sink })
    await recordAgent(replay as unknown as Recorder)
    return { events: sink.events.filter(({ run_id }) => run_id !== null), bodies: sink.bodies }
  },
}

/** An agent nobody instrumented: turns, a tool, a retry and a sub-agent are deduced from its traffic. */
async function recordWire(): Promise<Recording> {
  const task = "Find every caller of parseDate"
  const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input })
  const answers = [
    { content: [use("t1", "read_file", { path: "src/date.ts" })], stop_reason: "tool_use" },
    undefined,
    { content: [use("t2", "agent", { prompt: task })], stop_reason: "tool_use" },
    { content: [{ type: "text", text: "Two callers." }] },
    { content: [{ type: "text", text: "Done." }] },
  ] as const
  let next = 0
  const server = await startModelServer((_, response) => {
    const answer = answers[next++]
    if (answer) return answerMessage(response, { ...answer, id: `msg_${next}` })
    response.writeHead(529, { "content-type": "application/json" })
    response.end(JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } }))
  })
  const { events, tape } = await recordThroughProxy({ anthropic: server.origin }, async (urlFor) => {
    const ask = async (messages: readonly object[]): Promise<void> => {
      const body = JSON.stringify({ model: "claude-x", max_tokens: 9, messages })
      const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" }
      await (await fetch(`${urlFor("anthropic")}/v1/messages`, { method: "POST", headers, body })).text()
    }
    const result = (id: string, content: string) => ({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content }],
    })
    const first = [{ role: "user", content: "Fix the failing date test" }]
    const second = [...first, { role: "assistant", content: answers[0].content }, result("t1", "text of the file")]
    await ask(first)
    await ask(second)
    await ask(second)
    await ask([{ role: "user", content: task }])
    await ask([...second, { role: "assistant", content: answers[2].content }, result("t2", "Two callers.")])
  })
  await server.close()
  const runId = events.find(({ run_id }) => run_id !== null)!.run_id
  const bodies = tape.bodies as ReadonlyMap<string, Uint8Array>
  return { events: events.filter(({ run_id }) => run_id === runId), bodies }
}

/** As the collector says it of a run that it found open. */
const crashOf = (last: Event): Event =>
  ({
    ...last,
    event_id: last.event_id.replace(/^.{4}/, "ffff"),
    sequence_no: null,
    event_type: "process_crashed",
    actor_type: "backend",
    payload: { pid: 7, evidence: "gone", last_open_step_id: last.step_id },
    artifact_refs: [],
  }) as unknown as Event

/** What can become of one event on its way. */
const FATES: Readonly<Record<string, (event: Event) => readonly Event[]>> = {
  lost: () => [],
  "without its payload": (event) => [{ ...event, payload: {} } as Event],
  "without its step": (event) => [{ ...event, step_id: null } as Event],
  "without its parent": (event) => [{ ...event, parent_step_id: null } as Event],
  "as its own parent": (event) => [{ ...event, parent_step_id: event.step_id } as Event],
  "with a clock that is none": (event) => [{ ...event, mono_us: "soon" } as unknown as Event],
  doubled: (event) => [event, event],
  "with the number of the event before": (event) => [
    { ...event, sequence_no: event.sequence_no === null ? null : Math.max(0, event.sequence_no - 1) } as Event,
  ],
}

let variants = 0

/** The run under a name of its own, so that one store holds all of them. */
function renamed(events: readonly Event[]): Event[] {
  const mark = (++variants).toString(16).padStart(6, "0")
  return events.map((event) => ({
    ...event,
    run_id: `${event.run_id!.slice(0, -6)}${mark.toUpperCase()}`,
    event_id: `${event.event_id.slice(0, -6)}${mark}`,
  }))
}

const millis = (micros: number | undefined): number | null => (micros === undefined ? null : micros / 1000)

interface Told {
  readonly no: number
  readonly parent: number | null
  readonly status: string
}

async function mustAgree(events: readonly Event[], bodies: Recording["bodies"], how: string): Promise<void> {
  const runId = events[0]!.run_id!
  const own = (await store.eventsOf(runId)).events
  const annotations = await store.annotationsOf(runId)
  const stored = [...own, ...annotations]
  const view = viewRun({ events: stored })

  // show: the whole skeleton
  const shown = skeletonJson(view, { budget: 1_000_000 })
  const steps = new Map<string, Told>(
    view.steps.map(({ id, n, parent, status }) => [id ?? "", { no: n, parent: parent ?? null, status }]),
  )
  const rows = shown.rows.flatMap((row) => (row.type === "step" ? [row] : []))
  for (const row of rows) {
    expect({ how, no: row.n, parent: row.parent, status: row.status }).toEqual({ how, ...steps.get(row.step_id ?? "") })
  }
  // step: by number
  for (const { n, id } of view.steps) {
    const { step } = stepJson(view, n)
    expect({ how, no: step.n, parent: step.parent, status: step.status }).toEqual({ how, ...steps.get(id ?? "") })
    const found = await store.resolve(`${runId}#${n}`)
    expect({ how, n, id: found.found === "one" ? found.target.stepId : undefined }).toEqual({ how, n, id: id ?? "" })
  }
  // sql and the store's own rows
  const sql = openReadOnlySql(folder)
  try {
    const inSql = sql.query(
      `SELECT no, step_id, parent_no, status, name, duration_ms FROM steps WHERE run_id = '${runId}' ORDER BY no`,
    ).rows
    expect({ how, sql: inSql.map((row) => Object.values(row)) }).toEqual({
      how,
      sql: view.steps.map(({ n, id, parent, status, name, durationUs }) => [
        n,
        id ?? null,
        parent ?? null,
        status,
        name ?? null,
        millis(durationUs),
      ]),
    })
    const [row] = sql.query(
      `SELECT status, events, annotations, steps, model_calls, tool_calls, errors, prompt_tokens, completion_tokens, cache_read_tokens, duration_ms FROM runs WHERE run_id = '${runId}'`,
    ).rows
    const { totals } = view
    expect({ how, ...row }).toEqual({
      how,
      status: view.status,
      events: totals.events,
      annotations: totals.annotations,
      steps: totals.steps,
      model_calls: totals.modelCalls,
      tool_calls: totals.toolCalls,
      errors: totals.errors,
      prompt_tokens: totals.tokens.input,
      completion_tokens: totals.tokens.output,
      cache_read_tokens: totals.tokens.cacheRead,
      duration_ms: millis(view.durationUs),
    })
    const [calls] = sql.query(
      `SELECT count(*) AS calls, sum(prompt_tokens) AS input, sum(completion_tokens) AS output FROM model_calls WHERE run_id = '${runId}'`,
    ).rows
    expect({ how, ...calls }).toEqual({
      how,
      calls: totals.modelCalls,
      input: totals.tokens.input,
      output: totals.tokens.output,
    })
  } finally {
    sql.close()
  }
  expect((await store.getRun(runId))?.status).toBe(view.status)
  // context
  for (const { step } of recordedContexts(view)) expect(steps.get(step.id ?? "")?.no).toBe(step.n)
  // check and decisions
  const lookUp = (ref: string): Uint8Array | undefined => bodies.get(ref)
  const actions = actionsOf({ events: stored, bodies: lookUp })
  for (const { stepId, stepNo, boundary, status } of actions.actions) {
    const told = steps.get(stepId)!
    expect({ how, stepId, stepNo }).toEqual({ how, stepId, stepNo: told.no })
    if (boundary === "tool" || boundary === "completion")
      expect({ how, stepId, status }).toEqual({ how, stepId, status: told.status })
  }
  expect({ how, run: [actions.status, actions.stepCount, actions.modelCalls.length] }).toEqual({
    how,
    run: [view.status, view.totals.steps, view.totals.modelCalls],
  })
  const tokensOf = new Map(foldRun(stored).steps.map((step) => [step.id, step.tokens]))
  for (const { span_id, agent_action, prompt_provenance, model_output } of decisionsOf({
    events: stored,
    bodies: lookUp,
  })) {
    expect({ how, no: agent_action.step_no }).toEqual({ how, no: steps.get(span_id)?.no ?? agent_action.step_no })
    const told = tokensOf.get(prompt_provenance.model_step_id ?? "")?.prompt ?? model_output.usage.input_tokens
    expect({ how, input: model_output.usage.input_tokens }).toEqual({ how, input: told })
  }
  // report: of the whole run, and of what is left when an event is lost
  if (how === "whole" || how.endsWith(" lost")) {
    const { run, summary, timeline } = runReport({ events: stored, bodies: lookUp })
    expect({
      how,
      run: [run.run_id, run.status, run.app_id, run.entrypoint, run.duration_ms],
      figures: [summary.model_calls, summary.input_tokens, summary.output_tokens],
    }).toEqual({
      how,
      run: [runId, view.status, view.app ?? "unknown", view.entrypoint ?? "unknown", millis(view.durationUs)],
      figures: [view.totals.modelCalls, view.totals.tokens.input, view.totals.tokens.output],
    })
    for (const { step_id, step_no } of timeline)
      expect({ how, step_id, step_no }).toEqual({ how, step_id, step_no: steps.get(step_id)?.no ?? step_no })
  }
  // diff
  const toDiff = { events: stored, body: (ref: string) => bodies.get(ref) ?? { absent: "unknown" as const } }
  const diff = diffRuns(toDiff, toDiff)
  const { status, steps: stepCount, tokens_in, tokens_out, duration_us } = diff.a
  expect({ how, side: [status, stepCount, tokens_in, tokens_out, duration_us] }).toEqual({
    how,
    side: [
      view.status,
      view.totals.steps,
      view.totals.tokens.input,
      view.totals.tokens.output,
      view.durationUs ?? null,
    ],
  })
  if (view.status === "silent") {
    const live = { ...toDiff, isWriterAlive: true }
    expect({ how, live: diffRuns(live, live).a.status }).toEqual({ how, live: "running" })
  }
  for (const item of diff.items) {
    for (const side of [item.a, item.b]) {
      if (!side || side.event_id !== null) continue
      expect({ how, n: side.n, status: side.status }).toEqual({
        how,
        n: steps.get(side.step_id ?? "")?.no,
        status: steps.get(side.step_id ?? "")?.status,
      })
    }
  }
  // the tape: a call whose opening is lost has no question, and so no place on it
  const tape = tapeOf(stored, { get: (ref) => bodies.get(ref) }, { runId })
  if (tape.ok) {
    expect({ how, ended: tape.tape.outputs.ended }).toEqual({ how, ended: view.status })
    const asked = view.steps.filter((step) => step.kind === "model" && step.opened !== undefined)
    const calls = tape.tape.calls.filter(({ kind }) => kind === "model")
    const told = calls.map(({ stepId, attemptNo }) => [stepId, attemptNo])
    expect({ how, told: told.sort() }).toEqual({
      how,
      told: asked.map(({ id, attemptNo }) => [id, attemptNo ?? null]).sort(),
    })
  }
  // export, and what reads the file
  const pieces = [...writePortable(stored, { get: (ref) => bodies.get(ref) })]
  const file = await readPortable(Buffer.concat(pieces))
  const again = viewRun({ events: file.events })
  expect({ how, steps: again.steps.map(({ id, n, parent, status }) => [id, n, parent, status]) }).toEqual({
    how,
    steps: view.steps.map(({ id, n, parent, status }) => [id, n, parent, status]),
  })
  expect(again.totals).toEqual(view.totals)
}

describe("[Q-08] all readers agree on number, parent, status and totals of every step", () => {
  test.each(Object.keys(RUNS))("[Q-08] in a run %s, whichever event is lost, damaged or doubled", async (name) => {
    const { events, bodies } = await RUNS[name]!()
    const cases: { how: string; events: Event[] }[] = [{ how: "whole", events: renamed(events) }]
    for (const [fate, becomes] of Object.entries(FATES)) {
      for (const at of events.keys()) {
        const changed = events.flatMap((event, index) => (index === at ? becomes(event) : [event]))
        cases.push({ how: `${events[at]!.event_type} (${at}) ${fate}`, events: renamed(changed) })
      }
    }
    await store.commit({ events: cases.flatMap((one) => one.events).map((event) => ({ event, writerId: null })) })
    for (const one of cases) await mustAgree(one.events, bodies, one.how)
  })

  test("[Q-08] in a run whose events come out of order, in batches, with a store that is opened again in between", async () => {
    const { events, bodies } = await recorded(recordNested)
    const whole = viewRun({ events })
    const orders = [
      [...events].reverse(),
      [...events.slice(5), ...events.slice(0, 5)],
      events.toSorted((a, b) => (a.event_id.at(-9)! < b.event_id.at(-9)! ? -1 : 1)),
    ]
    for (const order of orders) {
      const mixed = renamed(order)
      for (const event of mixed) {
        await store.commit({ events: [{ event, writerId: null }] })
        if (event.event_type === "step_started") {
          await store.close()
          store = openStore(folder).store
        }
      }
      await mustAgree(mixed, bodies, "out of order")
      expect((await store.stepsOf(mixed[0]!.run_id!)).map(({ no, stepId }) => [no, stepId])).toEqual(
        whole.steps.map(({ n, id }) => [n, id]),
      )
    }
  })
})

test("[Q-08] the commands agree on a run whose step_started line was damaged in the journal", async () => {
  const data = mkdtempSync(join(tmpdir(), "orangebox-damaged-"))
  try {
    await record(data, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const journals = join(data, "journal")
    const [file] = readdirSync(journals).filter((name) => name.endsWith(".ndjson"))
    const lines = readFileSync(join(journals, file!), "utf8").split("\n")
    const at = lines.findIndex((line) => line.includes('"step_started"'))
    lines[at] = `x${lines[at]!.slice(1)}`
    writeFileSync(join(journals, file!), lines.join("\n"))
    const asked = async (...words: string[]) => {
      const { stdout, stderr } = await orangebox([...words, "--json", "--data", data])
      if (stdout === "") throw new Error(stderr)
      return JSON.parse(stdout) as Record<string, unknown>
    }
    type Row = { type: string; n: number; step_id: string; parent: number | null; status: string }
    const shown = (await asked("show", "last"))["rows"] as Row[]
    const steps = shown.flatMap(({ type, n, step_id, parent, status }) =>
      type === "step" ? [[n, step_id, parent, status]] : [],
    )
    expect(steps.map(([n]) => n)).toEqual([1, 2, 3, 4, 5])
    const sql = "SELECT no, step_id, parent_no, status FROM steps ORDER BY no"
    const { rows } = (await asked("sql", sql)) as { rows: unknown[] }
    expect(rows).toEqual(steps)
    for (const [n, stepId] of steps) {
      const { step } = (await asked("step", `last#${n}`)) as { step: Row }
      expect([step.n, step.step_id]).toEqual([n, stepId])
    }
    const { decisions } = (await asked("decisions", "last")) as {
      decisions: { span_id: string; agent_action: { step_no: number } }[]
    }
    const tools = decisions.filter(({ span_id }) => steps.some(([, stepId]) => stepId === span_id))
    expect(tools.length).toBeGreaterThan(1)
    for (const { span_id, agent_action } of tools) {
      expect(agent_action.step_no).toBe(steps.find(([, stepId]) => stepId === span_id)![0])
    }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
})
