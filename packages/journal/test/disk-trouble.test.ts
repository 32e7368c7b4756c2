import { readdirSync, renameSync, rmSync, statSync, truncateSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import { SystemError } from "@orangebox/contract"
import { listJournals, readReserve } from "@orangebox/journal"
import { describe, expect, test } from "vitest"
import { failingFs, handClock } from "./failing-fs.js"
import { event, numbersOf, openTestJournal, readFile, readFolder, upTo } from "./journal-kit.js"

const CODES = ["ENOSPC", "EDQUOT", "EIO", "EFBIG", "EROFS", "EBADF"]
const BODY = Buffer.alloc(5000, "b")

function openOnFailingDisk(options: Parameters<typeof openTestJournal>[0] = {}) {
  const fs = failingFs()
  const clock = handClock()
  return { fs, clock, ...openTestJournal({ fs, now: clock.now, fsync: "never", ...options }) }
}

describe.each(CODES)("%s", (code) => {
  test("[J-04] at any write, exactly the unacknowledged records are missing, and one gap names them", () => {
    // Two codes stand for the two ways to go on, in the same file or in a new one; the others are tried here and there.
    const step = code === "ENOSPC" || code === "EIO" ? 1 : 7
    for (let position = 1; position <= 24; position += step) {
      const { fs, clock, journal, folder, warnings } = openOnFailingDisk()
      const before = fs.count("writeSync")
      fs.inject({ call: "writeSync", when: (count) => count === before + position, with: code })
      const acknowledged: number[] = []
      for (let i = 0; i < 12; i++) {
        if (journal.append(event(i, [Buffer.concat([BODY, Buffer.of(i)])])).written) acknowledged.push(i)
        clock.pass(100)
      }
      const { events, gaps, problems } = readFolder(folder)
      expect(numbersOf(events)).toEqual(acknowledged)
      expect(problems).toEqual([])
      const missing = upTo(12).filter((i) => !acknowledged.includes(i))
      expect(missing).toHaveLength(1)
      expect(warnings).toHaveLength(1)
      // The gap of the very last record is written when there is something to write after it.
      if (missing[0] === 11) journal.close({ exitCode: 0, reason: "exit" })
      expect(readFolder(folder).gaps).toMatchObject([
        {
          gapNo: 1,
          reason: "write_failed",
          failure: code,
          records: 1,
          runs: [{ runId: "run_a", firstSequenceNo: missing[0], lastSequenceNo: missing[0], count: 1 }],
        },
      ])
      expect(gaps.length).toBeLessThanOrEqual(1)
    }
  })

  test("[J-04] for a while: the app goes on, drops are counted, one warning, one gap, and recording resumes by itself", () => {
    const { fs, clock, journal, folder, warnings } = openOnFailingDisk()
    journal.append(event(0))
    fs.inject({ call: "writeSync", when: () => true, with: code })
    for (let i = 1; i <= 1000; i++) {
      expect(journal.append(event(i)).written).toBe(false)
      clock.pass(10)
    }
    expect(journal.stats()).toMatchObject({ recordsWritten: 1, recordsDropped: 1000 })
    fs.inject(undefined)
    clock.pass(5000)
    expect(journal.append(event(1001)).written).toBe(true)
    const { events, gaps } = readFolder(folder)
    expect(numbersOf(events)).toEqual([0, 1001])
    expect(gaps).toMatchObject([
      { failure: code, records: 1000, runs: [{ firstSequenceNo: 1, lastSequenceNo: 1000, count: 1000 }] },
    ])
    expect(warnings.map((warning) => warning.code)).toEqual(["JOURNAL_WRITE"])
  })
})

test("[J-04] a failing disk is tried again ever more rarely", () => {
  const { fs, clock, journal } = openOnFailingDisk()
  fs.inject({ call: "writeSync", when: () => true, with: "ENOSPC" })
  const opened = fs.count("openSync")
  const before = fs.count("writeSync")
  for (let i = 0; i < 10_000; i++) {
    journal.append(event(i))
    clock.pass(1)
  }
  // Each drop is also counted in the reserve file; what is left are the attempts at the journal itself.
  expect(fs.count("writeSync") - before - 10_000).toBeLessThan(20)
  expect(fs.count("openSync")).toBe(opened)
})

test("[J-04] a short write at any length is noticed: the record is written again, whole, on a fresh line", () => {
  const length = Buffer.byteLength('{"crc":"00000000","k":"event","e":{"i":1,"filler":""}}\n')
  for (let bytes = 0; bytes < length; bytes++) {
    const { fs, journal, folder } = openOnFailingDisk()
    journal.append(event(0))
    const before = fs.count("writeSync")
    fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: { bytes } })
    expect(journal.append(event(1)).written).toBe(true)
    expect(journal.append(event(2)).written).toBe(true)
    const { events, problems } = readFolder(folder)
    expect(numbersOf(events)).toEqual([0, 1, 2])
    expect(problems).toMatchObject([{ code: "torn_line" }])
  }
})

