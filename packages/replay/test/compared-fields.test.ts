import { bodyHash, type Event, payloadOf, refFieldsOf, validate } from "@orangebox/contract"
import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { beforeAll, describe, expect, test } from "vitest"
import { ENVELOPE, FIELDS } from "../src/certificate/compared-fields.js"
import { type Certificate, type Recording, recheckCertificate, replayRecorder } from "../src/index.js"
import { anthropicAnswer, messages, recordingOf, withUpstream } from "./recorded.js"

const OPTIONS = { app: "test", environment: "local", capture: "full" } as const
const CONSTRAINTS = [{ id: "brief", type: "other" as const, rule: "be brief" }]

/** Leaves something in every field that is said to be compared, but for those of an end that fails. */
const works = (url: string) => async (run: Run) => {
  run.inputReceived({ value: "go", channels: ["user"], policyLabels: ["public"] })
  const step = run.child("plan", {}, { kind: "queue.deliver", body: { n: 1 } })
  const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }
  await step.model({ provider: "anthropic", model: "m", request }, () => ({ role: "assistant", content: [] }))
  await step.tool({ name: "write", args: { path: "a" } }, () => "written")
  await step.retrieval({ retriever: "docs", version: "2", query: "q", topK: 2, filters: { lang: "en" } }, () => [
    { chunkId: "c1", content: "text" },
  ])
  step.end({ body: { n: 2 } })
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" }
  const address = `${url}/v1/messages?beta=true`
  await (await run.fetch(address, { method: "POST", headers, body: messages(["one"]) })).text()
  run.validatorDecision({ name: "schema", decision: "pass", reason: "it fits" })
  run.safetyDecision({ policy: "secrets", decision: "allow", reason: "none" })
  run.decide({ action: "edit", summary: "wrote a", detail: { path: "a" } })
  run.artifact({
    ...{ id: "fix", type: "diff", summary: "one line", content: "- a\n+ b\n", path: "a.txt", exitCode: 0 },
    ...{ linesAdded: 1, linesRemoved: 1, netLinesAdded: 0, netLinesRemoved: 0 },
  })
  run.finalOutput({ value: "done", citations: ["c1"], channel: "chat" })
  run.complete({ exitCode: 0 })
}

const fails = (url: string) => async (run: Run) => {
  const calls = [
    () => run.tool({ name: "write", args: { path: "b" } }, () => Promise.reject(new RangeError("full"))),
    () => run.model({ provider: "own", model: "m", request: { q: 1 } }, () => Promise.reject(new TypeError("busy"))),
    async () => (await run.fetch(`${url}/gone`, { method: "DELETE" })).text(),
  ]
  for (const call of calls) await Promise.resolve(call()).catch(() => {})
  run.child("tidy up").end({ err: new Error("nothing to tidy") })
  run.fail(new Error("exit 3"), { exitCode: 3 })
}

interface Replayed {
  readonly source: Recording
  readonly replay: Recording
  readonly certificate: Certificate
}

async function recordAndReplay(agent: (url: string) => (run: Run) => Promise<void>): Promise<Replayed> {
  return withUpstream(
    ({ body }, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer(body))
    },
    async (url) => {
      const sink = new MemorySink()
      const recorder = Recorder.open({ ...OPTIONS, sink })
      const start = { entrypoint: "agent", input: "go", channel: "cli", constraints: CONSTRAINTS } as never
      await agent(url)(recorder.startRun(start))
      recorder.close()
      const source = recordingOf(sink)
      const replayed = new MemorySink()
      const replay = replayRecorder(source.tape, { ...OPTIONS, sink: replayed })
      await agent(url)(replay.startRun(start))
      replay.close()
      const certification = replay.certify(source)
      if (!certification.issued) throw new Error(JSON.stringify(certification.blocking, null, 1))
      return { source, replay: recordingOf(replayed), certificate: certification.certificate }
    },
  )
}

/** Why there is no certificate for these two recordings; that an old one has other digests is no reason. */
function refusals({ source, replay, certificate }: Replayed): readonly string[] {
  const found = recheckCertificate(certificate, source, replay)
  return found.holds
    ? []
    : found.reasons.filter((reason) => !/^[a-z_]+(?:\.[a-z_]+)? is .*, and the recordings say /s.test(reason))
}

