import { createHash } from "node:crypto"
import { bodyHash, type Event } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import fc from "fast-check"
import { expect, test } from "vitest"
import { fingerprintOf } from "../src/certificate/fingerprint.js"
import { coverage, readPortable, recheckCertificate, replayByEngine, tapeOf, writePortable } from "../src/index.js"
import { anthropicAnswer, messages, post, recordingOf, recordRun, tapeFrom, withUpstream } from "./recorded.js"

const aRun = () =>
  withUpstream(
    ({ body, count }, response) => {
      if (count === 2) {
        response.writeHead(429, { "content-type": "application/json", "retry-after": "1" })
        response.end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}')
      } else if (body.includes('"stream":true')) {
        response.writeHead(200, { "content-type": "text/event-stream" })
        for (const text of ["a", "b", "ç"]) response.write(`event: x\ndata: {"t":"${text}"}\n\n`)
        response.end("event: message_stop\ndata: {}\n\n")
      } else {
        response.writeHead(200, { "content-type": "application/json", date: "yesterday" })
        response.end(anthropicAnswer(`answer ${count}`))
      }
    },
    (url) =>
      recordRun(async (run) => {
        const step = run.step("plan")
        await post(step.fetch, url, messages(["hello"]))
        await post(step.fetch, url, messages(["again"]))
        await post(step.fetch, url, messages(["again"]))
        await post(step.fetch, url, messages(["stream"], { stream: true }))
        await step.model({ provider: "own", model: "m", request: { q: 1 } }, () => ({ text: "yes", n: 12.5 }))
        await Promise.all([1, 2, 3].map((n) => step.tool({ name: "add", args: { n } }, () => ({ sum: n + 1 }))))
        await step
          .tool({ name: "fails", args: {} }, () => Promise.reject(new RangeError("no such file")))
          .catch(() => {})
        await step.retrieval({ retriever: "docs", query: "q", topK: 2 }, () => [{ chunkId: "c1", content: "text" }])
        step.end()
      }),
  )

test("[P-03] the engine replays a recording without its agent and certifies it", async () => {
  const { tape, events, bodies } = await aRun()
  const { certification, coverage: gaps, steps } = replayByEngine(tape, { events, bodies })
  expect(gaps).toEqual([])
  expect(certification.report.divergences).toEqual([])
  expect(certification.report.fidelity).toBe("exact")
  expect(steps.map((step) => step.outcome)).toEqual(Array(10).fill("served"))
  expect(steps.filter((step) => step.signature === "agrees").length).toBeGreaterThanOrEqual(7)
  expect(certification.issued).toBe(true)
})

test("[P-06] a certificate is checked again from the recording alone, and does not survive a change to it", async () => {
  const { tape, events, bodies } = await aRun()
  const { certification } = replayByEngine(tape, { events, bodies })
  if (!certification.issued) throw new Error("no certificate")
  const { certificate } = certification
  expect(recheckCertificate(certificate, { events, bodies })).toMatchObject({ holds: true })
  expect(
    recheckCertificate({ ...certificate, grades: { wire: 99, sig: 0, masked: 0 } }, { events, bodies }),
  ).toMatchObject({ holds: false })
  const edited = events.map((event) =>
    event.event_type === "tool_result" ? { ...event, payload: { ...event.payload, latency_ms: 1e6 } } : event,
  )
  expect(recheckCertificate(certificate, { events: edited as Event[], bodies })).toMatchObject({ holds: false })
})

test("[P-06] any single changed byte in a recorded request or answer withholds the certificate", async () => {
  const { tape, events, bodies } = await aRun()
  const named = [...new Set(tape.calls.flatMap((call) => [call.request.body?.hash, call.answer?.body?.hash]))].filter(
    (hash): hash is string => hash !== undefined && bodies.get(hash)!.length > 0,
  )
  fc.assert(
    fc.property(fc.constantFrom(...named), fc.nat(), fc.integer({ min: 1, max: 255 }), (hash, at, flip) => {
      const changed = Uint8Array.from(bodies.get(hash)!)
      changed[at % changed.length]! ^= flip
      const damaged = { get: (wanted: string) => (wanted === hash ? changed : bodies.get(wanted)) }
      const { certification } = replayByEngine(tapeFrom({ events, bodies: damaged }), { events, bodies: damaged })
      expect(certification.issued).toBe(false)
    }),
    { numRuns: 150 },
  )
})

test("[P-06] bytes changed together with their name withhold it as well: the question no longer matches its signature", async () => {
  const { events, bodies, tape } = await aRun()
  const call = tape.calls.find((found) => found.wire !== null)!
  const old = call.request.body!.hash
  const forged = Buffer.from(Buffer.from(bodies.get(old)!).toString().replace("hello", "jello"))
  const renamed = JSON.parse(JSON.stringify(events).replaceAll(old, bodyHash(forged))) as Event[]
  const withForged = { get: (hash: string) => (hash === bodyHash(forged) ? forged : bodies.get(hash)) }
  const { certification, steps } = replayByEngine(tapeFrom({ events: renamed, bodies: withForged }), {
    events: renamed,
    bodies: withForged,
  })
  expect(steps.find((step) => step.stepId === call.stepId)?.signature).toBe("differs")
  expect(certification.issued).toBe(false)
})