test("[J-04] a disk that stays short drops the record, and its fragment is never glued to the next", () => {
  for (const bytes of [1, 17, 30, 53, 54]) {
    const { fs, clock, journal, folder, warnings } = openOnFailingDisk()
    journal.append(event(0))
    const before = fs.count("writeSync")
    fs.inject({ call: "writeSync", when: (count) => count <= before + 2, with: { bytes } })
    expect(journal.append(event(1)).written).toBe(false)
    fs.inject(undefined)
    clock.pass(100)
    expect(journal.append(event(2)).written).toBe(true)
    const { events, gaps } = readFolder(folder)
    expect(numbersOf(events)).toEqual([0, 2])
    expect(gaps).toMatchObject([{ failure: "SHORT_WRITE", records: 1 }])
    expect(warnings).toHaveLength(1)
  }
})

test("[J-04] a short write of a body is finished before the line that names it", () => {
  const { fs, journal, folder } = openOnFailingDisk()
  const before = fs.count("writeSync")
  fs.inject({ call: "writeSync", when: (count) => count <= before + 4, with: { bytes: 1000 } })
  expect(journal.append(event(0, [BODY])).written).toBe(true)
  expect(readFolder(folder).bodies[0]?.equals(BODY)).toBe(true)
})

test("[J-04] EIO and EFBIG abandon the file for a new one", () => {
  for (const code of ["EIO", "EFBIG"]) {
    const { fs, clock, journal, folder } = openOnFailingDisk()
    const before = fs.count("writeSync")
    fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: code })
    journal.append(event(0))
    clock.pass(100)
    journal.append(event(1))
    expect(listJournals(folder).map((file) => file.fileNo)).toEqual([1, 2])
  }
})

test("[J-04] trouble that comes back soon is the same episode, trouble much later a new one", () => {
  const { fs, clock, journal, warnings } = openOnFailingDisk()
  const failOnce = (i: number) => {
    const before = fs.count("writeSync")
    fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: "ENOSPC" })
    journal.append(event(i))
    fs.inject(undefined)
    clock.pass(4000)
    expect(journal.append(event(i + 1)).written).toBe(true)
  }
  failOnce(0)
  failOnce(2)
  expect(warnings).toHaveLength(1)
  clock.pass(60_000)
  failOnce(4)
  expect(warnings).toHaveLength(2)
})

test("[J-04] a disk that is full from the start is no reason to throw, and recording begins once there is room", () => {
  const fs = failingFs()
  fs.inject({ call: "writeSync", when: () => true, with: "ENOSPC" })
  const clock = handClock()
  const { journal, folder, warnings } = openTestJournal({ fs, now: clock.now })
  expect(journal.append(event(0)).written).toBe(false)
  fs.inject(undefined)
  clock.pass(3000)
  expect(journal.append(event(1)).written).toBe(true)
  const { events, gaps } = readFolder(folder)
  expect(numbersOf(events)).toEqual([1])
  expect(gaps).toMatchObject([{ records: 1 }])
  expect(warnings).toHaveLength(1)
})

test("[J-04] recording resumes without another record to push it", async () => {
  const { journal, folder, fs } = { fs: failingFs(), ...openTestJournal() }
  journal.close({ exitCode: 0, reason: "closed" })
  const opened = openTestJournal({ fs, folder: join(folder, "..", "second") })
  const before = fs.count("writeSync")
  fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: "ENOSPC" })
  opened.journal.append(event(0))
  await expect.poll(() => readFolder(opened.folder).gaps).toMatchObject([{ records: 1 }])
})

test("[J-04] [J-08] while the disk is full the reserve keeps the drop counter, the pending gap and the last words", () => {
  const { fs, clock, journal, folder } = openOnFailingDisk()
  journal.append(event(0))
  // Only the journal file is full: the reserve overwrites blocks it already has.
  const reservePath = listJournals(folder)[0]!.reservePath
  expect(statSync(reservePath).size).toBe(3 * 4096)
  fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: "ENOSPC" })
  const before = fs.count("writeSync")
  for (let i = 1; i <= 7; i++) journal.append(event(i))
  journal.lastWords("the run stops: no room for its manifest")
  expect(readReserve(reservePath)).toMatchObject({
    recordsDropped: 7,
    pendingGap: { gapNo: 1, failure: "ENOSPC", records: 7, runs: [{ firstSequenceNo: 1, lastSequenceNo: 7 }] },
    lastWords: { text: "the run stops: no room for its manifest" },
  })
  clock.pass(100)
  journal.append(event(8))
  expect(readReserve(reservePath)).toMatchObject({ recordsDropped: 7, pendingGap: null })
  journal.close({ exitCode: 1, reason: "exit" })
  expect(readReserve(reservePath)).toMatchObject({ recordsDropped: 7 })
})

