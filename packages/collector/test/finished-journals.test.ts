import { copyFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { catchUp, DEFAULT_KEPT_WINDOW } from "@orangebox/collector"
import { listJournals } from "@orangebox/journal"
import { expect, test } from "vitest"
import { runWriter } from "./child-processes.js"
import { dataFolder, journalFolderOf, openWriter, readRun, recordRun, sayGoodbye } from "./collector-kit.js"
import { SampleRun } from "./sample-run.mjs"

const KEEP_NOTHING = { ageMs: 0, bytes: 0, files: 0 }

const filesIn = (folder: string): string[] => readdirSync(journalFolderOf(folder))

test("[S-03] a journal that is wholly in the store is marked and kept for a while, then deleted with all that belongs to it", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  run.log("with a body", [Buffer.alloc(5000, "x")])
  run.complete()
  journal.lastWords("keeps the reserve file")
  sayGoodbye(journal)

  await catchUp({ dataFolder: folder })
  expect(
    filesIn(folder)
      .map((name) => name.split(".").at(-1))
      .sort(),
  ).toEqual(["bodies", "committed", "ndjson", "reserve"])

  const marker = join(journalFolderOf(folder), filesIn(folder).find((name) => name.endsWith(".committed"))!)
  const longAgo = (Date.now() - DEFAULT_KEPT_WINDOW.ageMs - 1000) / 1000
  utimesSync(marker, longAgo, longAgo)
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ filesRemoved: 1 })
  expect(filesIn(folder)).toEqual([])
  expect((await readRun(folder, run.runId)).status).toBe("completed")
})

test("[S-03] the kept window ends by bytes and by number as well, oldest first", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder, { maxFileBytes: 4096 })
  for (let i = 0; i < 10; i++) recordRun(journal)
  sayGoodbye(journal)
  const numbers = () => listJournals(journalFolderOf(folder)).map((file) => file.fileNo)
  const before = numbers()

  await catchUp({ dataFolder: folder, keep: { ...DEFAULT_KEPT_WINDOW, files: 3 } })
  expect(numbers()).toEqual(before.slice(-3))
  await catchUp({ dataFolder: folder, keep: { ...DEFAULT_KEPT_WINDOW, bytes: 4096 } })
  expect(numbers()).toEqual(before.slice(-1))
})

test("[S-03] no file that its writer may still append to is marked or deleted", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })
  run.log("still here")
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })

  expect(listJournals(journalFolderOf(folder))).toMatchObject([{ isCommitted: false }])
  expect((await readRun(folder, run.runId)).messages).toEqual(["still here"])
})

test("[S-03] a later file without a first line does not finish the one before: a rotation may have failed there", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const [file] = listJournals(journalFolderOf(folder))
  writeFileSync(file!.path.replace(".1.ndjson", ".2.ndjson"), "", { mode: 0o600 })
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })
  run.log("the old file serves on")
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })

  expect((await readRun(folder, run.runId)).messages).toEqual(["the old file serves on"])
})

test("[S-03] a copy that looks like a later file does not finish the original", async () => {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const [file] = listJournals(journalFolderOf(folder))
  copyFileSync(file!.path, file!.path.replace(".1.ndjson", ".2.ndjson"))
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })
  run.log("goes on in the original")
  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })

  expect((await readRun(folder, run.runId)).messages).toEqual(["goes on in the original"])
})

test("[S-03] what a deletion that was cut short left behind is swept away (fault 28)", async () => {
  const folder = dataFolder()
  const writer = await runWriter(folder, "last-words")
  await catchUp({ dataFolder: folder })
  const [file] = listJournals(journalFolderOf(folder))
  const stem = file!.path.replace(/\.1\.ndjson$/, "")
  writeFileSync(`${stem}.3.bodies`, "", { mode: 0o600 })
  writeFileSync(`${stem}.4.committed`, "", { mode: 0o600 })

  await catchUp({ dataFolder: folder, keep: KEEP_NOTHING })

  expect(filesIn(folder)).toEqual([])
  expect((await readRun(folder, writer.runId)).status).toBe("crashed")
})
