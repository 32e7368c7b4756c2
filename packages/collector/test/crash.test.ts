import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { validate } from "@orangebox/contract"
import { listJournals } from "@orangebox/journal"
import { expect, test } from "vitest"
import { COLLECTOR } from "../src/crash-annotation.js"
import { killed, runWriter, startWriter } from "./child-processes.js"
import {
  dataFolder,
  journalFolderOf,
  openWriter,
  problemsIn,
  readRun,
  readStore,
  recordRun,
  writersIn,
} from "./collector-kit.js"
import { eventLine, reheaded, unwrittenRun } from "./journal-lines.js"
import { SampleRun } from "./sample-run.mjs"

test("[L-03] a killed process is noticed, and each run it left open is said to have crashed in its last open step", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "die")

  const report = await catchUp({ dataFolder: folder })

  expect(report.crashedRuns).toEqual([writer.runId])
  const run = await readRun(folder, writer.runId)
  expect(run).toMatchObject({
    status: "crashed",
    types: ["run_started", "step_started"],
    annotations: [
      {
        event_type: "process_crashed",
        sequence_no: null,
        actor_type: "backend",
        source: COLLECTOR,
        step_id: writer.stepId,
        payload: { writer_id: writer.writerId, pid: writer.pid, last_open_step_id: writer.stepId },
      },
    ],
  })
  expect(run.annotations.flatMap(validate)).toEqual([])
  expect(await writersIn(folder)).toMatchObject([{ writerId: writer.writerId, state: "crashed" }])
})

test("[L-03] a crash is said once, however often the journals are collected", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "die")
  for (let times = 0; times < 3; times++) await catchUp({ dataFolder: folder })

  expect((await readRun(folder, writer.runId)).annotations).toHaveLength(1)
  expect((await readStore(folder).status()).conflicts).toBe(0)
})

test("[L-03] a stopped process is not dead, and says so when it goes on", async () => {
  const folder = dataFolder()
  const writer = await startWriter(folder, "open")
  writer.child.kill("SIGSTOP")
  await catchUp({ dataFolder: folder })
  await catchUp({ dataFolder: folder })

  expect(await writersIn(folder)).toMatchObject([{ state: "running" }])
  expect(await readRun(folder, writer.runId)).toMatchObject({ status: "running", annotations: [] })

  await killed(writer.child)
  await catchUp({ dataFolder: folder })
  expect((await readRun(folder, writer.runId)).status).toBe("crashed")
})

test("[L-03] a writer on another machine is silent, never dead (fault 30)", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "die")
  const [file] = listJournals(journalFolderOf(folder))
  writeFileSync(
    file!.path,
    reheaded(readFileSync(file!.path), (header) => {
      header.process.hostname = "elsewhere"
    }),
  )
  await catchUp({ dataFolder: folder })
  await catchUp({ dataFolder: folder })

  expect(await readRun(folder, writer.runId)).toMatchObject({ status: "running", annotations: [] })
  expect((await writersIn(folder))[0]!.state).not.toBe("crashed")
})

test("[L-03] a recorded end that arrives after the crash was noticed wins", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "die")
  await catchUp({ dataFolder: folder })
  expect((await readRun(folder, writer.runId)).status).toBe("crashed")

  const run = Object.assign(unwrittenRun(), { runId: writer.runId })
  run.start()
  run.openStep()
  const [file] = listJournals(journalFolderOf(folder))
  appendFileSync(file!.path, eventLine(run.complete().event))
  await catchUp({ dataFolder: folder })

  expect(await readRun(folder, writer.runId)).toMatchObject({
    status: "completed",
    annotations: [{ event_type: "process_crashed" }],
  })
})

test("[L-03] a process that says goodbye and leaves a run open has ended; the run counts as crashed", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "exit")
  await catchUp({ dataFolder: folder })

  expect(await writersIn(folder)).toMatchObject([{ state: "exited", exit: { exitCode: 3 } }])
  expect(await readRun(folder, writer.runId)).toMatchObject({
    status: "crashed",
    annotations: [{ payload: { evidence: expect.stringContaining("uncaught exception (exit code 3)") } }],
  })
})