test("[J-08] a gap too long for the reserve still says how much is missing; words too long are cut", () => {
  const { fs, journal, folder } = openOnFailingDisk()
  const before = fs.count("writeSync")
  fs.inject({ call: "writeSync", when: (count) => count === before + 1, with: "ENOSPC" })
  for (let i = 0; i < 100; i++) journal.append({ ...event(i), runId: `run_${"x".repeat(40)}${i}` })
  journal.lastWords("\u0000✓".repeat(5000))
  const reserve = readReserve(listJournals(folder)[0]!.reservePath)
  expect(reserve?.pendingGap).toMatchObject({ records: 100, recordsNotListed: 100 })
  expect(reserve?.lastWords?.text).toMatch(/^\0✓/)
})

test("[J-08] a clean end without drops removes the reserve", () => {
  const { journal, folder } = openTestJournal()
  journal.append(event(0))
  expect(readdirSync(folder).filter((name) => name.endsWith(".reserve"))).toHaveLength(1)
  journal.close({ exitCode: 0, reason: "exit" })
  expect(readdirSync(folder).filter((name) => name.endsWith(".reserve"))).toEqual([])
  expect(readFolder(folder).kinds).toEqual(["process", "event", "exit"])
})

test("[J-04] a deleted folder is made again, 0700, and a gap says what may be lost", () => {
  const { clock, journal, folder, warnings } = openOnFailingDisk()
  for (let i = 0; i < 5; i++) journal.append(event(i))
  rmSync(folder, { recursive: true })
  journal.append(event(5))
  clock.pass(1500)
  expect(journal.append(event(6)).written).toBe(true)
  const { events, gaps } = readFolder(folder)
  expect(numbersOf(events)).toEqual([6])
  expect(gaps).toMatchObject([
    { reason: "unlinked", records: 6, runs: [{ firstSequenceNo: 0, lastSequenceNo: 5, count: 6 }] },
  ])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(warnings).toHaveLength(1)
  // The reserve went with the folder and is there again.
  expect(readReserve(listJournals(folder)[0]!.reservePath)).toMatchObject({ recordsDropped: 0, pendingGap: null })
})

test("[J-04] files that could not be begun do not pile up", () => {
  const { fs, clock, journal, folder } = openOnFailingDisk()
  fs.inject({ call: "writeSync", when: () => true, with: "EIO" })
  for (let i = 0; i < 200; i++) {
    journal.append(event(i))
    clock.pass(1000)
  }
  expect(listJournals(folder)).toHaveLength(1)
  fs.inject(undefined)
  clock.pass(3000)
  expect(journal.append(event(200)).written).toBe(true)
  expect(listJournals(folder).map((file) => file.fileNo)).toEqual([1, 2])
})

test("[J-04] a deleted sidecar is noticed as well", () => {
  const { clock, journal, folder } = openOnFailingDisk()
  journal.append(event(0, [BODY]))
  unlinkSync(listJournals(folder)[0]!.sidecarPath)
  clock.pass(1500)
  journal.append(event(1, [BODY]))
  const last = readFile(listJournals(folder).at(-1)!.path)
  expect(last.gaps).toMatchObject([{ reason: "unlinked", records: 1 }])
  expect(last.bodies[0]?.equals(BODY)).toBe(true)
})

test("[J-04] an unlinked or emptied journal file is left for a new one, with a gap", () => {
  for (const [reason, spoil] of [
    ["unlinked", unlinkSync],
    ["truncated", (path: string) => truncateSync(path, 0)],
  ] as const) {
    const { clock, journal, folder } = openOnFailingDisk()
    journal.append(event(0))
    spoil(listJournals(folder)[0]!.path)
    clock.pass(1500)
    journal.append(event(1))
    const last = readFile(listJournals(folder).at(-1)!.path)
    expect(numbersOf(last.events)).toEqual([1])
    expect(last.gaps).toMatchObject([{ reason, records: 1 }])
  }
})