const with1 = ({ events, bodies }: Recording, was: Event, is: Event, body?: Uint8Array): Recording => ({
  events: events.map((event) => (event === was ? is : event)),
  bodies: { get: (hash) => (body && hash === bodyHash(body) ? body : bodies.get(hash)) },
})

const WORDS = [
  "plan",
  "commit",
  "failed",
  "error",
  "block",
  "fail",
  "warn",
  "deny",
  "tool",
  "cancelled",
  "timeout",
  "partial",
  "SIGTERM",
]

/** Other values of the same sort, the likeliest first. */
function others(value: unknown): readonly unknown[] {
  if (typeof value === "number") return [value + 1]
  if (typeof value === "boolean") return [!value]
  if (Array.isArray(value)) return [[...value, "more"], value.slice(1)]
  if (typeof value === "object" && value !== null) return [{ ...value, more: 1 }]
  const text = String(value)
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return [`${text.slice(0, -1)}${text.endsWith("0") ? 1 : 0}`]
  return [`${text}x`, ...WORDS.filter((word) => word !== text)]
}

/** Another body in the place of one: of an error its message, which is what it says; of anything else its last letter. */
function otherBody(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("utf8")
  // Of headers one that is said to change an answer.
  if (text.includes("2023-06-01")) return Buffer.from(text.replace("2023-06-01", "2024-10-22"))
  if (text.startsWith("[{") && text.includes('"message"'))
    return Buffer.from(text.replace('"message":"', '"message":"not '))
  return Buffer.from(text.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (letter) => (letter === "x" ? "y" : "x")))
}

/** The replay with one field of one event changed; undefined where nothing else would be valid there. */
function changed(replay: Recording, event: Event, field: string): Recording | undefined {
  const payload = payloadOf(event)
  const value = payload[field]
  if (refFieldsOf(event.event_type).includes(field)) {
    const bytes = replay.bodies.get(String(value))
    if (bytes === undefined) return undefined
    const body = otherBody(bytes)
    const artifact_refs = event.artifact_refs.map((ref) =>
      ref.artifact_hash === value ? { ...ref, artifact_hash: bodyHash(body), byte_size: body.length } : ref,
    )
    const is = { ...event, artifact_refs, payload: { ...payload, [field]: bodyHash(body) } } as Event
    return with1(replay, event, is, body)
  }
  for (const other of others(value)) {
    const is = { ...event, payload: { ...payload, [field]: other } } as Event
    if (validate(is).every(({ severity }) => severity === "open")) return with1(replay, event, is)
  }
  return undefined
}

const STDOUT = Buffer.from("hello")

/** The same two recordings with more on record, in both of them alike: what only a command has, or only some writers tell. */
function inBoth(run: Replayed, type: Event["event_type"], more: object): Replayed {
  const told = ({ events, bodies }: Recording): Recording => ({
    events: events.map((event) => {
      if (event.event_type !== type) return event
      const [some] = events.flatMap(({ artifact_refs }) => artifact_refs)
      const stdout = { ...some, artifact_type: "stdout", artifact_hash: bodyHash(STDOUT), byte_size: STDOUT.length }
      const refs = Object.values(more).includes(bodyHash(STDOUT)) ? [stdout] : []
      return {
        ...event,
        artifact_refs: [...event.artifact_refs, ...refs],
        payload: { ...event.payload, ...more },
      } as Event
    }),
    bodies: { get: (hash) => (hash === bodyHash(STDOUT) ? STDOUT : bodies.get(hash)) },
  })
  return { ...run, source: told(run.source), replay: told(run.replay) }
}

/** They have one value. */
const FIXED = ["run_completed.status", "run_failed.status"]

const isThere = (value: unknown): boolean => value !== undefined && value !== null