test("[L-03] runs that ended are left alone when their process dies", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = recordRun(journal)
  const [file] = listJournals(journalFolderOf(folder))
  const elsewhere = dataFolder()
  const dead = reheaded(readFileSync(file!.path), (header) => {
    header.process.start_ticks = 1
  })
  writeFileSync(join(journalFolderOf(elsewhere), basename(file!.path)), dead, { mode: 0o600 })
  await catchUp({ dataFolder: elsewhere })

  expect(await writersIn(elsewhere)).toMatchObject([{ state: "crashed" }])
  expect(await readRun(elsewhere, run.runId)).toMatchObject({ status: "completed", annotations: [] })
})

test("[J-07] what had arrived of a streamed answer stays readable when its process dies", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "stream")
  await catchUp({ dataFolder: folder })

  const store = readStore(folder)
  const streams = await store.partialStreamsOf(writer.runId)
  expect(streams).toMatchObject([{ state: "abandoned", stepId: writer.stepId, role: "response", isUnbroken: true }])
  const bytes = await store.readPartialStream(streams[0]!.streamId)
  expect(Buffer.from(bytes!).toString()).toBe("half of the answer")
})

test("a dead process's last words are said about the run it left open", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "last-words")
  await catchUp({ dataFolder: folder })

  const { annotations } = await readRun(folder, writer.runId)
  expect(annotations.map((event) => event.event_type).sort()).toEqual(["log", "process_crashed"])
  expect(annotations.flatMap(validate)).toEqual([])
  expect(annotations.find((event) => event.event_type === "log")?.payload).toMatchObject({
    level: "error",
    message: "the manifest could not be written",
  })
})

test.each(["stopped", "stopped-then-ended"])(
  "[F-02] last words that name the run a recorder stopped become its fault, whether or not it is still open: %s",
  async (what) => {
    const folder = dataFolder()
    const writer = await runWriter(folder, what)
    await catchUp({ dataFolder: folder })
    await catchUp({ dataFolder: folder })

    const { annotations } = await readRun(folder, writer.runId)
    const faults = annotations.filter((event) => event.event_type === "fault")
    expect(faults).toMatchObject([
      {
        run_id: writer.runId,
        step_id: writer.stepId,
        payload: {
          trigger: "system_error",
          detail: "the run was stopped at context_manifest 7: no room",
          artifact_ids: [],
          missing: ["context_manifest 7"],
        },
      },
    ])
    expect(annotations.flatMap(validate)).toEqual([])
  },
)

test("records that a dead process dropped and could not declare are a gap, from its reserve file (fault 4)", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "full-disk")
  await catchUp({ dataFolder: folder })
  await catchUp({ dataFolder: folder })

  expect((await readRun(folder, writer.runId)).gaps).toMatchObject([
    { code: "write_failed", lost: 3, writerId: writer.writerId },
  ])
})

test("a torn last line is waited for while its writer lives (fault 29)", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const [file] = listJournals(journalFolderOf(folder))
  const before = readFileSync(file!.path).length
  run.log("whole in the end")
  const line = readFileSync(file!.path).subarray(before)
  truncateSync(file!.path, before)
  appendFileSync(file!.path, line.subarray(0, 40))

  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 1, behindBytes: 40, gaps: 0, problems: 0 })
  appendFileSync(file!.path, line.subarray(40))
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 1, behindBytes: 0 })

  expect((await readRun(folder, run.runId)).messages).toEqual(["whole in the end"])
  expect(await problemsIn(folder)).toEqual([])
})

test("a torn last line of a dead writer is counted once, and the file is complete (faults 2, 30)", async () => {
  const folder = dataFolder()
  await runWriter(folder, "die")
  const [file] = listJournals(journalFolderOf(folder))
  appendFileSync(file!.path, '{"crc":"00000000","k":"event","e":{"sch')

  const report = await catchUp({ dataFolder: folder })
  expect(report).toMatchObject({ behindBytes: 0, problems: 1, gaps: 1 })
  await catchUp({ dataFolder: folder })

  expect((await problemsIn(folder)).map(({ code, file: name, offset }) => ({ code, name, offset }))).toEqual([
    { code: "torn_tail", name: basename(file!.path), offset: file!.byteSize },
  ])
  expect(listJournals(journalFolderOf(folder))[0]!.isCommitted).toBe(true)
})