test("[J-04] a renamed journal file is still written to, and nothing is lost", () => {
  const { clock, journal, folder } = openOnFailingDisk()
  journal.append(event(0))
  const { path } = listJournals(folder)[0]!
  const moved = path.replace(".1.ndjson", ".7.ndjson")
  renameSync(path, moved)
  clock.pass(1500)
  journal.append(event(1))
  expect(numbersOf(readFile(moved).events)).toEqual([0, 1])
})

test("[J-04] a slow disk makes the journal leave out bodies for a while, say so, and take them again", () => {
  const { fs, clock, journal, folder, warnings } = openOnFailingDisk({ slowWriteMs: 250 })
  expect(journal.keepsBodies()).toBe(true)
  const stream = journal.openStream({ runId: "run_a", stepId: "s", role: "response" })
  expect(stream.write(Buffer.from("a"))).toBe(true)
  const write = fs.writeSync
  fs.writeSync = (...args) => {
    clock.pass(300)
    return write(...args)
  }
  journal.append(event(0))
  // One slow write may be anything's fault.
  expect(journal.keepsBodies()).toBe(true)
  journal.append(event(0))
  fs.writeSync = write
  expect(journal.keepsBodies()).toBe(false)
  expect(stream.write(Buffer.from("bc"))).toBe(false)
  expect(journal.append(event(1)).written).toBe(true)
  clock.pass(11_000)
  expect(journal.keepsBodies()).toBe(true)
  journal.append(event(2))
  expect(stream.write(Buffer.from("d"))).toBe(true)
  expect(stream.finish()).toMatchObject({ byteSize: 4, complete: false })
  expect(readFolder(folder).gaps).toMatchObject([{ reason: "slow_write", records: 0, chunks: 1, bytes: 2 }])
  expect(warnings.map((warning) => warning.code)).toEqual(["JOURNAL_SLOW"])
})

test("[J-04] a warning handler that throws does not reach the app", () => {
  const fs = failingFs()
  const { journal } = openTestJournal({
    fs,
    onWarning: () => {
      throw new Error("handler")
    },
  })
  fs.inject({ call: "writeSync", when: () => true, with: "EIO" })
  expect(journal.append(event(0)).written).toBe(false)
  journal.close({ exitCode: 0, reason: "exit" })
  expect(journal.append(event(1)).written).toBe(false)
})

test("[J-04] a record that no reader would accept is dropped by itself, and the next one is written", () => {
  const { journal, folder } = openTestJournal()
  const huge = { ...event(0), json: JSON.stringify({ text: "x".repeat(64 * 1024 * 1024) }) }
  expect(journal.append(huge).written).toBe(false)
  expect(journal.append(event(1)).written).toBe(true)
  expect(readFolder(folder)).toMatchObject({ gaps: [{ failure: "LINE_TOO_LONG", records: 1 }], problems: [] })
})

describe("appendDurable", () => {
  test("[J-05] returns after line, bodies and folder are synced", () => {
    const { fs, journal, folder } = openOnFailingDisk()
    journal.appendDurable(event(0, [BODY]))
    expect(fs.count("fdatasyncSync")).toBe(2)
    expect(fs.count("fsyncSync")).toBe(1)
    expect(readFolder(folder).bodies).toHaveLength(1)
  })

  test.each([
    ["writeSync", "ENOSPC"],
    ["fdatasyncSync", "EIO"],
    ["fsyncSync", "EIO"],
  ] as const)("[J-04] throws a SystemError when %s fails with %s", (call, code) => {
    const { fs, journal } = openOnFailingDisk()
    fs.inject({ call, when: () => true, with: code })
    expect(() => journal.appendDurable(event(0, [BODY]))).toThrow(SystemError)
    expect(journal.stats().recordsDropped).toBe(1)
    // It asks the disk again each time: no back-off stands between an audit record and its answer.
    fs.inject(undefined)
    journal.appendDurable(event(1, [BODY]))
  })

  test("[J-05] covers the chunks of a streamed body in an earlier file", () => {
    const { fs, journal, folder } = openOnFailingDisk({ maxFileBytes: 4096 })
    const stream = journal.openStream({ runId: "run_a", stepId: "s", role: "response" })
    for (let i = 0; i < 5; i++) stream.write(Buffer.alloc(1500, `${i}`))
    const { hash, byteSize } = stream.finish()
    const before = fs.count("fdatasyncSync")
    journal.appendDurable({ ...event(0), bodies: [{ hash, byteSize, streamId: stream.id }] })
    expect(fs.count("fdatasyncSync") - before).toBeGreaterThan(2)
    expect(readFolder(folder).bodies[0]?.length).toBe(7500)
  })
})
