import {
  MemorySink,
  openInferredTool,
  openWireCall,
  Recorder,
  type RetriedCall,
  type Run,
  type WireCall,
} from "@orangebox/recorder"
import { expect, test } from "vitest"
import { sealed } from "../src/certificate/certify.js"
import { fingerprintOf } from "../src/certificate/fingerprint.js"
import type { Certificate } from "../src/generated.js"
import {
  coverageGaps,
  type Outcome,
  parseProfile,
  planFork,
  type ReplayRecorder,
  recheckCertificate,
  replayRecorder,
  type Tape,
} from "../src/index.js"
import { anthropicAnswer, messages, recordingOf, tapeFrom } from "./recorded.js"

/** An exchange as a proxy sees it: what the client sent in which lane, and what the upstream said. */
interface Seen {
  readonly lane: string
  readonly body: string
  readonly status: number
  readonly answer: string
}

/** Records traffic the way the proxy does: no handles of an agent, only exchanges, tries that follow a failure, and tools it concludes. */
class Traffic {
  readonly #run: Run
  readonly #answer: (call: WireCall, seen: Seen) => { status: number; answer: string }
  #retried: { readonly body: string; readonly call: RetriedCall } | undefined

  constructor(run: Run, answer: (call: WireCall, seen: Seen) => { status: number; answer: string }) {
    this.#run = run
    this.#answer = answer
  }

  pass(seen: Seen): string {
    const request = {
      method: "POST",
      url: "https://api.anthropic.com/v1/messages",
      headers: [["content-type", "application/json"]] as const,
      body: Buffer.from(seen.body, "utf8"),
    }
    const notes = { laneId: seen.lane, follows: { stepIds: [], inferredBy: "test" } }
    const again = this.#retried?.body === seen.body ? this.#retried : undefined
    const call = again ? again.call.openTry(request, notes) : openWireCall(this.#run, request, notes)
    const { status, answer } = this.#answer(call!, seen)
    call!.responseStarted({ status, headers: [["content-type", "application/json"]] })
    call!.chunk(Buffer.from(answer, "utf8"))
    if (status >= 500 && !again) this.#retried = { body: seen.body, call: call!.becomeFirstTry()! }
    call!.end("complete")
    if (status < 500) {
      again?.call.close()
      this.#retried = undefined
    }
    return `${status} ${answer}`
  }

  tool(name: string, args: string, text: string): void {
    openInferredTool(this.#run, {
      name,
      callId: `id-${name}`,
      argumentText: args,
      inferredBy: "test",
      laneId: "lane-1",
    }).end({ text, status: "success" })
  }
}

const TRAFFIC: readonly Seen[] = [
  { lane: "lane-1", body: messages(["one"]), status: 200, answer: anthropicAnswer("first") },
  { lane: "lane-1", body: messages(["two"]), status: 529, answer: '{"error":{"message":"busy 1"}}' },
  { lane: "lane-1", body: messages(["two"]), status: 529, answer: '{"error":{"message":"busy 2"}}' },
  { lane: "lane-1", body: messages(["two"]), status: 200, answer: anthropicAnswer("second") },
  { lane: "lane-2", body: messages(["same"]), status: 200, answer: anthropicAnswer("left") },
  { lane: "lane-3", body: messages(["same"]), status: 200, answer: anthropicAnswer("right") },
]

function record() {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
  const run = recorder.startRun({ entrypoint: "agent" })
  const traffic = new Traffic(run, (_call, { status, answer }) => ({ status, answer }))
  for (const seen of TRAFFIC) traffic.pass(seen)
  traffic.tool("bash", '{"command":"rm -rf build"}', "gone")
  run.complete()
  recorder.close()
  const { bodies } = sink
  const events = sink.events.filter((event) => event.run_id !== null)
  return { events, bodies, tape: tapeFrom({ events, bodies }) }
}

