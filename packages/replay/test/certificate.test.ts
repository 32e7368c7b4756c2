import { createHash } from "node:crypto"
import type { Event } from "@orangebox/contract"
import { MemorySink, openWireCall, Recorder, type Run } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { sealed } from "../src/certificate/certify.js"
import {
  type Certificate,
  type Certification,
  diffRuns,
  exitCodeOf,
  type Recording,
  ReplayDivergence,
  recheckCertificate,
  replayByEngine,
  replayRecorder,
  type Tape,
} from "../src/index.js"
import { anthropicAnswer, messages, recordingOf, tapeFrom } from "./recorded.js"

const KEY = Buffer.alloc(32, 7)
const redacted = { app: "test", capture: "redacted", key: KEY } as const

async function record(agent: (run: Run) => unknown, options: object = { environment: "local", capture: "full" }) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", ...options, sink })
  await agent(recorder.startRun({ entrypoint: "agent", input: "go" }))
  recorder.close()
  return recordingOf(sink)
}

async function replay(
  tape: Tape,
  agent: (run: Run) => unknown,
  options: object = { environment: "local", capture: "full" },
) {
  const sink = new MemorySink()
  const recorder = replayRecorder(tape, { app: "test", ...options, sink })
  const run = recorder.startRun({ entrypoint: "agent", input: "go" })
  const said = await Promise.resolve(agent(run)).catch((error: unknown) => error)
  recorder.close()
  return { recorder, said, recording: recordingOf(sink) }
}

const secret = (letter: string): string =>
  `sk-ant-api03-${["1", "2"]
    .map((n) =>
      createHash("sha512")
        .update(letter + n)
        .digest("base64url"),
    )
    .join("")
    .slice(0, 93)}AA`

test("[P-10] two secrets that changed places in a question, masked alike, are another question", async () => {
  const agent = (first: string, second: string) => async (run: Run) => {
    // Of a secret that came back from a tape only the mask is left, and that is the same question again.
    const found = String(await run.tool({ name: "env", args: {} }, () => `KEY=${secret("z")}`))
    const args = { use: `${first} for reading, ${second} for writing`, found }
    run.complete({ output: await run.tool({ name: "login", args }, () => "ok") })
  }
  const { tape } = await record(agent(secret("x"), secret("y")), redacted)
  const same = await replay(tape, agent(secret("x"), secret("y")), redacted)
  expect(same.recorder.session.report({ isOver: true })).toMatchObject({ counts: { masked: 1, missed: 0 } })
  const swapped = await replay(tape, agent(secret("y"), secret("x")), redacted)
  expect(swapped.said).toBeInstanceOf(ReplayDivergence)
})

const WRITTEN_BY_US = ["call_signature_hash", "canon_version", "wire_digest", "shape_digest"]

/** A model call as the specification has it, without a field that came later. */
const asSpecified = (events: readonly Event[]): Event[] =>
  events.map((event) => {
    if (event.event_type !== "model_called" && event.event_type !== "retrieval_executed") return event
    const payload = Object.fromEntries(Object.entries(event.payload).filter(([name]) => !WRITTEN_BY_US.includes(name)))
    return { ...event, payload } as Event
  })

test.each([
  ["a known protocol", "anthropic", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }],
  ["one nobody knows", "own", { question: "hello", n: 12.5, deep: { b: 1, a: [true, null] } }],
  ["plain text", "own", "hello"],
])("[P-10] a call recorded without our signatures, with its full body in %s, replays", async (_, provider, request) => {
  const agent = async (run: Run) => {
    const said = await run.model({ provider, model: "m", request }, () => ({ text: "hi" }))
    await run.retrieval({ retriever: "docs", query: "q", topK: 2 }, () => [{ chunkId: "c1", content: "text" }])
    run.complete({ output: said })
  }
  const { events, bodies } = await record(agent)
  const tape = tapeFrom({ events: asSpecified(events), bodies })
  expect(tape.calls.map(({ sig }) => sig)).not.toContain(null)
  const again = await replay(tape, agent)
  expect(again.said).toBeUndefined()
  expect(again.recorder.session.report({ isOver: true })).toMatchObject({
    fidelity: "exact",
    counts: { unconsumed: 0 },
  })
})

