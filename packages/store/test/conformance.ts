import { bodyHash, canonicalJson, type Event, runDigest } from "@orangebox/contract"
import { type BodyReading, isAbsent, type TraceStore } from "@orangebox/store"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ordinaryRun, RecordedRun, redactBody, T0 } from "./recorded.js"

export interface StoreUnderTest {
  readonly store: TraceStore
  /** Whether nothing of redacted text is left in the engine's files when a redaction ends; else it says why, and they go by themselves. */
  readonly isSweptAtOnce: boolean
  /** Sets the clock the store reads. */
  setNow(atMs: number): void
  /** Closes the store and opens it again. */
  reopen(): Promise<TraceStore>
  destroy(): Promise<void>
}

const DAY = 86_400_000
const HOUR = 3_600_000

/** Bytes that do not compress, the same for the same seed. */
function noise(seed: number): Buffer {
  let state = seed * 2654435761
  return Buffer.from(
    Array.from({ length: 40_000 }, () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return state & 0xff
    }),
  )
}

/** What every TraceStore does, whichever engine stands behind it. */
export function describeTraceStore(name: string, make: (nowMs: number) => Promise<StoreUnderTest>): void {
  describe(`${name} as a TraceStore`, () => {
    let subject: StoreUnderTest
    let store: TraceStore
    beforeEach(async () => {
      subject = await make(T0 + HOUR)
      store = subject.store
    })
    afterEach(() => subject.destroy())

    const eventsOf = async (runId: string): Promise<readonly Event[]> => (await store.eventsOf(runId)).events

    describe("commit", () => {
      test("[L-01] events come back as they were recorded, and the offset with them", async () => {
        const run = ordinaryRun()
        const summary = await store.commit(run.batch({ offsets: [{ file: "a.ndjson", offset: 4711 }] }))
        expect(summary).toMatchObject({
          events: 7,
          duplicates: 0,
          conflicts: 0,
          newBodies: 4,
          runIds: [run.runId],
          problems: [],
        })
        const own = run.events.map(({ event }) => event)
        expect(await eventsOf(run.runId)).toEqual(own)
        expect(runDigest(await eventsOf(run.runId))).toBe(runDigest(own))
        expect([...(await store.offsets())]).toEqual([["a.ndjson", 4711]])
        store = await subject.reopen()
        expect(await eventsOf(run.runId)).toEqual(own)
        expect([...(await store.offsets())]).toEqual([["a.ndjson", 4711]])
      })

      test("[L-01] a batch that comes twice, whole or in parts, changes nothing", async () => {
        const run = ordinaryRun()
        await store.commit(run.batch())
        const before = await store.getRun(run.runId)
        const again = await store.commit(run.batch())
        expect(again).toMatchObject({ events: 0, duplicates: 7, conflicts: 0, newBodies: 0 })
        store = await subject.reopen()
        await store.commit({ events: run.events.slice(2, 4) })
        expect(await store.getRun(run.runId)).toEqual(before)
        expect((await store.eventsOf(run.runId)).total).toBe(7)
      })

      test("an id that comes again with other content is kept as a conflict and overwrites nothing", async () => {
        const run = ordinaryRun()
        await store.commit(run.batch())
        const first = run.events[5]!.event as Event<"log">
        const other = { ...first, payload: { ...first.payload, message: "something else" } }
        for (let time = 0; time < 2; time++) {
          expect(await store.commit({ events: [{ event: other, writerId: "writer-2" }] })).toMatchObject({
            events: 0,
            conflicts: 1,
          })
        }
        expect((await eventsOf(run.runId))[5]).toEqual(first)
        expect(await store.conflictsOf(run.runId)).toEqual([
          { event: other, writerId: "writer-2", seenAtMs: T0 + HOUR },
        ])
      })

      test("two records with one sequence number are both kept and read in its place", async () => {
        const run = ordinaryRun()
        const twin = { ...run.events[3]!.event, event_id: "018e0000-9999-7000-8000-000000000001" } as Event
        await store.commit(run.batch())
        expect(await store.commit({ events: [{ event: twin, writerId: "writer-1" }] })).toMatchObject({ events: 1 })
        const page = await store.eventsOf(run.runId)
        expect(page.events.map((event) => event.sequence_no)).toEqual([0, 1, 2, 3, 3, 4, 5, 6])
        expect(page.events[4]).toEqual(twin)
        expect(page.total).toBe(8)
        const pages: Event[] = []
        for (let from: number | undefined = 0; from !== undefined; ) {
          const part = await store.eventsOf(run.runId, { from, limit: 4 })
          pages.push(...part.events)
          from = part.nextFrom
        }
        expect(pages).toEqual(page.events)
      })

      test("lines in any order end in the same run, steps and events", async () => {
        const [straight, shuffled] = [ordinaryRun({ no: 1 }), ordinaryRun({ no: 2 })]
        await store.commit(straight.batch())
        const order = [6, 2, 0, 4, 1, 5, 3]
        for (const index of order) await store.commit({ events: [shuffled.events[index]!] })
        await store.commit({ bodies: shuffled.bodies })
        const [one, other] = [await store.getRun(straight.runId), await store.getRun(shuffled.runId)]
        const neutral = { runId: "", traceId: "" }
        expect({ ...other, ...neutral }).toEqual({ ...one, ...neutral })
        expect(await eventsOf(shuffled.runId)).toEqual(shuffled.events.map(({ event }) => event))
        const outline = async (runId: string) =>
          (await store.stepsOf(runId))
            .map(({ kind, name, status, durationMs }) => [kind, name, status, durationMs])
            .sort()
        expect(await outline(shuffled.runId)).toEqual(await outline(straight.runId))
      })

      test("steps as columns say what the rows say, from any step on", async () => {
        const run = ordinaryRun()
        await store.commit({ events: run.events })
        const rows = await store.stepsOf(run.runId)
        const { words, columns, total } = (await store.stepColumns(run.runId))!
        const word = (at: number | null | undefined): string | null => (at == null ? null : words[at]!)
        expect(total).toBe(rows.length)
        expect(
          columns.n.map((n, at) => [n, columns.parent[at], word(columns.kind[at]), word(columns.status[at])]),
        ).toEqual(rows.map(({ no, parentNo, kind, status }) => [no, parentNo, kind, status]))
        expect(columns.duration_us.map((us) => (us === null ? null : us / 1000))).toEqual(
          rows.map(({ durationMs }) => durationMs),
        )
        expect(columns.name.map(word)).toEqual(rows.map(({ name }) => name))
        expect(columns.input_tokens).toEqual(rows.map(({ tokens }) => tokens.prompt))
        const page = (await store.stepColumns(run.runId, { from: 2, limit: 1 }))!
        expect([page.columns.n, page.total]).toEqual([[2], rows.length])
        expect(await store.stepColumns("run_nix")).toBeUndefined()
      })

      test("an event that breaks the contract is kept as it is", async () => {
        const run = new RecordedRun()
        const root = run.start()
        run.log(root, null, "fine")
        const odd = {
          ...run.events[1]!.event,
          event_id: 'not-a-uuid \u{1f600} "',
          step_id: "no hex",
          sequence_no: 2,
          timestamp_utc: "2026-03-02T10:00:00.123456Z",
          mono_us: 1.5,
          novelty: { nested: ["\ud800", "\u0000", 1e300] },
          "-": ["a field of that name"],
        } as unknown as Event
        const { event_id: _id, mono_us: _mono, source: _source, ...old } = run.events[1]!.event
        const first = { ...old, schema_version: "1.0.0", sequence_no: 3 } as unknown as Event
        const events = [...run.events, { event: odd, writerId: null }, { event: first, writerId: null }]
        await store.commit({ events })
        expect(await eventsOf(run.runId)).toEqual(events.map(({ event }) => event))
        expect(await store.commit({ events })).toMatchObject({ events: 0, duplicates: 4, conflicts: 0 })
      })

      test("[S-04] an event of any size is read back whole", async () => {
        const run = new RecordedRun()
        const root = run.start()
        run.emit(
          "log",
          { level: "info", message: "long" },
          { stepId: root, parentId: null, attributes: { text: "é".repeat(90_000) } },
        )
        await store.commit(run.batch())
        expect(await eventsOf(run.runId)).toEqual(run.events.map(({ event }) => event))
        expect(await store.commit(run.batch())).toMatchObject({ duplicates: 2, conflicts: 0 })
      })
    })

    describe("runs", () => {
      test("a run's row says what happened in it", async () => {
        const run = new RecordedRun({ conversationId: "chat-1" })
        const root = run.start()
        run.model(root, "a", "b", { prompt: 10, completion: 1 })
        run.model(root, "c", "d", { prompt: 20, completion: 2 })
        run.tool(root, "run_tests", "{}", "exit 1", "error")
        run.model(root, "e", null)
        await store.commit(run.batch())
        expect(await store.getRun(run.runId)).toMatchObject({
          runId: run.runId,
          traceId: run.traceId,
          conversationId: "chat-1",
          writerId: "writer-1",
          app: "fixer",
          entrypoint: "fix-issue",
          status: "running",
          events: 8,
          steps: 5,
          openSteps: 2,
          modelCalls: 3,
          toolCalls: 1,
          errors: 1,
          tokens: { prompt: 30, completion: 3, cacheRead: null, cacheWrite: null, reasoning: null },
          startedAtMs: T0 + 10,
          lastAtMs: T0 + 80,
          durationMs: 70,
        })
        expect((await store.stepsOf(run.runId)).map(({ no, kind, name, status }) => [no, kind, name, status])).toEqual([
          [1, "run", "fix-issue", "open"],
          [2, "model", "claude-x", "success"],
          [3, "model", "claude-x", "success"],
          [4, "tool", "run_tests", "error"],
          [5, "model", "claude-x", "open"],
        ])
      })

      test("[L-03] a run without an end is open until it is marked crashed, and a recorded end that still arrives wins", async () => {
        const run = new RecordedRun()
        const root = run.start()
        const call = run.model(root, "question", null)
        await store.commit(run.batch())
        expect(await store.openRunsOf("writer-1")).toMatchObject([
          { runId: run.runId, lastOpenStepId: call, lastAtMs: T0 + 20, isMarkedCrashed: false },
        ])
        const crash = run.annotate("process_crashed", {
          writer_id: "writer-1",
          pid: 7,
          last_open_step_id: call,
          evidence: "the process is gone",
        })
        await store.commit({ events: [{ event: crash, writerId: null }] })
        expect((await store.getRun(run.runId))?.status).toBe("crashed")
        expect(await store.annotationsOf(run.runId)).toEqual([crash])
        expect(await eventsOf(run.runId)).toHaveLength(2)
        expect(await store.openRunsOf("writer-1")).toMatchObject([{ isMarkedCrashed: true }])
        const before = run.events.length
        run.complete(root)
        await store.commit({ events: run.events.slice(before) })
        expect((await store.getRun(run.runId))?.status).toBe("completed")
        expect(await store.openRunsOf("writer-1")).toEqual([])
      })

      test("lists are newest first, filtered, counted and paged without overlap", async () => {
        for (let no = 1; no <= 25; no++) {
          const run = ordinaryRun({
            no,
            startedAtMs: T0 + Math.floor(no / 2) * 1000,
            conversationId: no % 2 === 0 ? "even" : "odd",
            app: no > 20 ? "late" : "early",
          })
          await store.commit(run.batch())
        }
        const seen: string[] = []
        for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
          const page = await store.listRuns({ limit: 7, ...(cursor === undefined ? {} : { cursor }) })
          expect(page.total).toBe(25)
          seen.push(...page.rows.map((row) => row.runId))
          cursor = page.cursor
        }
        expect(new Set(seen).size).toBe(25)
        expect(seen[0]).toBe(ordinaryRun({ no: 25 }).runId)
        expect((await store.listRuns({ conversationId: "even" })).total).toBe(12)
        expect((await store.listRuns({ app: "late" })).total).toBe(5)
        expect((await store.listRuns({ status: "failed" })).rows).toEqual([])
        expect((await store.listRuns({ traceId: ordinaryRun({ no: 3 }).traceId })).rows).toHaveLength(1)
        expect((await store.listRuns({ since: T0 + 12_000 })).total).toBe(2)
        expect((await store.listRuns({ until: T0 + 1000 })).total).toBe(1)
        await expect(store.listRuns({ cursor: "nonsense" })).rejects.toThrow(/cursor/)
      })

      test("what processes say outside runs is kept by process", async () => {
        const event = {
          ...ordinaryRun().events[5]!.event,
          run_id: null,
          trace_id: null,
          step_id: null,
          parent_step_id: null,
          sequence_no: null,
        } as unknown as Event
        const later = { ...event, event_id: "018e0000-ffff-7000-8000-000000000002" } as Event
        await store.commit({
          events: [
            { event, writerId: "w" },
            { event: later, writerId: "w" },
          ],
        })
        expect((await store.processEventsOf("w")).events).toEqual([event, later])
        expect(await store.processEventsOf("w", { from: 1, limit: 1 })).toMatchObject({ events: [later], total: 2 })
        expect((await store.processEventsOf("other")).events).toEqual([])
      })

      test("writers, their exits, gaps and problems are remembered", async () => {
        const runId = ordinaryRun().runId
        const gap = { code: "write_failed", reason: "disk full", runIds: [runId], writerId: "w", lost: 3, atMs: T0 }
        const problem = {
          code: "bad_line",
          severity: "error" as const,
          subject: "a",
          field: "",
          reason: "no JSON",
          file: "a",
          offset: 9,
        }
        const batch = {
          writers: [{ writerId: "w", identity: { pid: 7 }, file: "a", records: 2, lastSeenAtMs: T0 }],
          gaps: [gap],
          problems: [problem],
        }
        await store.commit(batch)
        await store.commit({ ...batch, writers: [{ writerId: "w", records: 1, state: "silent" }] })
        expect(await store.writers()).toMatchObject([
          { writerId: "w", identity: { pid: 7 }, state: "silent", file: "a", records: 3 },
        ])
        await store.commit({ exits: [{ writerId: "w", atMs: T0 + HOUR, exit: { exitCode: 0 } }] })
        expect(await store.writers()).toMatchObject([
          { state: "exited", exit: { exitCode: 0 }, lastSeenAtMs: T0 + HOUR },
        ])
        expect(await store.gapsOf(runId)).toEqual([gap])
        expect(await store.problems()).toEqual([problem])
      })
    })

    describe("bodies", () => {
      const bytesOf = (reading: BodyReading): Buffer => {
        expect(isAbsent(reading)).toBe(false)
        return isAbsent(reading) ? Buffer.alloc(0) : Buffer.from(reading.bytes)
      }

      test("[S-01] bytes come back exactly, whole, sliced and in pieces, and are stored once", async () => {
        const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index) >>> 7))
        const hash = bodyHash(bytes)
        const pieces = [bytes.subarray(0, 100_001), bytes.subarray(100_001)]
        const summary = await store.commit({ bodies: [{ hash, bytes: pieces, byteSize: bytes.length }] })
        expect(summary).toMatchObject({ newBodies: 1, newBodyBytes: 300_000 })
        expect(await store.commit({ bodies: [{ hash, bytes, byteSize: bytes.length }] })).toMatchObject({
          newBodies: 0,
        })
        expect(bytesOf(await store.readBody(hash)).equals(bytes)).toBe(true)
        expect(bytesOf(await store.readBodySlice(hash, 99_990, 100_020)).equals(bytes.subarray(99_990, 100_020))).toBe(
          true,
        )
        expect(bytesOf(await store.readBodySlice(hash, 299_990, 400_000))).toHaveLength(10)
        expect(await store.bodyInfo(hash)).toMatchObject({ byteSize: 300_000, references: 0 })
      })

      test("a body that is not there says why", async () => {
        const run = ordinaryRun()
        await store.commit({ events: run.events })
        const hash = run.bodies[0]!.hash
        expect(await store.readBody(hash)).toMatchObject({ absent: "lost", hash })
        expect(await store.readBody(`sha256:${"0".repeat(64)}`)).toMatchObject({ absent: "unknown" })
        expect(await store.readBody("nonsense")).toMatchObject({ absent: "unknown" })
        await store.commit({ bodies: run.bodies })
        expect(bytesOf(await store.readBody(hash)).equals(Buffer.from(run.bodies[0]!.bytes as Uint8Array))).toBe(true)
      })

      test("bytes that do not have the announced hash are kept under their own and reported", async () => {
        const bytes = Buffer.from("other bytes")
        const announced = bodyHash(Buffer.from("these"))
        const summary = await store.commit({ bodies: [{ hash: announced, bytes, byteSize: bytes.length }] })
        expect(summary.problems).toMatchObject([{ code: "hash_mismatch", subject: announced }])
        expect(bytesOf(await store.readBody(bodyHash(bytes)))).toEqual(bytes)
        expect(await store.readBody(announced)).toMatchObject({ absent: "unknown" })
      })

      test("[J-07] a streamed body is readable while it comes, after its end, and after its writer died", async () => {
        const run = new RecordedRun()
        const root = run.start()
        const call = run.model(root, "question", null)
        await store.commit(run.batch())
        const stream = { streamId: "s1", runId: run.runId, stepId: call, role: "response", mime: "text/plain" }
        const piece = (offset: number, text: string) => ({ offset, bytes: Buffer.from(text), atMicros: offset })
        await store.commit({ streams: [{ ...stream, chunks: [piece(0, "the walrus "), piece(11, "and ")] }] })
        await store.commit({ streams: [{ ...stream, chunks: [piece(11, "and ")] }] })
        expect(await store.partialStreamsOf(run.runId)).toMatchObject([
          { streamId: "s1", stepId: call, byteSize: 15, chunks: 2, state: "open", isUnbroken: true, hash: null },
        ])
        expect(Buffer.from((await store.readPartialStream("s1"))!).toString()).toBe("the walrus and ")

        const other = { ...stream, streamId: "s2", chunks: [piece(0, "lost at sea, no end")] }
        await store.commit({ streams: [other] })
        await store.commit({ streams: [{ ...other, chunks: [], abandoned: true }] })
        const whole = Buffer.from("the walrus and the carpenter")
        const end = { hash: bodyHash(whole), byteSize: whole.length }
        await store.commit({ streams: [{ ...stream, chunks: [piece(15, "the carpenter")], end }] })
        expect(bytesOf(await store.readBody(end.hash))).toEqual(whole)
        expect(await store.partialStreamsOf(run.runId)).toMatchObject([{ streamId: "s2", state: "abandoned" }])
        expect(Buffer.from((await store.readPartialStream("s2"))!).toString()).toBe("lost at sea, no end")
        expect((await store.search({ text: "at sea" })).hits).toMatchObject([
          { runId: run.runId, stepId: call, mode: "live" },
        ])
      })
    })

    describe("resolve", () => {
      test("[Q-02] every recorded id leads to its place, whole or by a unique prefix", async () => {
        const run = new RecordedRun({ conversationId: "chat-77" })
        const root = run.start()
        const call = run.model(root, "question", "answer")
        const tool = run.tool(root, "read_file", "{}", "text")
        run.emit(
          "log",
          { level: "info", message: "m" },
          { stepId: root, parentId: null, attributes: { message_id: "msg-42" } },
        )
        run.emit(
          "log",
          { level: "info", message: "n" },
          { stepId: root, parentId: null, attributes: { message_id: "thread#12" } },
        )
        run.complete(root)
        await store.commit(run.batch())
        await store.commit(ordinaryRun({ no: 2, startedAtMs: T0 - DAY }).batch())
        const one = async (text: string) => {
          const resolution = await store.resolve(text)
          return resolution.found === "one" ? resolution.target : resolution
        }
        expect(await one(run.runId)).toMatchObject({ kind: "run", runId: run.runId })
        expect(await one("last")).toMatchObject({ kind: "run", runId: run.runId })
        expect(await one("last#2")).toMatchObject({ kind: "step", stepId: call })
        expect(await one("last~0")).toMatchObject({ kind: "run", runId: run.runId })
        expect(await one("last~1")).toMatchObject({
          kind: "run",
          runId: ordinaryRun({ no: 2, startedAtMs: T0 - DAY }).runId,
        })
        expect(await one("last~1#1")).toMatchObject({ kind: "step" })
        expect(await one("last~2")).toMatchObject({ found: "none", nearest: [{ runId: run.runId }, {}] })
        expect(await one("last~2#1")).toMatchObject({ found: "none" })
        expect(await one(`${run.runId}#3`)).toMatchObject({ kind: "step", stepId: tool })
        expect(await one(call)).toMatchObject({ kind: "step", runId: run.runId, stepId: call })
        expect(await one(run.traceId)).toMatchObject({ kind: "trace", runId: run.runId })
        expect(await one("chat-77")).toMatchObject({ kind: "conversation", runId: run.runId })
        expect(await one("chat-77#2")).toMatchObject({ found: "none", nearest: [{ kind: "conversation" }] })
        expect(await one("thread#12")).toMatchObject({ kind: "message", id: "thread#12", stepId: root })
        expect(await one(`${run.runId.slice("run_".length)}#2`)).toMatchObject({ kind: "step", stepId: call })
        expect(await one("msg-42")).toMatchObject({ kind: "message", stepId: root })
        expect(await one(`toolu_${tool}`)).toMatchObject({ kind: "tool_call", stepId: tool })
        expect(await one(`req_${run.runId}_${call}`)).toMatchObject({ kind: "provider_request", stepId: call })
        expect(await one(run.bodies[0]!.hash)).toMatchObject({ kind: "body", runId: run.runId, stepId: call })
        expect(await one(run.bodies[0]!.hash.slice(0, 20))).toMatchObject({ kind: "body", id: run.bodies[0]!.hash })
        expect(await one(run.events[1]!.event.event_id)).toMatchObject({ kind: "event", stepId: call })
        expect(await store.resolve("run_0000")).toMatchObject({ found: "many", total: 2 })
        expect(await store.resolve("no-such-id")).toMatchObject({ found: "none" })
        const near = await store.resolve(`toolu_${tool.slice(0, -1)}f`)
        expect(near.found === "none" && near.nearest.map((target) => target.kind)).toContain("tool_call")
      })

      /** A message that one run enqueues and another takes up, later and in a run that the store learned of first. */
      const sendAndDeliver = async () => {
        const receiver = new RecordedRun({ no: 2, conversationId: "chat-b", startedAtMs: T0 + HOUR })
        const sender = new RecordedRun({ no: 1, conversationId: "chat-a" })
        const sending = sender.start()
        const enqueue = sender.newStepId()
        const attributes = { message_id: "m-1", target_conversation_id: "chat-b" }
        sender.emit("step_started", { name: "enqueue" }, { stepId: enqueue, parentId: sending, attributes })
        const receiving = receiver.start()
        const deliver = receiver.newStepId()
        receiver.emit("step_started", { name: "deliver" }, { stepId: deliver, parentId: receiving, attributes })
        receiver.emit(
          "link_added",
          { link: { kind: "delivers", run_id: sender.runId, step_id: enqueue } },
          { stepId: deliver, parentId: receiving },
        )
        receiver.emit(
          "link_added",
          { link: { kind: "mentions", step_id: sending } },
          { stepId: receiving, parentId: null },
        )
        await store.commit(receiver.batch())
        await store.commit(sender.batch())
        return { sender, receiver, sending, enqueue, receiving, deliver }
      }

      test("[Q-09] an id leads to all its places, in order of time, across runs and page by page", async () => {
        const { sender, receiver, sending, enqueue, receiving, deliver } = await sendAndDeliver()
        const places = async (...question: Parameters<TraceStore["occurrencesOf"]>) =>
          (await store.occurrencesOf(...question)).rows.map(({ runId, stepId, no }) => [runId, stepId, no])
        const both = [
          [sender.runId, enqueue, 2],
          [receiver.runId, deliver, 2],
        ]
        expect(await places("message", "m-1")).toEqual(both)
        expect(await places("message", "m-1", { from: 1, limit: 1 })).toEqual(both.slice(1))
        expect(await store.occurrencesOf("message", "m-1", { limit: 1 })).toMatchObject({ total: 2, cursor: "1" })
        expect(await places("conversation", "chat-b")).toEqual([
          [sender.runId, enqueue, 2],
          [receiver.runId, receiving, 1],
          [receiver.runId, deliver, 2],
        ])
        expect(await places("run", sender.runId)).toEqual([
          [sender.runId, sending, 1],
          [receiver.runId, deliver, 2],
        ])
        expect(await places("step", sending)).toEqual([
          [sender.runId, sending, 1],
          [receiver.runId, receiving, 1],
        ])
        expect(await places("event", sender.events[1]!.event.event_id)).toEqual([[sender.runId, enqueue, 2]])
        expect(await places("trace", sender.traceId)).toEqual([[sender.runId, sending, 1]])
        expect(await places("message", "m-2")).toEqual([])
        await store.rebuild()
        expect(await places("message", "m-1")).toEqual(both)
      })

      test("[Q-09] a body and a lane lead to every step that has them", async () => {
        const runs = [1, 2].map((no) => {
          const run = new RecordedRun({ no, startedAtMs: T0 + no * HOUR })
          const root = run.start()
          const call = run.model(root, "the same question", `answer ${no}`, {
            prompt: 100,
            completion: 20,
            laneId: "lane-7",
          })
          run.complete(root)
          return { run, call }
        })
        for (const { run } of runs) await store.commit(run.batch())
        const expected = runs.map(({ run, call }) => [run.runId, call])
        const question = bodyHash(Buffer.from("the same question"))
        for (const [kind, id] of [
          ["body", question],
          ["lane", "lane-7"],
        ] as const) {
          const { rows, total } = await store.occurrencesOf(kind, id)
          expect([kind, total, rows.map(({ runId, stepId }) => [runId, stepId])]).toEqual([kind, 2, expected])
        }
      })

      test("[Q-09] a run knows the links of other runs that point at it or at its steps", async () => {
        const { sender, receiver } = await sendAndDeliver()
        expect(await store.linksTo(sender.runId)).toMatchObject([
          { link: { kind: "delivers" }, runId: receiver.runId, no: 2, name: "deliver" },
          { link: { kind: "mentions" }, runId: receiver.runId, no: 1 },
        ])
        expect(await store.linksTo(receiver.runId)).toEqual([])
      })
    })

    describe("search", () => {
      const texts = async (text: string, extra: object = {}) =>
        (await store.search({ text, ...extra })).hits.map((hit) => hit.snippet.slice(hit.at, hit.at + hit.length))

      test("[S-06] words, parts of words and phrases are found in prompts, outputs, tools and logs, with their place", async () => {
        const run = new RecordedRun()
        const root = run.start()
        const call = run.model(
          root,
          JSON.stringify({ messages: [{ role: "user", content: 'Why does "leapYear()" fail?' }] }),
          "Because of FEBRUARY",
        )
        run.tool(root, "grep_code", '{"pattern":"isLeap"}', "src/date.ts:12: return false")
        run.log(root, null, "Zusammenfassung: Größe 5 µm, 完了しました")
        await store.commit(run.batch())
        expect((await store.search({ text: "leapyear" })).hits).toMatchObject([
          {
            runId: run.runId,
            stepId: call,
            eventType: "model_called",
            field: "request_ref",
            hash: run.bodies[0]!.hash,
          },
        ])
        expect(await texts("february")).toEqual(["FEBRUARY"])
        expect(await texts("grep_c")).toEqual(["grep_c"])
        expect(await texts("date.ts:12")).toEqual(["date.ts:12"])
        expect(await texts("größe")).toEqual(["Größe"])
        expect(await texts("完了")).toEqual(["完了"])
        expect(await texts("µm")).toEqual(["µm"])
        expect(await texts("false return")).toHaveLength(1)
        expect(await texts('"false return"')).toEqual([])
        expect(await texts('"return false"')).toEqual(["return false"])
        expect(await texts("nowhere to be found")).toEqual([])
      })

      test("[S-06] a query is text, never syntax", async () => {
        const run = new RecordedRun()
        const root = run.start()
        run.log(root, null, 'a AND b OR NOT (c) NEAR/3 "d" col:x ^y z* -w')
        await store.commit(run.batch())
        for (const text of ["AND b", "NOT (c)", "NEAR/3", "col:x", "^y", "z*", "-w", '"', "''", "*", "(", 'x" OR "y']) {
          await expect(store.search({ text })).resolves.toBeDefined()
        }
        expect(await texts("NEAR/3")).toHaveLength(1)
        expect(await texts("z*")).toEqual(["z*"])
        expect(await texts("-w")).toEqual(["-w"])
      })

      test("[S-06] history that is sent again is one hit in each run that saw it", async () => {
        const first = new RecordedRun({ no: 1 })
        const root = first.start()
        const messages: unknown[] = []
        for (let turn = 0; turn < 12; turn++) {
          messages.push({
            role: "user",
            content: `turn ${turn}: ${"lorem ipsum dolor sit amet ".repeat(40)} needle-${turn}`,
          })
          first.model(root, JSON.stringify({ messages }), `answer ${turn}`)
        }
        const second = new RecordedRun({ no: 2 })
        second.model(second.start(), JSON.stringify({ messages }), "other")
        await store.commit(first.batch())
        await store.commit(second.batch())
        const { hits, total } = await store.search({ text: "needle-3" })
        expect(total).toBe(2)
        expect(hits).toMatchObject([
          { runId: second.runId },
          { runId: first.runId, hash: first.bodies[6]!.hash, placesTotal: 1 },
        ])
        expect((await store.search({ text: "needle-3", runId: second.runId })).hits).toMatchObject([
          { runId: second.runId },
        ])
        expect((await store.search({ text: "needle-3", kind: "log" })).hits).toEqual([])
      })

      test("[Q-09] one text in twelve runs is twelve hits, counted before the page is cut, and a kind is asked before both", async () => {
        for (let no = 1; no <= 12; no++) {
          const run = new RecordedRun({ no, startedAtMs: T0 + no * 1000 })
          const root = run.start()
          run.tool(root, "read_file", `{"path":"a-${no}"}`, "the walrus\nsleeps at nine")
          run.log(root, null, no % 3 === 0 ? "a log line: sleeps at nine" : "nothing")
          run.complete(root)
          await store.commit(run.batch())
        }
        const all = await store.search({ text: "sleeps at nine", limit: 5 })
        expect(all).toMatchObject({ total: 16, places: 16, isTotalExact: true })
        expect(all.hits).toHaveLength(5)
        const tools = await store.search({ text: "walrus", kind: "tool_result", limit: 3 })
        expect(tools).toMatchObject({ total: 12, places: 12 })
        expect(tools.hits.map(({ runId }) => Number(runId!.slice(-2)))).toEqual([12, 11, 10])
        const logs = await store.search({ text: "sleeps at nine", kind: "log", limit: 2 })
        expect(logs).toMatchObject({ total: 4, places: 4 })
        const rest = await store.search({ text: "sleeps at nine", kind: "log", limit: 2, cursor: logs.cursor! })
        expect([...logs.hits, ...rest.hits].map(({ runId }) => Number(runId!.slice(-2)))).toEqual([12, 9, 6, 3])
        expect(rest.cursor).toBeUndefined()
        expect(await store.search({ text: "walrus", kind: "model_called" })).toMatchObject({ total: 0, hits: [] })
      })

      test("[Q-09] a passage that a call's prompt, request and snapshot hold is one hit that names its places", async () => {
        const run = new RecordedRun()
        const root = run.start()
        const passage = "Never push to main without asking"
        const prompt = run.body(`You are careful.\n${passage}\nThe end.`, "rendered_prompt", "text/plain")
        run.emit(
          "prompt_rendered",
          {
            prompt_template_id: null,
            prompt_template_version: null,
            prompt_variables_ref: null,
            rendered_prompt_ref: prompt.artifact_hash,
          },
          { stepId: root, parentId: null },
          [prompt],
        )
        const request = JSON.stringify({ system: `You are careful.\n${passage}\nThe end.`, messages: [] })
        run.model(root, request, "ok")
        // The same body at three places of one run, first named by another type of event.
        for (const name of ["one", "two"]) run.tool(root, name, "{}", passage)
        const snapshot = run.body(request, "prompt_snapshot")
        run.emit(
          "artifact_recorded",
          {
            artifact_id: "art_1",
            artifact_type: "prompt_snapshot",
            summary: "the prompt",
            content_ref: snapshot.artifact_hash,
            hash: snapshot.artifact_hash,
            size_bytes: snapshot.byte_size,
            path: null,
          },
          { stepId: root, parentId: null },
          [snapshot],
        )
        run.complete(root)
        await store.commit(run.batch())
        const page = await store.search({ text: "push to main" })
        expect(page).toMatchObject({ total: 1, places: 5 })
        expect(page.hits[0]!.places.map(({ eventType, field }) => `${eventType} ${field}`)).toEqual([
          "prompt_rendered rendered_prompt_ref",
          "model_called request_ref",
          "tool_result result_ref",
          "tool_result result_ref",
          "artifact_recorded content_ref",
        ])
        expect(await store.search({ text: "push to main", kind: "tool_result" })).toMatchObject({ total: 1, places: 2 })
        expect(await store.search({ text: "push to main", kind: "artifact_recorded" })).toMatchObject({ total: 1 })
        await store.rebuild()
        expect(await store.search({ text: "push to main" })).toMatchObject({ total: 1, places: 5 })
      })

      test("many hits come in pages", async () => {
        const run = new RecordedRun()
        const root = run.start()
        for (let no = 0; no < 23; no++) run.log(root, null, `haystack number ${no}`)
        await store.commit(run.batch())
        const seen: string[] = []
        for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
          const page = await store.search({ text: "haystack", limit: 10, ...(cursor === undefined ? {} : { cursor }) })
          seen.push(...page.hits.map((hit) => hit.snippet))
          cursor = page.cursor
        }
        expect(seen).toEqual(Array.from({ length: 23 }, (_, index) => `haystack number ${22 - index}`))
      })
    })

    describe("retention", () => {
      const later = (days: number): void => subject.setNow(T0 + days * DAY)
      const isHere = async (hash: string): Promise<boolean> => !isAbsent(await store.readBody(hash))

      test("[S-03] old bodies go first, their refs explain themselves, the events stay", async () => {
        const [old, young] = [ordinaryRun({ no: 1 }), ordinaryRun({ no: 2, startedAtMs: T0 + 20 * DAY })]
        await store.commit(old.batch())
        later(20)
        await store.commit(young.batch())
        later(25)
        const report = await store.prune({ bodyMaxAgeMs: 10 * DAY })
        expect(report).toMatchObject({ runsPruned: 0, eventsPruned: 0, isWithinLimits: true })
        const hash = old.bodies[0]!.hash
        expect(await store.readBody(hash)).toEqual({
          absent: "pruned",
          hash,
          byteSize: old.bodies[0]!.byteSize,
          onMs: T0 + 25 * DAY,
          reason: expect.any(String),
        })
        expect(await store.bodyInfo(hash)).toMatchObject({ absent: { absent: "pruned" } })
        expect(await isHere(young.bodies[0]!.hash)).toBe(true)
        expect(await eventsOf(old.runId)).toEqual(old.events.map(({ event }) => event))
        expect(await store.getRun(old.runId)).toMatchObject({ bodiesPruned: true })
        // Bodies that both runs hold are kept for the younger.
        expect(await isHere(old.bodies[1]!.hash)).toBe(true)
      })

      test("[S-06] pruned text leaves the index unless a younger run has it too", async () => {
        const [old, young] = [ordinaryRun({ no: 1 }), ordinaryRun({ no: 2, startedAtMs: T0 + 20 * DAY })]
        await store.commit(old.batch())
        later(20)
        await store.commit(young.batch())
        await store.prune({ bodyMaxAgeMs: 10 * DAY })
        expect((await store.search({ text: "question number 1" })).hits).toEqual([])
        expect((await store.search({ text: "question number 2" })).hits).toHaveLength(1)
        expect((await store.search({ text: "the answer is 29" })).hits).toMatchObject([{ runId: young.runId }])
        expect((await store.search({ text: "file read in run 1" })).hits).toHaveLength(1)
      })

      test("[S-03] [S-07] a run past its age is gone with everything, but for its roll-ups", async () => {
        const run = ordinaryRun()
        await store.commit(run.batch())
        const before = await store.rollups({ by: "day" })
        expect(before).toHaveLength(3)
        const weekly = await store.rollups({ by: "week" })
        later(40)
        expect(await store.prune({ maxAgeMs: 30 * DAY })).toMatchObject({
          runsPruned: 1,
          eventsPruned: 7,
          bodiesPruned: 4,
          bodyBytesAfter: 0,
        })
        expect(await store.getRun(run.runId)).toBeUndefined()
        expect(await eventsOf(run.runId)).toEqual([])
        expect((await store.search({ text: "leap years" })).total).toBe(0)
        expect((await store.search({ text: "file read" })).total).toBe(0)
        expect(await store.resolve(run.runId)).toMatchObject({ found: "none", pruned: { onMs: T0 + 40 * DAY } })
        expect((await store.resolve(`toolu_0000000100000003`)).found).toBe("none")
        expect(await store.rollups({ by: "day" })).toEqual(before)
        expect(await store.rollups({ by: "week" })).toEqual(weekly)
        expect(await store.status()).toMatchObject({ runs: 0, events: 0, bodies: 0 })
        await store.rebuild()
        expect(await store.rollups({ by: "day" })).toEqual(before)
      })

      test("[S-03] what was pruned does not come back when its journal is read again, but may be recorded anew", async () => {
        const run = ordinaryRun()
        await store.commit(run.batch())
        later(40)
        await store.prune({ bodyMaxAgeMs: 30 * DAY })
        await store.commit(run.batch())
        expect(await isHere(run.bodies[0]!.hash)).toBe(false)
        const anew = ordinaryRun({ no: 2, startedAtMs: T0 + 41 * DAY })
        later(41)
        await store.commit(anew.batch())
        expect(await isHere(run.bodies[1]!.hash)).toBe(true)
        later(90)
        await store.prune({ maxAgeMs: 30 * DAY })
        expect(await store.commit(run.batch())).toMatchObject({ events: 0, newBodies: 0 })
        expect(await store.getRun(run.runId)).toBeUndefined()
      })

      test("[S-10] daily sums, gaps and problems have ages of their own; a gap of a run that is here stays with it", async () => {
        const old = ordinaryRun({ no: 1 })
        await store.commit(old.batch({ gaps: [{ code: "dropped", reason: "of a run", runIds: [old.runId] }] }))
        const problem = { code: "bad_line", severity: "error", subject: "a", field: "", reason: "torn" } as const
        await store.commit({ gaps: [{ code: "dropped", reason: "of nobody" }], problems: [problem] })
        later(40)
        const policy = { problemMaxAgeMs: 30 * DAY, rollupMaxAgeMs: 30 * DAY }
        const planned = await store.prune(policy, { isDryRun: true })
        expect(planned).toMatchObject({ problemsPruned: 2, rollupsPruned: 0, bodyBytesAfter: null, isDryRun: true })
        expect(await store.problems()).toHaveLength(1)
        expect(await store.prune(policy)).toMatchObject({ problemsPruned: 2, rollupsPruned: 0, isDryRun: false })
        expect(await store.problems()).toEqual([])
        expect(await store.gapsOf(old.runId)).toMatchObject([{ reason: "of a run" }])
        await store.prune({ maxAgeMs: 30 * DAY })
        expect(await store.rollups({ by: "day" })).toHaveLength(3)
        expect(await store.prune(policy, { isDryRun: true })).toMatchObject({ problemsPruned: 1, rollupsPruned: 3 })
        expect(await store.prune(policy)).toMatchObject({ problemsPruned: 1, rollupsPruned: 3 })
        expect(await store.rollups({ by: "day" })).toEqual([])
      })

      test("[S-03] an open run keeps everything, however old", async () => {
        const run = new RecordedRun()
        run.model(run.start(), "question", "answer")
        await store.commit(run.batch())
        later(1000)
        const report = await store.prune({ maxAgeMs: DAY, bodyMaxAgeMs: DAY, maxTotalBodyBytes: 0 })
        expect(report).toMatchObject({ runsPruned: 0, bodiesPruned: 0, isWithinLimits: false })
        expect(await isHere(run.bodies[0]!.hash)).toBe(true)
      })

      test("[S-03] data from the future is not deleted at once, nor an import of the past", async () => {
        const [future, past] = [
          ordinaryRun({ no: 1, startedAtMs: T0 + 400 * DAY }),
          ordinaryRun({ no: 2, startedAtMs: T0 - 400 * DAY }),
        ]
        await store.commit(future.batch())
        await store.commit(past.batch())
        later(5)
        expect(await store.prune({ maxAgeMs: 10 * DAY })).toMatchObject({ runsPruned: 0 })
        subject.setNow(T0 - 500 * DAY)
        expect(await store.prune({ maxAgeMs: 10 * DAY })).toMatchObject({ runsPruned: 0 })
        later(11)
        expect(await store.prune({ maxAgeMs: 10 * DAY })).toMatchObject({ runsPruned: 2 })
      })

      test("[S-03] manifests and snapshots have ages of their own", async () => {
        const run = new RecordedRun()
        const root = run.start()
        const manifest = run.body('{"included":[]}', "manifest")
        const snapshot = run.body("the whole prompt", "prompt_snapshot", "text/plain")
        const plain = run.body("plain", "body", "text/plain")
        run.emit(
          "context_manifest",
          {
            manifest_ref: manifest.artifact_hash,
            snapshot_id: "s",
            revision: 0,
            included_count: 0,
            excluded_count: 0,
            prefix_hash: null,
            prefix_length: null,
          },
          { stepId: root, parentId: null },
          [manifest],
        )
        run.emit(
          "artifact_recorded",
          {
            artifact_id: "a",
            artifact_type: "prompt_snapshot",
            summary: "prompt",
            content_ref: snapshot.artifact_hash,
            hash: snapshot.artifact_hash,
            size_bytes: 16,
            path: null,
          },
          { stepId: root, parentId: null },
          [snapshot],
        )
        run.emit(
          "log",
          { level: "info", message: "m", body_ref: plain.artifact_hash },
          { stepId: root, parentId: null },
          [plain],
        )
        run.complete(root)
        await store.commit(run.batch())
        const policy = { snapshotMaxAgeMs: 2 * DAY, bodyMaxAgeMs: 4 * DAY, manifestMaxAgeMs: 6 * DAY }
        const held = async () => Promise.all([snapshot, plain, manifest].map((ref) => isHere(ref.artifact_hash)))
        later(3)
        await store.prune(policy)
        expect(await held()).toEqual([false, true, true])
        later(5)
        await store.prune(policy)
        expect(await held()).toEqual([false, false, true])
        later(7)
        await store.prune(policy)
        expect(await held()).toEqual([false, false, false])
      })

      test("[S-03] over the size limit the oldest closed runs go whole, until what is on disk fits", async () => {
        const runs: RecordedRun[] = []
        for (let no = 1; no <= 6; no++) {
          const run = new RecordedRun({ no, startedAtMs: T0 + no * 1000 })
          const root = run.start()
          const shared = run.body(noise(99), "request", "application/octet-stream")
          const own = run.body(noise(no), "request", "application/octet-stream")
          run.emit(
            "log",
            { level: "info", message: "m", body_ref: own.artifact_hash },
            { stepId: root, parentId: null },
            [own, shared],
          )
          run.complete(root)
          runs.push(run)
          await store.commit(run.batch())
        }
        const before = await store.status()
        expect(before.bodyBytesOnDisk).toBeGreaterThan(200_000)
        const limit = 150_000
        const report = await store.prune({ maxTotalBodyBytes: limit })
        expect(report.isWithinLimits).toBe(true)
        expect((await store.status()).bodyBytesOnDisk).toBeLessThanOrEqual(limit)
        const here = await Promise.all(runs.map((run) => isHere(run.bodies[1]!.hash)))
        expect(here).toEqual([...here].sort())
        expect(here.filter(Boolean).length).toBeGreaterThanOrEqual(2)
        expect(await isHere(runs[0]!.bodies[0]!.hash)).toBe(true)
        expect(await store.integrity({ bodies: "all" })).toEqual([])
      })

      test("[X-09] a redacted body is gone from bytes and index, says so, and never comes back", async () => {
        const [one, other] = [ordinaryRun({ no: 1 }), ordinaryRun({ no: 2 })]
        await store.commit(one.batch())
        await store.commit(other.batch())
        const hash = one.bodies[0]!.hash
        expect(await redactBody(store, hash)).toMatchObject({
          bodies: 1,
          events: 0,
          isSwept: subject.isSweptAtOnce,
        })
        expect(await store.readBody(hash)).toMatchObject({ absent: "redacted_later", onMs: T0 + HOUR })
        expect((await store.search({ text: "question number 1" })).hits).toEqual([])
        expect((await store.search({ text: "february = 1" })).hits).toHaveLength(1)
        expect((await store.search({ text: "question number 2" })).hits).toHaveLength(1)
        subject.setNow(T0 + DAY)
        await store.commit(ordinaryRun({ no: 3, startedAtMs: T0 + 12 * HOUR }).batch({ bodies: one.bodies }))
        expect(await store.readBody(hash)).toMatchObject({ absent: "redacted_later" })
        expect(await store.integrity({ bodies: "all" })).toEqual([])
      })
    })

    test("[S-07] roll-ups count by day, kind, name and app; open steps count as open", async () => {
      await store.commit(ordinaryRun({ no: 1 }).batch())
      const open = new RecordedRun({ no: 2, startedAtMs: T0 + DAY })
      const root = open.start()
      open.tool(root, "read_file", "{}", "x", "error")
      open.tool(root, "read_file", "{}", null)
      await store.commit(open.batch())
      const tools = await store.rollups({ by: "day", kind: "tool" })
      expect(tools).toMatchObject([
        { period: "2026-03-02", name: "read_file", app: "fixer", count: 1, errors: 0, open: 0, durationMsSum: 10 },
        { period: "2026-03-03", name: "read_file", count: 2, errors: 1, open: 1 },
      ])
      expect(await store.rollups({ by: "week", kind: "tool" })).toMatchObject([
        { period: "2026-03-02", count: 3, errors: 1, open: 1 },
      ])
      expect(await store.rollups({ by: "day", kind: "model" })).toMatchObject([
        { name: "claude-x", provider: "anthropic", tokens: { prompt: 100, completion: 20, cacheRead: null } },
      ])
      expect(await store.rollups({ by: "day", since: T0 + DAY, kind: "model" })).toEqual([])
    })

    test("a rebuild gives the same runs, steps, roll-ups and search as recording did", async () => {
      for (let no = 1; no <= 3; no++) await store.commit(ordinaryRun({ no }).batch())
      const half = new RecordedRun({ no: 4 })
      const root = half.start()
      half.tool(root, "read_file", "{}", null)
      await store.commit(half.batch())
      const picture = async () => ({
        runs: await store.listRuns(),
        steps: await Promise.all([1, 4].map((no) => store.stepsOf(ordinaryRun({ no }).runId))),
        rollups: await store.rollups({ by: "day" }),
        events: canonicalJson(await eventsOf(half.runId)),
        hits: (await store.search({ text: "leap" })).hits.map((hit) => hit.runId).sort(),
        id: await store.resolve(`toolu_0000000200000003`),
      })
      const before = await picture()
      expect(await store.rebuild()).toMatchObject({ runs: 4, events: 23, steps: 11 })
      expect(await picture()).toEqual(before)
      half.complete(root)
      await store.commit({ events: half.events.slice(2) })
      expect(await store.getRun(half.runId)).toMatchObject({ status: "completed", events: 3 })
    })
  })
}