function answerFrom(replay: ReplayRecorder): (call: WireCall) => { status: number; answer: string } {
  return (call) => {
    const outcome = replay.outcomeOf(call.step.id) as Outcome
    if (outcome.outcome !== "served")
      return { status: 422, answer: outcome.outcome === "diverged" ? outcome.divergence.code : outcome.outcome }
    return { status: outcome.answer.httpStatus!, answer: Buffer.from(outcome.bytes!).toString() }
  }
}

function replayTraffic(tape: Tape, traffic: readonly Seen[], more: Partial<Parameters<typeof replayRecorder>[1]> = {}) {
  const sink = new MemorySink()
  const replay = replayRecorder(tape, {
    app: "test",
    environment: "local",
    capture: "full",
    sink,
    covers: ["model", "http"],
    ...more,
  })
  const run = replay.recorder.startRun({ entrypoint: "agent" })
  const passing = new Traffic(run, answerFrom(replay))
  const answers = traffic.map((seen) => passing.pass(seen))
  passing.tool("bash", '{"command":"rm -rf build"}', "gone")
  run.complete()
  replay.close()
  return {
    replay,
    answers,
    recording: { ...recordingOf(sink), events: sink.events.filter((event) => event.run_id !== null) },
  }
}

test("[P-03] traffic of an agent nobody instrumented replays through a recorder alone: failed tries, lanes and all", () => {
  const source = record()
  const { replay, answers, recording } = replayTraffic(source.tape, TRAFFIC)
  expect(answers).toEqual(TRAFFIC.map(({ status, answer }) => `${status} ${answer}`))
  const certification = replay.certify(source)
  if (!certification.issued)
    throw new Error(JSON.stringify([certification.blocking, certification.report.divergences], null, 1))
  expect(certification.certificate.scope).toMatchObject({
    hermetic: false,
    tools_executed: 1,
    says: expect.stringMatching(/^models, plain requests: .*1 tool executed; not compared: 1 tool call\(s\); /),
  })
  expect(fingerprintOf(tapeFrom(recording), ["model", "http"], { source: source.tape })).toBe(
    fingerprintOf(source.tape, ["model", "http"]),
  )
  expect(recheckCertificate(certification.certificate, source, recording)).toMatchObject({ holds: true })
  const tool = recording.events.find((event) => event.event_type === "tool_called")!
  expect(tool).toMatchObject({
    determinism_mode: "live",
    replay: { source_step_id: source.tape.calls.find((call) => call.kind === "tool")!.stepId },
  })
})

test("[P-06] a certificate written anew, with an id that fits, may still claim no more than the recordings show", () => {
  const source = record()
  const { replay, recording } = replayTraffic(source.tape, TRAFFIC)
  const certification = replay.certify(source)
  if (!certification.issued) throw new Error(JSON.stringify(certification.blocking))
  const { id: _, ...honest } = certification.certificate
  const { scope, grades } = honest
  const forged: readonly Partial<Certificate>[] = [
    { scope: { ...scope, hermetic: true } },
    { scope: { ...scope, tools_executed: 0 } },
    { scope: { ...scope, says: "everything was the same" } },
    { scope: { ...scope, calls: scope.calls + 1 } },
    { scope: { ...scope, calls: scope.calls + 1 }, grades: { ...grades, wire: grades.wire + 1 } },
    { grades: { wire: grades.wire - 1, sig: grades.sig + 1, masked: 0 } },
    { driver: "engine" },
  ]
  for (const claim of forged) {
    const certificate = sealed({ ...honest, ...claim })
    expect(recheckCertificate(certificate, source, recording), JSON.stringify(claim)).toMatchObject({ holds: false })
  }
})

test("[P-01] lanes that come in another order still get their own answers", () => {
  const source = record()
  const other = TRAFFIC.map((seen) => ({
    ...seen,
    lane: { "lane-1": "lane-3", "lane-2": "lane-1", "lane-3": "lane-2" }[seen.lane]!,
  }))
  const { answers } = replayTraffic(source.tape, other.slice(0, 4))
  expect(answers).toEqual(TRAFFIC.slice(0, 4).map(({ status, answer }) => `${status} ${answer}`))
})

