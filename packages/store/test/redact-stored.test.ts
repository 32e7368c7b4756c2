import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import type { Event } from "@orangebox/contract"
import { openStore, openStoreReader, type StoredRedaction, type TraceStore } from "@orangebox/store"
import { expect, test } from "vitest"
import { openForReading } from "../src/sqlite/connection.js"
import { runChild } from "./children/run-child.js"
import { ordinaryRun, RecordedRun, T0 } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

const SECRET = "hunter2-swordfish-canary-value"

/** Takes one text out of everything. */
function without(secret: string, runId?: string): StoredRedaction {
  const text = (given: string): string => given.replaceAll(secret, "…redacted…")
  return {
    ...(runId === undefined ? {} : { runId }),
    text,
    body: (bytes) => Buffer.from(bytes).includes(secret),
    event: (event) => {
      const json = JSON.stringify(event)
      return json.includes(secret) ? (JSON.parse(text(json)) as Event) : event
    },
  }
}

/** The secret in a body, a log line, an attribute, a step's name, an error, a summary, an annotation and outside any run. */
function leakyRun(no = 1): RecordedRun {
  const run = new RecordedRun({ no, conversationId: `talk about ${SECRET}` })
  const root = run.start()
  run.model(root, JSON.stringify({ messages: [{ role: "user", content: `my key is ${SECRET}` }] }), "noted")
  run.tool(root, `open ${SECRET}`, "{}", "fine")
  run.log(root, null, `using ${SECRET} now`)
  run.log(root, null, "an innocent line")
  run.emit("log", { level: "info", message: `long ${SECRET} ${"x".repeat(70_000)}` }, { stepId: root, parentId: null })
  run.emit("attributes_set", {}, { stepId: root, parentId: null, attributes: { key: SECRET } })
  run.complete(root)
  run.annotate("override", {
    author: "me",
    subject_step_id: null,
    verdict: "accepted",
    reason: `seen ${SECRET}`,
  } as never)
  return run
}

/** Whether any file of the store holds the text, packs looked into. */
function holds(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = readFileSync(path)
      return bytes.includes(text) || (path.includes("packs") && unpacked(bytes).some((block) => block.includes(text)))
    })
}

/** Every run of bytes in a pack that brotli takes; where blocks begin is the store's business. */
function unpacked(pack: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < Math.min(pack.length, 4096); at++) {
    try {
      found.push(brotliDecompressSync(pack.subarray(at)))
    } catch {
      // Not the beginning of a block.
    }
  }
  return found
}

async function stored(folder: string, runs: readonly RecordedRun[], now = T0): Promise<TraceStore> {
  const { store } = openStore(folder, { now: () => now })
  for (const run of runs) await store.commit(run.batch())
  return store
}

test("[X-09] text is taken out of bodies, events, names and index, and no byte of the store holds it", async () => {
  const folder = temporaryFolder()
  const [leaky, clean] = [leakyRun(1), ordinaryRun({ no: 2 })]
  const store = await stored(folder, [leaky, clean])
  expect(
    holds(folder, SECRET)
      .map((path) => path.slice(folder.length + 1, folder.length + 6))
      .sort(),
  ).toEqual(expect.arrayContaining(["packs", "trace"]))
  const report = await store.redactStored(without(SECRET))
  expect(report).toMatchObject({
    bodies: 1,
    runIds: [leaky.runId],
    openStreams: [],
    unreadableBodies: 0,
    isSwept: true,
  })
  expect(report.events).toBe(leaky.events.length)
  await store.close()
  expect(holds(folder, SECRET)).toEqual([])

  const reader = openStoreReader(folder)
  expect((await reader.search({ text: "swordfish" })).hits).toEqual([])
  expect((await reader.search({ text: "innocent line" })).hits).toHaveLength(1)
  expect((await reader.search({ text: "question number 2" })).hits).toHaveLength(1)
  expect(await reader.readBody(leaky.bodies[0]!.hash)).toMatchObject({ absent: "redacted_later", onMs: T0 })
  const { events } = await reader.eventsOf(leaky.runId)
  expect(events).toEqual(
    leaky.events.flatMap(({ event }) => (event.sequence_no === null ? [] : [without(SECRET).event(event)])),
  )
  expect(await reader.getRun(leaky.runId)).toMatchObject({
    conversationId: "talk about …redacted…",
    events: leaky.events.filter(({ event }) => event.sequence_no !== null).length,
    annotations: leaky.events.filter(({ event }) => event.sequence_no === null).length,
  })
  expect((await reader.stepsOf(leaky.runId)).map(({ name }) => name)).toContain("open …redacted…")
  expect((await reader.rollups({ by: "day", kind: "tool" })).map(({ name }) => name).sort()).toEqual([
    "open …redacted…",
    "read_file",
  ])
  expect(await reader.redactionsOf(leaky.runId)).toHaveLength(leaky.events.length)
  expect(await reader.redactionsOf(clean.runId)).toEqual([])
  expect((await reader.eventsOf(clean.runId)).events).toEqual(clean.events.map(({ event }) => event))
  expect(await reader.integrity({ bodies: "all" })).toEqual([])
  await reader.close()
})