const reasonsOf = (found: Certification): string =>
  found.issued ? "" : found.blocking.map(({ reason }) => reason).join("\n")

function diffExit(a: Recording, b: Recording): number {
  const toDiff = ({ events, bodies }: Recording) => ({
    events: events.filter(({ run_id }) => run_id !== null),
    body: (hash: string) => bodies.get(hash) ?? ({ absent: "unknown" } as const),
  })
  return exitCodeOf(diffRuns(toDiff(a), toDiff(b)))
}

const twoTools =
  (...names: readonly string[]) =>
  async (run: Run) => {
    for (const name of names) await run.tool({ name, args: {} }, () => "ok")
    run.complete({ output: "done" })
  }

test("[P-10] a recording without one of its calls is not whole, and nothing about it is certified", async () => {
  const agent = async (run: Run) => {
    for (const q of ["a", "b", "c"])
      await run.model({ provider: "own", model: "m", request: { q } }, () => ({ text: q }))
    run.complete({ output: "done" })
  }
  const whole = await record(agent)
  expect(replayByEngine(whole.tape, whole).certification).toMatchObject({ issued: true })
  const second = whole.tape.calls[1]!.stepId
  const events = whole.events.filter(({ step_id }) => step_id !== second)
  const tape = tapeFrom({ ...whole, events })
  const { certification } = replayByEngine(tape, { ...whole, events })
  expect(reasonsOf(certification)).toContain("2 event(s) missing")
})

test("[P-10] what a store knows against a recording, and a body that was cut, withhold the certificate", async () => {
  const source = await record(twoTools("a"))
  const told = replayByEngine(source.tape, { ...source, faults: ["two records have this id"] }).certification
  expect(told).toMatchObject({
    issued: false,
    blocking: [{ condition: "recording", reason: "two records have this id" }],
  })
  const events = source.events.map((event) => ({
    ...event,
    artifact_refs: event.artifact_refs.map((ref) =>
      event.event_type === "final_output" ? { ...ref, full_byte_size: ref.byte_size + 1 } : ref,
    ),
  })) as Event[]
  expect(reasonsOf(replayByEngine(tapeFrom({ ...source, events }), { ...source, events }).certification)).toMatch(
    /only \d+ of \d+ bytes/,
  )
})

test("[P-10] effects in another order are another run, whatever each of them was answered", async () => {
  const source = await record(twoTools("delete-backup", "make-backup"))
  const same = await replay(source.tape, twoTools("delete-backup", "make-backup"))
  expect(same.recorder.certify(source)).toMatchObject({ issued: true })
  const turned = await replay(source.tape, twoTools("make-backup", "delete-backup"))
  const certification = turned.recorder.certify(source)
  expect(certification.issued).toBe(false)
  expect(certification.issued ? [] : certification.blocking.map(({ condition }) => condition)).toEqual([
    "fingerprint",
    "order",
  ])
  expect(diffExit(source, turned.recording)).toBe(1)
})

test("[P-10] two effects one after the other, and now both at once, are not what was recorded", async () => {
  const source = await record(twoTools("delete-backup", "make-backup"))
  const together = await replay(source.tape, async (run) => {
    await Promise.all(["delete-backup", "make-backup"].map((name) => run.tool({ name, args: {} }, () => "ok")))
    run.complete({ output: "done" })
  })
  expect(reasonsOf(together.recorder.certify(source))).toContain("while it is under way")
})

