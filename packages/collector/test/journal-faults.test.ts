import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { basename, join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { bodyHash } from "@orangebox/contract"
import { type JournalFile, listJournals } from "@orangebox/journal"
import { expect, test } from "vitest"
import {
  dataFolder,
  journalFolderOf,
  openWriter,
  problemsIn,
  readRun,
  readStore,
  recordedFolder,
  recordRun,
  sayGoodbye,
} from "./collector-kit.js"
import { eventLine, reheaded, unwrittenRun } from "./journal-lines.js"
import { SampleRun } from "./sample-run.mjs"

const onlyFile = (folder: string): JournalFile => listJournals(journalFolderOf(folder))[0]!

/** A file name of the same writer with another number: what a copy or a later file is called. */
const numbered = (path: string, fileNo: number): string => path.replace(/\.\d+\.ndjson$/, `.${fileNo}.ndjson`)

async function codesIn(folder: string): Promise<string[]> {
  return (await problemsIn(folder)).map((problem) => problem.code)
}

async function gapsIn(folder: string): Promise<number> {
  return (await readStore(folder).status()).gaps
}

test("[J-06] a corrupt line in the middle is skipped, located and counted; the rest is stored (fault 31)", async () => {
  const { folder, run } = recordedFolder(3)
  const { path } = onlyFile(folder)
  const bytes = readFileSync(path)
  const at = bytes.indexOf("line 1")
  bytes[at] = 0x4c
  writeFileSync(path, bytes)

  await catchUp({ dataFolder: folder })

  expect(await readRun(folder, run.runId)).toMatchObject({ status: "completed", messages: ["line 0", "line 2"] })
  const [problem] = await problemsIn(folder)
  const lineStart = bytes.lastIndexOf(10, at) + 1
  expect(problem).toMatchObject({ code: "corrupt_line", file: basename(path), offset: lineStart })
  expect(await gapsIn(folder)).toBe(1)
})

test("[J-06] zero bytes in the middle, the shape of a power cut, cost what they covered and no more (fault 32)", async () => {
  const { folder, run } = recordedFolder(3)
  const { path } = onlyFile(folder)
  const bytes = readFileSync(path)
  const at = bytes.lastIndexOf(10, bytes.indexOf("line 1")) + 1
  writeFileSync(path, Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 << 20), bytes.subarray(at)]))

  await catchUp({ dataFolder: folder })

  expect((await readRun(folder, run.runId)).messages).toEqual(["line 0", "line 1", "line 2"])
  expect(await codesIn(folder)).toEqual(["nul_run"])
})

test("a file emptied and refilled under the same name is read from its new beginning, with one gap (fault 10)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  run.log("before")
  await catchUp({ dataFolder: folder })
  truncateSync(onlyFile(folder).path, 0)
  run.log("after")
  run.log("and after that, longer than everything that was there before ".repeat(20))

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 2, gaps: 1 })
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, gaps: 0 })
  expect((await readRun(folder, run.runId)).messages.slice(0, 2)).toEqual(["before", "after"])
})

test("a file cut to a shorter length is read again from its beginning, with one gap, and nothing doubles (fault 10)", async () => {
  const { folder, run } = recordedFolder(5)
  await catchUp({ dataFolder: folder })
  const { path, byteSize } = onlyFile(folder)
  truncateSync(path, Math.floor(byteSize / 2))

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, conflicts: 0 })
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ commits: 0, gaps: 0 })
  expect((await readRun(folder, run.runId)).messages).toHaveLength(5)
})

test("a journal copied under a new name brings nothing twice, with or without the bodies beside it (fault 18)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  run.log("with a body", [Buffer.alloc(5000, "in the sidecar ")])
  run.complete()
  sayGoodbye(journal)
  await catchUp({ dataFolder: folder })
  const { path } = onlyFile(folder)
  copyFileSync(path, numbered(path, 7))
  copyFileSync(path, path.replace(/[0-9a-f]{32}/, "f".repeat(32)))

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, duplicates: 6, conflicts: 0, problems: 0 })
  expect((await readStore(folder).writers()).map((writer) => writer.writerId)).toEqual([journal.writerId])
})

test("the record of another content under a known id is kept as a conflict, never over the first (fault 18)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const { event } = run.log("the first")
  await catchUp({ dataFolder: folder })
  appendFileSync(onlyFile(folder).path, eventLine({ ...event, payload: { level: "info", message: "the second" } }))

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, conflicts: 1 })
  expect((await readRun(folder, run.runId)).messages).toEqual(["the first"])
})