describe("[P-10] the table of what a certificate compares is true", () => {
  let runs: readonly Replayed[]
  beforeAll(async () => {
    const [worked, failed] = [await recordAndReplay(works), await recordAndReplay(fails)]
    const written = { stdout_bytes: 5, stdout_ref: bodyHash(STDOUT) }
    const ofMore = { stdout_bytes: 5, stdout_digest: `hmac-sha256:k:${"0".repeat(64)}` }
    runs = [
      worked,
      failed,
      inBoth(worked, "retrieval_executed", { status: "success" }),
      inBoth(worked, "tool_result", { exit_code: 0 }),
      inBoth(worked, "run_completed", written),
      inBoth(worked, "run_completed", ofMore),
      inBoth(failed, "run_failed", written),
      inBoth(failed, "run_failed", ofMore),
      inBoth(failed, "run_failed", { exit_code: undefined, signal: "SIGKILL" }),
    ]
  })

  test.each(["replay", "source"] as const)(
    "every field that it says is compared, changed in the %s, withholds the certificate",
    (side) => {
      const tried = new Set<string>()
      const overlooked: string[] = []
      for (const run of runs) {
        expect(refusals(run)).toEqual([])
        for (const event of run[side].events) {
          if (event.run_id === null) continue
          for (const [field, treatment] of Object.entries(FIELDS[event.event_type])) {
            if (typeof treatment !== "string" || !isThere(payloadOf(event)[field])) continue
            const recording = changed(run[side], event, field)
            if (recording === undefined) continue
            tried.add(`${event.event_type}.${field}`)
            const why = refusals({ ...run, [side]: recording })
            if (why.length === 0) overlooked.push(`${event.event_type}.${field} (${treatment})`)
          }
        }
      }
      expect(overlooked).toEqual([])
      const claimed = Object.entries(FIELDS).flatMap(([type, fields]) =>
        Object.entries(fields).flatMap(([field, treatment]) =>
          typeof treatment === "string" ? [`${type}.${field}`] : [],
        ),
      )
      expect(claimed.filter((field) => !tried.has(field))).toEqual(FIXED)
    },
  )

  test("so does what stands around the payload of an event", () => {
    const [run] = runs as [Replayed]
    const { events } = run.replay
    const called = events.find(({ event_type }) => event_type === "tool_called")!
    const verdict = events.find(({ event_type }) => event_type === "safety_decision")!
    const change = (was: Event, more: Partial<Event>): Recording => with1(run.replay, was, { ...was, ...more } as Event)
    const changes: readonly (readonly [field: keyof typeof ENVELOPE, Recording])[] = [
      ["parent_step_id", change(called, { parent_step_id: events.find(({ run_id }) => run_id)!.step_id })],
      ["sequence_no", { ...run.replay, events: turned(events, verdict) }],
      ["event_type", change(verdict, { event_type: "validator_decision" } as never)],
      ["event_type", { ...run.replay, events: events.filter((event) => event !== verdict) }],
      ["determinism_mode", change(called, { determinism_mode: "live" })],
      ["artifact_refs", change(verdict, { artifact_refs: [] })],
      ["problems", change(verdict, { problems: ["made_up"] } as never)],
    ]
    const overlooked = changes.filter(([, replay]) => refusals({ ...run, replay }).length === 0)
    expect(overlooked.map(([field]) => field)).toEqual([])
    const claimed = Object.entries(ENVELOPE).flatMap(([field, to]) => (typeof to === "string" ? [field] : []))
    // Tries are told by traffic, which a run of the SDK is served in one piece: their numbers are changed in `told-before-the-end` of the proxy.
    expect(new Set(changes.map(([field]) => field))).toEqual(new Set(claimed.filter((field) => field !== "attempt_no")))
  })

  test("every field that it says is not compared, and that a run has, is named on the certificate", () => {
    for (const { source, replay, certificate } of runs.slice(0, 2)) {
      const named = new Set(certificate.scope.not_compared.map(({ what }) => what))
      for (const { payload, ...envelope } of [...source.events, ...replay.events]) {
        if (envelope.run_id === null) continue
        const treatments = { ...ENVELOPE, ...FIELDS[envelope.event_type] }
        for (const [field, value] of Object.entries({ ...envelope, ...payload })) {
          const treatment = (treatments as Record<string, unknown>)[field] as { what: string } | string
          if (typeof treatment === "string" || !isThere(value)) continue
          if (typeof value === "object" && Object.keys(value as object).length === 0) continue
          expect(named, field).toContain(treatment.what)
        }
      }
    }
  })
})

/** An event and the one before it, with their numbers exchanged. */
function turned(events: readonly Event[], later: Event): Event[] {
  const before = events[events.indexOf(later) - 1]!
  return events.map((event) => {
    if (event === later) return { ...event, sequence_no: before.sequence_no } as Event
    return event === before ? ({ ...event, sequence_no: later.sequence_no } as Event) : event
  })
}