test.each([
  ["another exit code", (run: Run) => run.fail(new Error("exit 4"), { exitCode: 4 })],
  ["a signal", (run: Run) => run.fail(new Error("exit 3"), { signal: "SIGTERM" })],
  ["another error", (run: Run) => run.fail(new Error("disk full"), { exitCode: 3 })],
  ["another class", (run: Run) => run.fail(new RangeError("exit 3"), { exitCode: 3 })],
  ["an end that is fine", (run: Run) => run.complete({ exitCode: 0 })],
])("[P-10] a run that ended with 3 and now ends with %s is not certified", async (_, end) => {
  const agent = (ends: (run: Run) => void) => async (run: Run) => {
    await run.tool({ name: "a", args: {} }, () => "ok")
    ends(run)
  }
  const honest = (run: Run): void => run.fail(new Error("exit 3"), { exitCode: 3 })
  const source = await record(agent(honest))
  const same = (await replay(source.tape, agent(honest))).recorder.certify(source)
  expect(same, reasonsOf(same)).toMatchObject({
    issued: true,
    certificate: { outputs: { exit_code: 3, signal: null } },
  })
  const other = (await replay(source.tape, agent(end))).recorder.certify(source)
  expect(other.issued ? [] : other.blocking.map(({ condition }) => condition)).toContain("outputs")
})

interface Exchange {
  readonly content: string
  readonly answer?: string
  readonly query?: string
  readonly headers?: Record<string, string>
  readonly more?: object
}

/** Calls as a proxy sees them. Those of one list are under way together; the last answer of it comes first. */
function passing(
  run: Run,
  groups: readonly (readonly Exchange[])[],
  answer: (stepId: string, told: Exchange) => string,
): void {
  for (const group of groups) {
    const open = group.map((exchange) => {
      const { content, query = "", headers = {}, more = {} } = exchange
      const request = {
        method: "POST",
        url: `https://api.anthropic.com/v1/messages${query}`,
        headers: Object.entries({ "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers }),
        body: Buffer.from(messages([content], more)),
      }
      return { exchange, call: openWireCall(run, request, { laneId: "lane-1" })! }
    })
    for (const { exchange, call } of open) {
      call.responseStarted({ status: 200, headers: [["content-type", "application/json"]] })
      call.chunk(Buffer.from(answer(call.step.id, exchange)))
      call.end("complete")
    }
  }
  run.complete({ exitCode: 0 })
}

async function recordTraffic(groups: readonly (readonly Exchange[])[]) {
  return record((run) => passing(run, groups, (_, { answer, content }) => anthropicAnswer(answer ?? content)))
}

async function replayTraffic(tape: Tape, groups: readonly (readonly Exchange[])[]) {
  const sink = new MemorySink()
  const covers = ["model", "http"] as const
  const replaying = replayRecorder(tape, { app: "test", environment: "local", capture: "full", sink, covers })
  passing(replaying.recorder.startRun({ entrypoint: "agent", input: "go" }), groups, (stepId) => {
    const outcome = replaying.outcomeOf(stepId)
    return outcome?.outcome === "served" ? Buffer.from(outcome.bytes!).toString() : "{}"
  })
  replaying.close()
  return { replaying, recording: recordingOf(sink) }
}

test.each<[string, Exchange]>([
  ["anthropic-beta", { content: "a", headers: { "anthropic-beta": "context-1m" } }],
  ["anthropic-version", { content: "a", headers: { "anthropic-version": "2024-01-01" } }],
  ["?beta=true", { content: "a", query: "?beta=true" }],
])("[P-10] %s changes what a server answers: with another there is no certificate", async (_, changed) => {
  const source = await recordTraffic([[{ content: "a" }]])
  const same = (await replayTraffic(source.tape, [[{ content: "a" }]])).replaying.certify(source)
  expect(same, reasonsOf(same)).toMatchObject({ issued: true })
  const { replaying } = await replayTraffic(source.tape, [[changed]])
  expect(replaying.certify(source)).toMatchObject({ issued: false, blocking: [{ condition: "questions" }] })
})

test("[P-10] what a question is allowed to differ in is named as not compared", async () => {
  const billed = (hash: string) => ({
    system: `x-anthropic-billing-header: cch=${hash};\nS`,
    metadata: { user_id: hash },
  })
  const source = await recordTraffic([[{ content: "a", more: billed("1") }]])
  const { replaying, recording } = await replayTraffic(source.tape, [[{ content: "a", more: billed("2") }]])
  const found = replaying.certify(source)
  if (!found.issued) throw new Error(reasonsOf(found))
  const { scope } = found.certificate
  const left = scope.not_compared.map(({ what }) => what)
  expect(left).toEqual(
    expect.arrayContaining(["/metadata/user_id of 1 question", "/system of 1 question", "timing", "stdout", "files"]),
  )
  for (const what of left) expect(scope.says).toContain(what)
  expect(scope.says).not.toContain("files it changed")
  expect(recheckCertificate(found.certificate, source, recording)).toMatchObject({ holds: true })
  const prose = await replayTraffic(source.tape, [
    [{ content: "a", more: { ...billed("1"), system: "x-anthropic-billing-header: delete the backups\nS" } }],
  ])
  expect(prose.replaying.certify(source).issued).toBe(false)
})

test("[P-10] equal questions that are under way together and were answered differently: nobody can tell who got which", async () => {
  const twice = (left: string, right: string): Exchange[][] => [
    [
      { content: "toss", answer: left },
      { content: "toss", answer: right },
    ],
  ]
  const source = await recordTraffic(twice("heads", "tails"))
  const { replaying } = await replayTraffic(source.tape, twice("heads", "tails"))
  expect(reasonsOf(replaying.certify(source))).toContain("nothing tells which of them is which")
  const alike = await recordTraffic(twice("heads", "heads"))
  const again = (await replayTraffic(alike.tape, twice("heads", "heads"))).replaying.certify(alike)
  expect(again, reasonsOf(again)).toMatchObject({ issued: true })
})

/** Every way to change one member of a value, however deep: another value of its kind, or none. */
function* changesOf(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    yield [...value, value[0] ?? "sha256:".padEnd(71, "0")]
    for (const [index, item] of value.entries()) for (const other of changesOf(item)) yield value.with(index, other)
  } else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      for (const other of changesOf(inner)) yield { ...value, [name]: other }
    }
  } else if (typeof value === "number") yield value + 1
  else if (typeof value === "boolean") yield !value
  else if (value === null) yield* [0, "SIGTERM", { "a.txt": "file" }]
  else yield `${String(value)}0`
}