test("files of a writer that rotates all the time are read whole and in order (fault 11)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder, { maxFileBytes: 4096 })
  const run = new SampleRun(journal)
  run.start()
  for (let i = 0; i < 200; i++) {
    run.log(`${i}`)
    if (i % 40 === 0) await catchUp({ dataFolder: folder })
  }
  await catchUp({ dataFolder: folder })

  expect(listJournals(journalFolderOf(folder)).length).toBeGreaterThan(20)
  expect((await readRun(folder, run.runId)).messages).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`))
  expect(await codesIn(folder)).toEqual([])
})

test("a body whose file is gone is a problem that says where; its event stays", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  run.log("its body is lost", [Buffer.alloc(5000, "lost ")])
  sayGoodbye(journal)
  rmSync(onlyFile(folder).sidecarPath)

  await catchUp({ dataFolder: folder })

  expect((await readRun(folder, run.runId)).messages).toEqual(["its body is lost"])
  expect(await problemsIn(folder)).toMatchObject([{ code: "body_lost", file: basename(onlyFile(folder).path) }])
})

test("an event nobody can understand is a problem with file and offset; one that only breaks the contract is stored as well", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const { path } = onlyFile(folder)
  const garbageAt = statSync(path).size
  appendFileSync(path, eventLine({ some: "thing else" }))
  run.append("log", run.rootId, null, { level: "shouting", message: "stored all the same" })

  await catchUp({ dataFolder: folder })

  expect((await readRun(folder, run.runId)).messages).toEqual(["stored all the same"])
  const problems = await problemsIn(folder)
  expect(problems).toContainEqual(
    expect.objectContaining({ code: "schema_version", file: basename(path), offset: garbageAt }),
  )
  expect(problems).toContainEqual(expect.objectContaining({ field: "payload.level", file: basename(path) }))
})

test("fields that a newer minor version added are kept", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const { event } = unwrittenRun().log("from the future")
  const newer = {
    ...event,
    run_id: run.runId,
    trace_id: run.traceId,
    sequence_no: 1,
    schema_version: "1.9.0",
    mood: "good",
  }
  appendFileSync(onlyFile(folder).path, eventLine(newer))

  await catchUp({ dataFolder: folder })

  const { events } = await readStore(folder).eventsOf(run.runId)
  expect(events[1]).toMatchObject({ mood: "good", payload: { message: "from the future" } })
})

test("a journal with event types of a newer build is not deleted, so that the newer build finds them", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = recordRun(journal)
  const { event } = unwrittenRun().log("")
  appendFileSync(onlyFile(folder).path, eventLine({ ...event, event_type: "dream", schema_version: "1.9.0" }))
  sayGoodbye(journal)

  await catchUp({ dataFolder: folder, keep: { ageMs: 0, bytes: 0, files: 0 } })

  expect((await readRun(folder, run.runId)).status).toBe("completed")
  expect(await codesIn(folder)).toEqual(["event_type"])
  expect(listJournals(journalFolderOf(folder))).toMatchObject([{ isCommitted: false }])
})

test("a journal of a newer format is left whole for a newer build", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  recordRun(journal)
  sayGoodbye(journal)
  const { path } = onlyFile(folder)
  const newer = reheaded(readFileSync(path), (header) => {
    header.format_version = 99
  })
  writeFileSync(path, newer)

  for (let times = 0; times < 2; times++) {
    expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, gaps: 0, behindBytes: newer.length })
  }
  expect(await codesIn(folder)).toEqual(["unknown_format"])
  expect(onlyFile(folder).isCommitted).toBe(false)
})

test("a file that is away for a while is read on from where it was", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  await catchUp({ dataFolder: folder })
  const { path } = onlyFile(folder)
  const hidden = join(folder, "hidden")
  renameSync(path, hidden)
  run.log("written while it was away")
  await catchUp({ dataFolder: folder })
  renameSync(hidden, path)

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 1, duplicates: 0, gaps: 0 })
})

test.each(["run-0.ndjson", "run-1.0.ndjson", "run-1.1.ndjson"])(
  "events of every published version are read: %s",
  async (fixture) => {
    const folder = dataFolder()
    const journal = openWriter(folder)
    const lines = readFileSync(new URL(`../../contract/test/fixtures/${fixture}`, import.meta.url), "utf8")
      .trim()
      .split("\n")
    for (const line of lines) appendFileSync(onlyFile(folder).path, eventLine(JSON.parse(line)))
    sayGoodbye(journal)

    expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: lines.length, conflicts: 0 })
  },
)

test.each([
  ["artifact_hash", undefined],
  ["artifact_hash", { not: "a hash" }],
  ["artifact_type", undefined],
  ["artifact_type", 7],
  ["byte_size", undefined],
  ["byte_size", [1]],
  ["byte_size", 1e300],
  ["mime_type", { not: "a type" }],
  ["mime_type", true],
])("an event whose ref says %s: %j is stored with its problems and holds up nothing", async (field, value) => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const bytes = Buffer.from("what the ref should name")
  const broken = unwrittenRun().log("broken ref", [bytes]).event
  Object.assign(broken, { run_id: run.runId, sequence_no: 1 })
  broken.artifact_refs[0][field] = value
  const line = { json: JSON.stringify(broken), runId: run.runId, sequenceNo: 1 }
  journal.append({ ...line, bodies: [{ hash: bodyHash(bytes), bytes }] })
  run.complete()
  sayGoodbye(journal)

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 3, behindBytes: 0 })
  expect((await readRun(folder, run.runId)).messages).toEqual(["broken ref"])
  expect((await problemsIn(folder)).length).toBeGreaterThan(0)
  await readStore(folder).search({ text: "should name" })
})

test.each([
  { mono_us: undefined },
  { mono_us: null },
  { mono_us: "12" },
  { mono_us: 1e300 },
  { mono_us: [1] },
  { conversation_id: { not: "an id" } },
  { conversation_id: 7 },
  { replay: null },
  { replay: { source_run_id: [] } },
  { attempt_no: "first" },
  { attempt_no: {} },
])("a run whose events say %j is stored with its problems and holds up nothing", async (broken) => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = unwrittenRun()
  for (const { event } of [run.start(), run.log("when?"), run.complete()]) {
    const json = JSON.stringify({ ...event, ...broken })
    journal.append({ json, runId: run.runId, sequenceNo: event.sequence_no, bodies: [] })
  }
  sayGoodbye(journal)

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 3, behindBytes: 0 })
  expect(await readRun(folder, run.runId)).toMatchObject({ status: "completed", messages: ["when?"] })
  expect((await problemsIn(folder)).length).toBeGreaterThan(0)
})
