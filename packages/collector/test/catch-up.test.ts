import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { bodyHash } from "@orangebox/contract"
import { acquireStoreLock } from "@orangebox/store"
import { expect, test } from "vitest"
import {
  dataFolder,
  openWriter,
  problemsIn,
  readRun,
  readStore,
  recordRun,
  sayGoodbye,
  writersIn,
} from "./collector-kit.js"
import { SampleRun } from "./sample-run.mjs"

test("[L-04] what was recorded while no collector ran is in the store after catching up", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = recordRun(journal, 5)
  sayGoodbye(journal)

  const report = await catchUp({ dataFolder: folder })

  expect(report).toMatchObject({ events: 7, duplicates: 0, behindBytes: 0, problems: 0, gaps: 0 })
  expect(await readRun(folder, run.runId)).toMatchObject({
    status: "completed",
    messages: ["line 0", "line 1", "line 2", "line 3", "line 4"],
    annotations: [],
  })
  expect(await problemsIn(folder)).toEqual([])
  expect(await writersIn(folder)).toMatchObject([{ writerId: journal.writerId, state: "exited", records: 7 }])
})

test("[L-01] catching up twice takes nothing twice", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  recordRun(journal)
  await catchUp({ dataFolder: folder })

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ commits: 0, events: 0, duplicates: 0, behindBytes: 0 })
})

test("[L-04] where all journals are in the store already, catching up writes nothing and takes no lock; one more line, a mark that is gone or a window that is over, and it works again", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  recordRun(journal)
  sayGoodbye(journal)
  await catchUp({ dataFolder: folder })
  const lines = join(folder, "journal", readdirSync(join(folder, "journal")).find((name) => name.endsWith(".ndjson"))!)
  const mark = lines.replace(/ndjson$/, "committed")
  const lock = acquireStoreLock(join(folder, "store"))
  if (!lock.isHeld) throw new Error("the lock was not free")
  const before = statesIn(folder)

  expect(await catchUp({ dataFolder: folder, waitMs: 0 })).toMatchObject({ commits: 0, behindBytes: 0 })
  expect(await catchUp({ dataFolder: folder, waitMs: 0 })).not.toHaveProperty("heldBy")
  expect(statesIn(folder)).toEqual(before)

  const ended = readFileSync(lines)
  appendFileSync(lines, "{")
  expect(await catchUp({ dataFolder: folder, waitMs: 0 })).toHaveProperty("heldBy")
  writeFileSync(lines, ended)
  rmSync(mark)
  expect(await catchUp({ dataFolder: folder, waitMs: 0 })).toHaveProperty("heldBy")
  writeFileSync(mark, "")
  const keep = { ageMs: 0, bytes: 1e9, files: 10 }
  expect(await catchUp({ dataFolder: folder, waitMs: 0, keep })).toHaveProperty("heldBy")
  lock.release()
  expect(await catchUp({ dataFolder: folder, keep })).toMatchObject({ filesRemoved: 1 })
})

/** What a write would change. SQLite's shared memory is no record. */
function statesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"))
    .map(({ parentPath, name }) => {
      const { size, mtimeMs } = statSync(join(parentPath, name))
      return `${name} ${size} ${mtimeMs}`
    })
    .sort()
}

test("[L-02] lines that a living writer goes on to append are taken by the next pass, from where the last one stopped", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  run.log("first")
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 2 })
  run.log("second")
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 1, duplicates: 0 })

  expect(await readRun(folder, run.runId)).toMatchObject({ status: "running", messages: ["first", "second"] })
  expect(await writersIn(folder)).toMatchObject([{ state: "running", records: 3 }])
})

test("[S-01] inline, sidecar and streamed bodies are stored byte for byte", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const small = Buffer.from("a few words")
  const binary = Buffer.from([0, 255, 254, 10, 128])
  const medium = Buffer.from("medium ".repeat(1000))
  const large = Buffer.alloc(3 * 1024 * 1024, "large and longer than one piece ")
  const pieces = [
    Buffer.from("once "),
    Buffer.alloc(5000, "upon "),
    Buffer.alloc(600_000, "a time "),
    Buffer.from("end"),
  ]
  for (const bytes of [small, binary, medium, large]) run.log("with a body", [bytes])
  const stream = journal.openStream({ runId: run.runId, stepId: run.rootId, role: "response" })
  for (const piece of pieces) stream.write(piece)
  const streamed = run.logStream(stream).event.payload.body_ref
  sayGoodbye(journal)

  await catchUp({ dataFolder: folder })

  const store = readStore(folder)
  const { events } = await store.eventsOf(run.runId)
  const stored = await Promise.all(
    events.flatMap((event) =>
      event.event_type === "log" && event.payload.body_ref ? [store.readBody(event.payload.body_ref)] : [],
    ),
  )
  const hashes = stored.map((reading) => ("bytes" in reading ? bodyHash(reading.bytes) : reading))
  expect(hashes).toEqual([small, binary, medium, large, Buffer.concat(pieces)].map(bodyHash))
  expect(await store.bodyInfo(streamed)).toMatchObject({ mime: "text/plain" })
  expect(await store.partialStreamsOf(run.runId)).toEqual([])
  expect(await store.problems()).toEqual([])
})

test("hundreds of journals that waited are taken in a few commits, one file open at a time (fault 50)", async () => {
  const folder = dataFolder()
  const runs = Array.from({ length: 300 }, () => {
    const journal = openWriter(folder)
    const run = recordRun(journal, 1)
    sayGoodbye(journal)
    return run.runId
  })

  const report = await catchUp({ dataFolder: folder })

  expect(report).toMatchObject({ events: 900, filesRead: 300, behindBytes: 0 })
  expect(report.commits).toBeLessThan(10)
  const { rows } = await readStore(folder).listRuns({ limit: 1000, status: "completed" })
  expect(rows.map((run) => run.runId).sort()).toEqual(runs.sort())
})

test("a data folder that is not there is left not there", async () => {
  const folder = `${dataFolder()}/none`
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, behindBytes: 0 })
})