test("[P-03] what cannot be replayed is said before anything starts, with the reason", async () => {
  const { events, bodies, tape } = await aRun()
  const [model] = tape.calls.filter((call) => call.kind === "model")
  const pruned = events.map((event) => ({
    ...event,
    artifact_refs: event.artifact_refs.map((ref) =>
      ref.artifact_hash === model!.answer!.body!.hash ? { ...ref, absent: "pruned" as const } : ref,
    ),
  })) as Event[]
  expect(coverage(tapeFrom({ events: pruned, bodies }))).toEqual([
    expect.objectContaining({
      code: "RESPONSE_ABSENT",
      step: model!.stepId,
      reason: "its answer cannot be served: it was pruned",
    }),
  ])
  const lastTool = events.findLast((event) => event.event_type === "tool_called")!
  const cut = events.filter((event) => event.sequence_no !== null && event.sequence_no <= lastTool.sequence_no!)
  const problems = coverage(tapeFrom({ events: cut, bodies }))
  expect(problems.map((problem) => problem.code)).toEqual(["RECORDING_ENDS", "NEEDS_RECONCILIATION"])
  expect(replayByEngine(tapeFrom({ events: cut, bodies }), { events: cut, bodies }).certification.issued).toBe(false)
})

test("[P-06] a run that is still going on is not certified as whole, though all it asked so far can be served", async () => {
  const { events, bodies } = await aRun()
  const soFar = events.filter(({ event_type }) => event_type !== "run_completed")
  const tape = tapeFrom({ events: soFar, bodies })
  expect(coverage(tape)).toMatchObject([{ code: "RECORDING_ENDS", severity: "limits", step: undefined }])
  const { certification } = replayByEngine(tape, { events: soFar, bodies })
  expect(certification).toMatchObject({ issued: false, blocking: [{ reason: "the run has no end on record" }] })
  expect(certification.report.divergences).toEqual([])
})

test("[P-03] events of no run are no tape, and a run without calls says so", async () => {
  expect(tapeOf([], new Map())).toMatchObject({ ok: false })
  const { tape } = await recordRun(() => {})
  expect(coverage(tape).map((problem) => problem.code)).toEqual(["NO_TRAFFIC"])
})

test("[O-10] a run exports to one file that replays anywhere, byte for byte", async () => {
  const { events, bodies, tape } = await aRun()
  const file = Buffer.concat([...writePortable(events, bodies)])
  const read = await readPortable(file)
  expect(read.problems).toEqual([])
  expect(read.events).toEqual(events)
  for (const [hash, bytes] of read.bodies) expect(Buffer.from(bytes).equals(Buffer.from(bodies.get(hash)!))).toBe(true)
  const again = tapeFrom(read)
  expect(fingerprintOf(again)).toBe(fingerprintOf(tape))
  expect(replayByEngine(again, read).certification.issued).toBe(true)
})

test("[O-10] a damaged file is refused with the place, wherever the damage is", async () => {
  const { events, bodies } = await aRun()
  const file = Buffer.concat([...writePortable(events, bodies)])
  await fc.assert(
    fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const damaged = Buffer.from(file)
      damaged[at]! ^= flip
      const { problems } = await readPortable(damaged)
      expect(problems.length).toBeGreaterThan(0)
      expect(problems[0]!.subject).toMatch(/^byte \d+$/)
    }),
    { numRuns: 200 },
  )
  for (const length of [0, 5, 200, file.length - 1])
    expect((await readPortable(file.subarray(0, length))).problems).not.toEqual([])
})

test("[P-03] the engine works out the signature of a request with masked secrets again, from its tags", async () => {
  const key = Buffer.alloc(32, 3)
  const secret = `sk-ant-api03-${["1", "2"]
    .map((n) => createHash("sha512").update(n).digest("base64url"))
    .join("")
    .slice(0, 93)}AA`
  const sink = new MemorySink()
  await withUpstream(
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer("ok"))
    },
    async (url) => {
      const recorder = Recorder.open({ app: "test", capture: "redacted", key, sink })
      const run = recorder.startRun({ entrypoint: "agent" })
      await post(run.fetch, url, messages([`my key is ${secret}, keep it`]))
      run.complete()
      recorder.close()
    },
  )
  const { tape, events, bodies } = recordingOf(sink)
  expect(tape.calls[0]!.request.body!.masks).toHaveLength(1)
  const { steps, certification } = replayByEngine(tape, { events, bodies })
  expect(steps.map((step) => step.signature)).toEqual(["agrees"])
  expect(certification.issued).toBe(true)
})

test("[P-03] a run recorded by hashes alone says, call by call, that its answers cannot be served", async () => {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", capture: "hashed", key: Buffer.alloc(32, 1), sink })
  const run = recorder.startRun({ entrypoint: "agent" })
  await run.tool({ name: "read", args: { path: "a" } }, () => "text")
  run.complete()
  recorder.close()
  const { tape, events, bodies } = recordingOf(sink)
  const problems = coverage(tape)
  expect(problems.map(({ code, severity }) => [code, severity])).toEqual([
    ["REQUEST_ABSENT", "limits"],
    ["RESPONSE_ABSENT", "blocks"],
  ])
  expect(problems[1]!.reason).toContain("capture: hashed")
  const { certification } = replayByEngine(tape, { events, bodies })
  expect(certification.issued).toBe(false)
  expect(certification.report.divergences.map(({ code }) => code)).toContain("BODY_ABSENT")
})