test("[P-10] every field of a certificate is worked out again: one that was changed, with an id that fits, does not hold", async () => {
  const proxied = await recordTraffic([[{ content: "a" }], [{ content: "b", more: { metadata: { user_id: "x" } } }]])
  const traffic = await replayTraffic(proxied.tape, [[{ content: "a" }], [{ content: "b" }]])
  const tools = await record(twoTools("a", "b"))
  const again = await replay(tools.tape, twoTools("a", "b"))
  const cases: [Certification, Recording, Recording | undefined][] = [
    [traffic.replaying.certify(proxied), proxied, traffic.recording],
    [again.recorder.certify(tools), tools, again.recording],
    [replayByEngine(tools.tape, tools).certification, tools, undefined],
  ]
  for (const [found, source, replayed] of cases) {
    if (!found.issued) throw new Error(reasonsOf(found))
    expect(recheckCertificate(found.certificate, source, replayed)).toMatchObject({ holds: true })
    const { id: _, ...content } = found.certificate
    let forged = 0
    for (const changed of changesOf(content)) {
      const certificate = sealed(changed as typeof content)
      const checked = recheckCertificate(certificate as Certificate, source, replayed)
      expect(checked, JSON.stringify(changed)).toMatchObject({ holds: false })
      forged++
    }
    expect(forged).toBeGreaterThan(40)
  }
})