test("[P-07] an agent that would run its tools again by itself is a coverage gap", () => {
  const { tape } = record()
  expect(coverageGaps(tape, { covers: ["model", "http"] })).toEqual([
    expect.objectContaining({ tool: "bash", effect: "unknown" }),
  ])
})

test("[P-04] what a tool gave back is changed in the request that carries it, where the agent runs its tools by itself", () => {
  const conversation = (result: string): string =>
    JSON.stringify({
      model: "claude-x",
      max_tokens: 9,
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id: "id-bash", name: "bash", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "id-bash", content: result }] },
      ],
    })
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
  const run = recorder.startRun({ entrypoint: "agent" })
  const traffic = new Traffic(run, (_call, { status, answer }) => ({ status, answer }))
  const first: Seen = { lane: "lane-1", body: messages(["go"]), status: 200, answer: anthropicAnswer("calling") }
  const second: Seen = { lane: "lane-1", body: conversation("exit 1"), status: 200, answer: anthropicAnswer("failed") }
  traffic.pass(first)
  traffic.tool("bash", "{}", "exit 1")
  traffic.pass(second)
  run.complete()
  recorder.close()
  const { tape } = recordingOf(sink)
  const profile = parseProfile({
    schema_version: 1,
    scope: "whole_run",
    rules: [{ id: "ok", select: { tool: "bash" }, op: { type: "tool.result", result: { inline: "exit 0" } } }],
  })
  const plan = planFork(tape, { stepId: tape.calls.find((call) => call.kind === "tool")!.stepId, profile })
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems))
  expect(plan.fork.notes.map(({ code }) => code)).toContain("FORK_SNAPPED")
  const replay = replayRecorder(tape, {
    app: "test",
    environment: "local",
    capture: "full",
    sink: new MemorySink(),
    fork: plan.fork,
  })
  const passing = new Traffic(replay.recorder.startRun({ entrypoint: "agent" }), (call, seen) => {
    const outcome = replay.outcomeOf(call.step.id)
    if (outcome?.outcome === "served") return { status: 200, answer: Buffer.from(outcome.bytes!).toString() }
    if (outcome?.outcome !== "live") throw new Error(JSON.stringify(outcome))
    expect(Buffer.from(outcome.request!.body).toString()).toBe(conversation("exit 0"))
    return { status: 200, answer: seen.answer }
  })
  expect(passing.pass(first)).toContain("calling")
  passing.pass(second)
  expect(replay.session.report().counts).toMatchObject({ wire: 1, live: 1 })
})

test("[P-08] an edge that speaks HTTP is told what to do with each request: answer by plan, break off, forward or refuse", () => {
  const source = record()
  const sink = new MemorySink()
  const replay = replayRecorder(source.tape, {
    app: "test",
    environment: "local",
    capture: "full",
    sink,
    policy: { chunking: "single" },
  })
  const run = replay.recorder.startRun({ entrypoint: "agent" })
  const open = (body: string) => {
    const headers = [["content-type", "application/json"]] as const
    const request = { method: "POST", url: "https://api.anthropic.com/v1/messages", headers, body: Buffer.from(body) }
    return replay.wireAnswerOf(openWireCall(run, request, { laneId: "lane-1" })!.step.id)
  }
  expect(open(messages(["one"]))).toMatchObject({
    does: "answer",
    status: 200,
    headers: [
      ["content-type", "application/json"],
      ["x-orangebox-mode", "exact"],
      ["x-orangebox-source-step", source.tape.calls[0]!.stepId],
    ],
    plan: { pieces: [{ atMs: 0, bytes: Buffer.from(anthropicAnswer("first")) }], end: { how: "complete" } },
  })
  expect(open(messages(["never asked"]))).toMatchObject({ does: "refuse", response: { status: 422 } })
  expect(sink.events.at(-1)!.attributes ?? sink.events.at(-2)!.attributes).toMatchObject({ divergence: "REQ_CHANGED" })
})
