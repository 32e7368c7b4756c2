import { createHash } from "node:crypto"
import type { Event } from "@orangebox/contract"
import { MemorySink, openWireCall, Recorder, type Run } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
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
import { anthropicAnswer, messages, recordingOf, tapeFrom, withUpstream } from "./recorded.js"

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

/** They mask alike: of each the first and the last three letters are shown. */
const secret = (letter: string): string =>
  `sk-ant-api03-${["1", "2"]
    .map((n) =>
      createHash("sha512")
        .update(letter + n)
        .digest("base64url"),
    )
    .join("")
    .slice(0, 92)}zAA`

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

test("[P-10] a secret that came back as its mask, where another recorded secret has the same mask: nothing tells which it is", async () => {
  const agent = (found: string, others: readonly string[]) => async (run: Run) => {
    const env = String(await run.tool({ name: "env", args: {} }, () => `KEY=${found}`))
    const answers = []
    for (const key of [env, ...others]) answers.push(await run.tool({ name: "login", args: { key } }, () => "ok"))
    run.complete({ output: answers.join() })
  }
  const alone = await record(agent(secret("x"), []), redacted)
  const certified = (await replay(alone.tape, agent("", []), redacted)).recorder.certify(alone)
  expect(certified, reasonsOf(certified)).toMatchObject({ issued: true })
  const both = await record(agent(secret("x"), [`TOKEN=${secret("y")}`]), redacted)
  const unsure = (await replay(both.tape, agent("", [`TOKEN=${secret("y")}`]), redacted)).recorder.certify(both)
  expect(unsure.issued ? [] : unsure.blocking).toEqual([
    {
      condition: "questions",
      reason: "1 secret came back as a mask that stands for several: nothing tells which of them is which",
    },
  ])
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

const toDiff = ({ events, bodies }: Recording) => ({
  events: events.filter(({ run_id }) => run_id !== null),
  body: (hash: string) => bodies.get(hash) ?? ({ absent: "unknown" } as const),
})

const diffExit = (a: Recording, b: Recording): number => exitCodeOf(diffRuns(toDiff(a), toDiff(b)))

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
  expect(reasonsOf(certification)).toContain("2 events are missing")
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

test("[P-10] files of a replay whose tools were answered say nothing: the diff notes it, and the certificate, in the same words", async () => {
  const look = (run: Run, id: string, paths: readonly string[]) =>
    run.artifact({
      id,
      type: "workspace_snapshot",
      summary: "files",
      content: {
        ...{ version: 1, root: "/repo", folder: "", base: "a".repeat(40), head: "a".repeat(40), branch: "main" },
        ...{ at_step: null, left_out: [], left_out_more: 0 },
        files: paths.map((path) => ({ path, kind: "deleted", hash: "gone", byte_size: null, content: null })),
      },
    })
  const removing = async (run: Run) => {
    const gone: string[] = []
    look(run, "workspace/before", gone)
    const said = await run.tool({ name: "remove", args: { path: "a.txt" } }, () => gone.push("a.txt") && "removed")
    look(run, "workspace/after", gone)
    run.complete({ output: said })
  }
  const source = await record(removing)
  const { recorder, recording } = await replay(source.tape, removing)
  const why = "the tools of the replay were answered from the recording, and changed none"
  const diff = diffRuns(toDiff(source), toDiff(recording))
  expect(diff.notes).toContainEqual({ code: "FILES_NOT_COMPARED", text: `files were not compared: ${why}` })
  expect(diff.outcome).toMatchObject({ files: null, files_not_compared: why })
  expect(exitCodeOf(diff)).toBe(0)
  const found = recorder.certify(source)
  if (!found.issued) throw new Error(reasonsOf(found))
  expect(found.certificate.scope.not_compared).toContainEqual({ what: "files", why })
  // Two runs that both did it are compared, and there is nothing to note.
  const again = diffRuns(toDiff(source), toDiff(await record(removing)))
  expect([again.notes, again.outcome.files]).toEqual([[], expect.anything()])
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

test.each([
  ["effects", (run: Run, name: string) => run.tool({ name, args: {} }, () => "ok")],
  [
    "questions",
    (run: Run, q: string) => run.model({ provider: "own", model: "m", request: { q } }, () => ({ text: "ok" })),
  ],
  ["searches", (run: Run, query: string) => run.retrieval({ retriever: "docs", query, topK: 1 }, () => [])],
] as const)("[P-10] two %s one after the other, and now both at once, are not what was recorded", async (_, call) => {
  const inTurn = async (run: Run) => {
    for (const name of ["delete-backup", "make-backup"]) await call(run, name)
    run.complete({ output: "done" })
  }
  const source = await record(inTurn)
  const same = (await replay(source.tape, inTurn)).recorder.certify(source)
  if (!same.issued) throw new Error(reasonsOf(same))
  expect(same.certificate.scope.says).toContain("which calls wait for the answers of others")
  const together = await replay(source.tape, async (run) => {
    await Promise.all(["delete-backup", "make-backup"].map((name) => call(run, name)))
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
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly more?: object
  /** No question to a model: nothing is posted. */
  readonly isPlain?: true
}

/** Calls as a proxy sees them. Those of one list are under way together; the last answer of it comes first. */
function passing(
  run: Run,
  groups: readonly (readonly Exchange[])[],
  answer: (stepId: string, told: Exchange) => string,
): void {
  for (const group of groups) {
    const open = group.map((exchange) => {
      const { content, path = "/v1/messages", query = "", headers = {}, more = {}, isPlain } = exchange
      const request = {
        method: isPlain ? "GET" : "POST",
        url: `https://api.anthropic.com${path}${query}`,
        headers: Object.entries({ "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers }),
        body: Buffer.from(isPlain ? "" : messages([content], more)),
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

const full = { app: "test", environment: "local", capture: "full" } as const

async function recordTraffic(groups: readonly (readonly Exchange[])[], options: object = full) {
  return record((run) => passing(run, groups, (_, { answer, content }) => anthropicAnswer(answer ?? content)), options)
}

async function replayTraffic(
  tape: Tape,
  groups: readonly (readonly Exchange[])[],
  options: typeof full | typeof redacted = full,
) {
  const sink = new MemorySink()
  const covers = ["model", "http"] as const
  const replaying = replayRecorder(tape, { ...options, sink, covers })
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

test.each<[string, Partial<Exchange>, Partial<Exchange>]>([
  ["a prefix", {}, { path: "/other/v1/messages" }],
  ["a double slash", {}, { path: "//v1/messages" }],
  ["a slash at its end", {}, { path: "/v1/messages/" }],
  ["another version", { path: "/v1beta/messages" }, { path: "/v1alpha/messages" }],
  ["a query in another order", { query: "?a=1&a=2" }, { query: "?a=2&a=1" }],
  ["one parameter more", { query: "?a=1" }, { query: "?a=1&a=1" }],
])("[P-10] an address with %s is another address: no certificate", async (_, was, is) => {
  const source = await recordTraffic([[{ content: "a", ...was }]])
  const same = (await replayTraffic(source.tape, [[{ content: "a", ...was }]])).replaying.certify(source)
  expect(same, reasonsOf(same)).toMatchObject({ issued: true })
  const { replaying } = await replayTraffic(source.tape, [[{ content: "a", ...is }]])
  expect(reasonsOf(replaying.certify(source))).toMatch(/the (?:path|query) of .* differ/)
})

test("[P-10] behind the proxy the host is excepted, and a masked parameter: the certificate names both", async () => {
  const asked = [[{ content: "a", query: "?key=AIzaSyB0123456789abcdefghijklmnopqrstuv&alt=sse" }]]
  const source = await recordTraffic(asked)
  const found = (await replayTraffic(source.tape, asked)).replaying.certify(source)
  if (!found.issued) throw new Error(reasonsOf(found))
  const left = found.certificate.scope.not_compared.map(({ what }) => what)
  expect(left).toEqual(expect.arrayContaining(["the host of 1 question", "the value of ?key of 1 question"]))
  expect(found.certificate.scope.says).toContain("paths and queries")
})

const inPath = (first: string, second: string) => ({ content: "a", path: `/keys/${first}/for/${second}/v1/messages` })
const inQuery = (first: string, second: string) => ({ content: "a", query: `?document=${first}&folder=${second}` })

describe.each([
  ["the path of a model call", inPath, "what is masked in the path of 1 question"],
  ["the query of a model call", inQuery, "the value of ?document of 1 question"],
  [
    "the path of a plain request",
    (first: string, second: string) => ({ content: "a", path: `/keys/${first}/${second}`, isPlain: true as const }),
    "what is masked in the path of 1 question",
  ],
])("[P-10] secrets masked in %s", (_, address, name) => {
  const [x, y] = [secret("x"), secret("y")]

  test("that changed places, masked alike, are another question", async () => {
    const source = await recordTraffic([[address(x, y)]], redacted)
    expect(JSON.stringify(source.events)).not.toContain(x.slice(20, 60))
    const same = (await replayTraffic(source.tape, [[address(x, y)]], redacted)).replaying.certify(source)
    expect(same, reasonsOf(same)).toMatchObject({ issued: true })
    expect(same.issued && same.certificate.scope.says).not.toContain("mask")
    const swapped = await replayTraffic(source.tape, [[address(y, x)]], redacted)
    expect(reasonsOf(swapped.replaying.certify(source))).toContain("the masked parts of the address of")
  })

  test("are named as not compared where a recorder made no tags", async () => {
    const { events, bodies } = await recordTraffic([[address(x, y)]], redacted)
    const untagged = events.map((event) => {
      const { url_tags: _, ...attributes } = event.attributes ?? {}
      return event.attributes ? ({ ...event, attributes } as Event) : event
    })
    const source = { events: untagged, bodies, tape: tapeFrom({ events: untagged, bodies }) }
    const found = (await replayTraffic(source.tape, [[address(x, y)]], redacted)).replaying.certify(source)
    if (!found.issued) throw new Error(reasonsOf(found))
    expect(found.certificate.scope.not_compared.map(({ what }) => what)).toContain(name)
  })
})

test.each(["own", "anthropic"])(
  "[P-10] a question told of another model of %s is not the recorded one, and is not answered",
  async (provider) => {
    const asking = (model: string) => async (run: Run) => {
      const request = { max_tokens: 9, messages: [{ role: "user", content: "hello" }] }
      run.complete({ output: await run.model({ provider, model, request }, () => ({ text: "hi" })) })
    }
    const source = await record(asking("small"))
    const same = (await replay(source.tape, asking("small"))).recorder.certify(source)
    expect(same, reasonsOf(same)).toMatchObject({ issued: true })
    const other = await replay(source.tape, asking("large"))
    expect(String(other.said)).toContain("recorded to small and is asked of large")
    expect(other.recorder.certify(source).issued).toBe(false)
  },
)

test("[P-10] an SDK that asks another host does not ask the recorded question", async () => {
  const asking = (origin: string) => async (run: Run) => {
    const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" }
    const said = await run.fetch(`${origin}/v1/messages`, { method: "POST", headers, body: messages(["a"]) })
    run.complete({ output: await said.text() })
  }
  await withUpstream(
    (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(anthropicAnswer("hi")),
    async (url) => {
      const source = await record(asking(url))
      const same = (await replay(source.tape, asking(url))).recorder.certify(source)
      expect(same, reasonsOf(same)).toMatchObject({ issued: true })
      const other = await replay(source.tape, asking("http://127.0.0.1:9"))
      expect(reasonsOf(other.recorder.certify(source))).toContain("the host of")
    },
  )
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