test("[X-09] what was redacted does not come back from a journal that is read again, in a fresh database neither", async () => {
  const folder = temporaryFolder()
  const leaky = leakyRun()
  const store = await stored(folder, [leaky])
  await store.redactStored(without(SECRET))
  const again = await store.commit(leaky.batch())
  expect(again).toMatchObject({ events: 0, conflicts: 0, duplicates: leaky.events.length })
  expect(await store.conflictsOf(leaky.runId)).toEqual([])
  const before = await store.eventsOf(leaky.runId)
  await store.close()

  for (const name of ["trace.db", "trace.db-wal", "trace.db-shm", "packs"]) {
    rmSync(join(folder, name), { recursive: true, force: true })
  }
  const fresh = await stored(folder, [leaky])
  expect(await fresh.eventsOf(leaky.runId)).toEqual(before)
  expect(await fresh.redactionsOf(leaky.runId)).toHaveLength(leaky.events.length)
  await fresh.close()
  expect(holds(folder, SECRET)).toEqual([])
})

test("[X-09] a dry run finds the same and changes nothing", async () => {
  const folder = temporaryFolder()
  const leaky = leakyRun()
  const store = await stored(folder, [leaky])
  const report = await store.redactStored(without(SECRET), { isDryRun: true })
  expect(report).toMatchObject({ bodies: 1, events: leaky.events.length, runIds: [leaky.runId], isSwept: false })
  expect((await store.eventsOf(leaky.runId)).events).toEqual(
    leaky.events.flatMap(({ event }) => (event.sequence_no === null ? [] : [event])),
  )
  expect((await store.search({ text: "swordfish" })).hits).not.toEqual([])
  await store.close()
})

test("[X-09] with a run, only what that run holds goes", async () => {
  const folder = temporaryFolder()
  const [one, other] = [leakyRun(1), leakyRun(2)]
  const store = await stored(folder, [one, other])
  const report = await store.redactStored(without(SECRET, one.runId))
  // Both sent the same request, so the body is gone for both.
  expect(report).toMatchObject({ bodies: 1, events: one.events.length })
  expect([...report.runIds].sort()).toEqual([one.runId, other.runId])
  expect((await store.search({ text: "swordfish", runId: one.runId })).hits).toEqual([])
  expect((await store.eventsOf(other.runId)).events.slice(0, 3)).toEqual(
    other.events.slice(0, 3).map(({ event }) => event),
  )
  expect(await store.redactStored(without(SECRET, "run_00000000000000000000000099"))).toMatchObject({
    events: 0,
    bodies: 0,
  })
  await store.close()
})

test("[X-09] a rebuild after a redaction gives the same as before it", async () => {
  const folder = temporaryFolder()
  const leaky = leakyRun()
  const store = await stored(folder, [leaky, ordinaryRun({ no: 2 })])
  await store.redactStored(without(SECRET))
  const look = async () => ({
    run: await store.getRun(leaky.runId),
    steps: await store.stepsOf(leaky.runId),
    rollups: await store.rollups({ by: "day" }),
    events: await store.eventsOf(leaky.runId),
    annotations: await store.annotationsOf(leaky.runId),
  })
  const before = await look()
  await store.rebuild()
  expect(await look()).toEqual(before)
  expect((await store.search({ text: "swordfish" })).hits).toEqual([])
  await store.close()
})

test("[X-09] a body that is still being received is left alone and named", async () => {
  const folder = temporaryFolder()
  const run = new RecordedRun({ no: 1 })
  const stepId = run.start()
  const store = await stored(folder, [run])
  const chunks = [{ offset: 0, bytes: Buffer.from(`so far ${SECRET}`), atMicros: 1 }]
  await store.commit({ streams: [{ streamId: "s1", runId: run.runId, stepId, role: "response", chunks }] })
  expect(await store.redactStored(without(SECRET))).toMatchObject({ bodies: 0, events: 0, openStreams: ["s1"] })
  await store.close()
})

test.each(["redact:applied", "commit:before", "prune:chunks-forgotten", "bodies:settled", "bodies:before-unlink"])(
  "[X-09] killed at %s, a second redaction leaves nothing behind",
  async (point) => {
    const folder = temporaryFolder()
    const leaky = leakyRun()
    await (await stored(folder, [leaky, ordinaryRun({ no: 2 })])).close()
    expect(await runChild("redact-stored.mjs", [folder, SECRET], point)).toMatchObject({ signal: "SIGKILL" })
    expect(await runChild("redact-stored.mjs", [folder, SECRET])).toMatchObject({ code: 0, stderr: "" })
    expect(holds(folder, SECRET)).toEqual([])
    const reader = openStoreReader(folder)
    expect(await reader.redactionsOf(leaky.runId)).toHaveLength(leaky.events.length)
    expect((await reader.eventsOf(leaky.runId)).events).toHaveLength(leaky.events.length - 1)
    expect(await reader.integrity({ bodies: "all" })).toEqual([])
    await reader.close()
  },
)

test("[X-09] while somebody reads, the WAL cannot be cut, and that is said", async () => {
  const folder = temporaryFolder()
  const store = await stored(folder, [leakyRun()])
  const reading = openForReading(join(folder, "trace.db"))
  reading.exec("BEGIN")
  reading.prepare("SELECT count(*) FROM event_rows").get()
  const first = await store.redactStored(without(SECRET))
  expect(first).toMatchObject({
    isSwept: false,
    notSweptBecause: expect.stringContaining("another process is reading"),
  })
  reading.exec("COMMIT")
  reading.close()
  expect(await store.redactStored(without(SECRET))).toMatchObject({ events: 0, bodies: 0, isSwept: true })
  await store.close()
  expect(holds(folder, SECRET)).toEqual([])
})
