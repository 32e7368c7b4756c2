import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import {
  listJournals,
  markCommitted,
  openJournal,
  readProcessLine,
  readStream,
  removeJournal,
  tailJournal,
} from "@orangebox/journal"
import { expect, test } from "vitest"
import { failingFs, handClock } from "./failing-fs.js"
import { event, numbersOf, openTestJournal, readFile, readFolder, temporaryFolder, upTo } from "./journal-kit.js"

const modeOf = (path: string) => statSync(path).mode & 0o777

test("[J-05] files are 0600 and folders 0700 whatever the umask", () => {
  const before = process.umask(0o000)
  try {
    for (const umask of [0o000, 0o077, 0o277]) {
      process.umask(umask === 0o277 ? 0o077 : umask)
      const { journal, folder } = openTestJournal()
      if (umask === 0o277) process.umask(umask)
      journal.append(event(0, [Buffer.alloc(5000)]))
      expect(modeOf(folder)).toBe(0o700)
      const names = readdirSync(folder)
      expect(names.map((name) => name.replace(/^.*?\./, "")).sort()).toEqual(["1.bodies", "1.ndjson", "reserve"])
      for (const name of names) expect(modeOf(join(folder, name))).toBe(0o600)
      process.umask(0o000)
    }
  } finally {
    process.umask(before)
  }
})

test("[J-05] a file is rotated by size, bodies included, and every record is in exactly one", () => {
  const { journal, folder } = openTestJournal({ maxFileBytes: 4096, fsync: "never" })
  for (let i = 0; i < 500; i++) journal.append(event(i, i % 50 === 0 ? [Buffer.alloc(6000, `${i}`)] : []))
  const files = listJournals(folder)
  expect(files.length).toBeGreaterThan(8)
  expect(files.map((file) => file.fileNo)).toEqual(upTo(files.length).map((i) => i + 1))
  expect(files.map((file) => file.isRotated)).toEqual(files.map((_, i) => i < files.length - 1))
  const { events, bodies, kinds, problems } = readFolder(folder)
  expect(numbersOf(events)).toEqual(upTo(500))
  expect(bodies).toHaveLength(10)
  expect(problems).toEqual([])
  expect(kinds.filter((kind) => kind === "process")).toHaveLength(files.length)
})

test("[J-05] a file is rotated by age, but not while it holds nothing", () => {
  const clock = handClock()
  const { journal, folder } = openTestJournal({ maxFileAgeMs: 60_000, now: clock.now })
  clock.pass(120_000)
  journal.append(event(0))
  expect(listJournals(folder)).toHaveLength(1)
  clock.pass(61_000)
  journal.append(event(1))
  expect(listJournals(folder).map((file) => numbersOf(readFile(file.path).events))).toEqual([[0], [1]])
})

test("[J-05] when no new file can be begun, the old one serves on", () => {
  const fs = failingFs()
  const clock = handClock()
  const { journal, folder, warnings } = openTestJournal({ fs, now: clock.now, maxFileBytes: 2000, fsync: "never" })
  fs.inject({ call: "openSync", when: () => true, with: "EMFILE" })
  for (let i = 0; i < 100; i++) expect(journal.append(event(i)).written).toBe(true)
  expect(listJournals(folder)).toHaveLength(1)
  expect(warnings.map((warning) => warning.code)).toEqual(["JOURNAL_ROTATE"])
  fs.inject(undefined)
  clock.pass(3000)
  journal.append(event(100))
  expect(listJournals(folder)).toHaveLength(2)
  expect(numbersOf(readFolder(folder).events)).toEqual(upTo(101))
})

test("[J-05] the interval policy syncs without a call, lines after bodies, at most once a second", async () => {
  const fs = failingFs()
  const { journal } = openTestJournal({ fs })
  for (let i = 0; i < 50; i++) journal.append(event(i, [Buffer.alloc(2000, `${i}`)]))
  expect(fs.count("fdatasync")).toBe(0)
  await expect.poll(() => fs.count("fdatasync"), { timeout: 5000 }).toBe(2)
  expect(fs.count("fdatasyncSync")).toBe(0)
})

test("[J-05] the policy never does not sync, and always syncs every line with its bodies", () => {
  const [never, always] = [failingFs(), failingFs()]
  const neverSyncing = openTestJournal({ fs: never, fsync: "never" }).journal
  const alwaysSyncing = openTestJournal({ fs: always, fsync: "always" }).journal
  const before = always.count("fdatasyncSync")
  for (let i = 0; i < 5; i++) {
    neverSyncing.append(event(i, [Buffer.alloc(2000, `${i}`)]))
    alwaysSyncing.append(event(i, [Buffer.alloc(2000, `${i}`)]))
  }
  neverSyncing.close({ exitCode: 0, reason: "exit" })
  expect(never.count("fdatasyncSync") + never.count("fdatasync") + never.count("fsyncSync")).toBe(0)
  expect(always.count("fdatasyncSync") - before).toBe(10)
  expect(always.count("fsyncSync")).toBeGreaterThan(0)
})

test("[J-05] a failed sync is not tried again: the file is left, and a gap names the records in doubt", async () => {
  const fs = failingFs()
  const { journal, folder, warnings } = openTestJournal({ fs })
  fs.inject({ call: "fdatasync", when: () => true, with: "EIO" })
  journal.append(event(0))
  await expect.poll(() => journal.stats().syncFailures, { timeout: 5000 }).toBe(1)
  fs.inject(undefined)
  journal.append(event(1))
  expect(listJournals(folder)).toHaveLength(2)
  expect(readFolder(folder).gaps).toMatchObject([{ reason: "sync_failed", failure: "EIO", records: 1 }])
  expect(warnings.map((warning) => warning.code)).toEqual(["JOURNAL_SYNC"])
})

test("[J-05] no link is followed at any name the journal creates", () => {
  const folder = join(temporaryFolder(), "journal")
  const victim = join(temporaryFolder(), "victim")
  writeFileSync(victim, "precious")
  const { journal } = openTestJournal({ folder, maxFileBytes: 2000, fsync: "never" })
  const { path, sidecarPath } = listJournals(folder)[0]!
  symlinkSync(victim, sidecarPath)
  symlinkSync(victim, path.replace(".1.ndjson", ".2.ndjson"))
  expect(journal.append(event(0, [Buffer.alloc(5000)])).written).toBe(false)
  journal.append(event(1, [], "x".repeat(3000)))
  journal.append(event(2))
  expect(readFileSync(victim, "utf8")).toBe("precious")
  expect(() => [...tailJournal(path.replace(".1.ndjson", ".2.ndjson"))]).toThrow(/is a symbolic link/)
})

test("[J-08] the total is capped: committed files go first, without a gap", () => {
  const { journal, folder, warnings } = openTestJournal({
    maxFileBytes: 4096,
    maxTotalBytes: 64 * 1024,
    fsync: "never",
  })
  let committed = 0
  for (let i = 0; i < 600; i++) {
    journal.append(event(i, [], "x".repeat(250)))
    for (const file of listJournals(folder)) {
      if (file.isRotated && !file.isCommitted) {
        markCommitted(file.path)
        committed++
      }
    }
  }
  const files = listJournals(folder)
  expect(committed).toBeGreaterThan(files.length)
  expect(files.reduce((sum, file) => sum + file.byteSize, 0)).toBeLessThan(64 * 1024 + 2 * 4096)
  expect(readFolder(folder).gaps).toEqual([])
  expect(warnings).toEqual([])
})

test("[J-08] then the oldest go, with a gap that names them and a warning", () => {
  const { journal, folder, warnings } = openTestJournal({ maxFileBytes: 4096, maxTotalBytes: 40_000, fsync: "never" })
  const seen = new Set<string>()
  for (let i = 0; i < 1000; i++) {
    journal.append(event(i, i % 10 === 0 ? [Buffer.alloc(1500, `${i}`)] : []))
    for (const name of readdirSync(folder)) if (name.endsWith(".ndjson")) seen.add(name)
  }
  const left = readdirSync(folder).filter((name) => name.endsWith(".ndjson"))
  const gone = [...seen].filter((name) => !left.includes(name))
  const { events, gaps } = readFolder(folder)
  expect(gone.length).toBeGreaterThan(3)
  expect(gaps.every((gap) => gap.reason === "total_cap" && gap.bytes > 0)).toBe(true)
  // A gap line is lost with its file, so the next gap takes it over: what is left to read accounts for every file and record.
  expect(gaps.reduce((count, gap) => count + gap.files.length + gap.filesNotListed, 0)).toBe(gone.length)
  expect(gaps.flatMap((gap) => gap.files).every((name) => gone.includes(name))).toBe(true)
  expect(gaps.reduce((count, gap) => count + gap.records, 0) + events.length).toBe(1000)
  expect(numbersOf(events).at(-1)).toBe(999)
  expect(warnings.every((warning) => warning.code === "JOURNAL_CAP")).toBe(true)
  expect(warnings.length).toBe(1)
})

test("[J-08] records are accounted for in files that go at once, and in files that were given up after a failure", () => {
  const fs = failingFs()
  const clock = handClock()
  const { journal, folder } = openTestJournal({
    fs,
    now: clock.now,
    maxFileBytes: 4096,
    maxTotalBytes: 1,
    fsync: "never",
  })
  for (let i = 0; i < 300; i++) {
    const before = fs.count("writeSync")
    fs.inject(i % 70 === 69 ? { call: "writeSync", when: (count) => count === before + 1, with: "EIO" } : undefined)
    journal.append(event(i))
    clock.pass(100)
  }
  expect(listJournals(folder)).toHaveLength(1)
  const { events, gaps } = readFolder(folder)
  const missing = gaps.reduce((count, gap) => count + gap.records, 0)
  expect(journal.stats().recordsDropped).toBe(4)
  expect(missing + events.length).toBe(300)
})

test("[J-08] the file another live writer appends to is never deleted, a dead one's is", () => {
  const folder = join(temporaryFolder(), "journal")
  const live = openTestJournal({ folder, fsync: "never" }).journal
  for (let i = 0; i < 100; i++) live.append(event(i))
  const livePath = listJournals(folder)[0]!.path
  const deadName = "20200101T000000000Z-1-00000000000000000000000000000000.1.ndjson"
  const dead = Buffer.from(readFileSync(livePath))
  writeFileSync(join(folder, deadName), deadProcessLine(dead), { mode: 0o600 })
  const { journal } = openTestJournal({ folder, maxFileBytes: 4096, maxTotalBytes: 8192, fsync: "never" })
  for (let i = 0; i < 300; i++) journal.append(event(i))
  const names = readdirSync(folder)
  expect(names).not.toContain(deadName)
  expect(listJournals(folder).map((file) => file.path)).toContain(livePath)
  expect(numbersOf(readFile(livePath).events)).toEqual(upTo(100))
})

/** The same journal, as if it came from an earlier boot of this machine. */
function deadProcessLine(bytes: Buffer): Buffer {
  const folder = join(temporaryFolder(), "j")
  mkdirSync(folder, { mode: 0o700 })
  const path = join(folder, "20200101T000000000Z-1-00000000000000000000000000000000.1.ndjson")
  writeFileSync(path, bytes)
  const line = readProcessLine(path)!
  const text = bytes.toString("utf8").split("\n")
  const rest = text[0]!.slice(18).replace(`"start_ticks":${line.process.startTicks}`, '"start_ticks":1')
  return Buffer.from([lineOf(rest), ...text.slice(1)].join("\n"))
}

function lineOf(rest: string): string {
  return `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}`
}

test("removing a journal takes its sidecar and marker along, and the reserve with the last one", () => {
  const { journal, folder } = openTestJournal({ maxFileBytes: 4096, fsync: "never" })
  for (let i = 0; i < 4; i++) journal.append(event(i, [Buffer.alloc(5000, `${i}`)]))
  const files = listJournals(folder)
  markCommitted(files[0]!.path)
  markCommitted(files[0]!.path)
  expect(listJournals(folder)[0]).toMatchObject({ isCommitted: true, sidecarByteSize: 5000 })
  for (const file of files.slice(0, -1)) removeJournal(file.path)
  expect(readdirSync(folder)).toHaveLength(3)
  removeJournal(files.at(-1)!.path)
  expect(readdirSync(folder)).toEqual([])
  expect(() => removeJournal(join(folder, "notes.txt"))).toThrow(/not the name of a journal file/)
})

test("listing orders writers by start and files by number, and ignores what is not a journal", () => {
  const folder = temporaryFolder()
  const id = "0".repeat(32)
  const names = [
    `20260102T000000000Z-9-${id}.1.ndjson`,
    ...[10, 9, 1].map((n) => `20260101T000000000Z-10-${id}.${n}.ndjson`),
  ]
  for (const name of [...names, "x.ndjson", "README", `20260101T000000000Z-10-${id}.reserve`]) {
    writeFileSync(join(folder, name), "")
  }
  expect(listJournals(folder).map((file) => file.fileNo)).toEqual([1, 9, 10, 1])
  expect(listJournals(join(folder, "missing"))).toEqual([])
})

test("[J-07] chunks of a stream are found across rotated files, with their time and what they belong to", () => {
  const clock = handClock()
  const { journal, folder } = openTestJournal({ maxFileBytes: 2000, fsync: "never", now: clock.now })
  const start = { runId: "run_a", stepId: "step_1", role: "response" }
  const stream = journal.openStream(start)
  const other = journal.openStream({ ...start, role: "stderr" })
  const pieces = upTo(30).map((i) => Buffer.alloc(40 + i * 60, `piece ${i} ✓ `))
  for (const piece of pieces) {
    clock.pass(5)
    expect(stream.write(piece)).toBe(true)
    other.write(Buffer.of(0xff, 0xfe))
  }
  const { hash, byteSize, complete } = stream.finish()
  expect(complete).toBe(true)
  journal.append({ ...event(0), bodies: [{ hash, byteSize, streamId: stream.id }] })
  const files = listJournals(folder)
  expect(files.length).toBeGreaterThan(5)
  const whole = Buffer.concat(pieces)
  expect(readFolder(folder).bodies.map((bytes) => bytes.equals(whole))).toEqual([true])
  expect(readStream(files.at(-1)!.path, other.id).bytes).toHaveLength(60)
  for (const file of files) {
    const chunks = [...tailJournal(file.path)].flatMap((item) =>
      item.kind === "line" && item.line.kind === "chunk" && item.line.streamId === stream.id ? [item.line] : [],
    )
    expect(chunks.map((chunk) => chunk.start)).toEqual(chunks.map((_, i) => (i === 0 ? start : null)))
  }
  const times = files.flatMap((file) =>
    [...tailJournal(file.path)].flatMap((item) =>
      item.kind === "line" && item.line.kind === "chunk" && item.line.streamId === stream.id ? [item.line.atUs] : [],
    ),
  )
  expect(times).toEqual(upTo(30).map((i) => (i + 1) * 5000))
})

test("[J-07] a body whose bytes are damaged or missing is never handed out", () => {
  const { journal, folder } = openTestJournal({ fsync: "never" })
  journal.append(event(0, [Buffer.alloc(5000, "good ")]))
  const { path, sidecarPath } = listJournals(folder)[0]!
  const bytes = readFileSync(sidecarPath)
  bytes[2500]! ^= 1
  writeFileSync(sidecarPath, bytes)
  expect(() => readFile(path)).toThrow(/does not match its hash/)
  writeFileSync(sidecarPath, bytes.subarray(0, 100))
  expect(() => readFile(path)).toThrow(/has 100 of 5000 bytes/)
})

test("the first line of a file names the writer, the app and the process", () => {
  const { journal, folder } = openTestJournal({ appId: "fixer", recorderVersion: "1.2.3" })
  expect(journal.writerId).toMatch(/^[0-9a-f]{32}$/)
  expect(readProcessLine(listJournals(folder)[0]!.path)).toMatchObject({
    formatVersion: 1,
    writerId: journal.writerId,
    fileNo: 1,
    appId: "fixer",
    recorderVersion: "1.2.3",
    process: { pid: process.pid },
  })
})

test("[J-05] a wall clock that jumps back or far ahead changes no order and no rotation", () => {
  let wallMs = Date.UTC(2038, 0, 20)
  let monoUs = 0
  const { journal, folder } = openTestJournal({ now: () => ({ wallMs, monoUs }), fsync: "never" })
  for (let i = 0; i < 20; i++) {
    monoUs += 10
    wallMs += i % 2 === 0 ? -86_400_000 * 400 : 86_400_000 * 800
    journal.append(event(i))
  }
  expect(listJournals(folder)).toHaveLength(1)
  expect(numbersOf(readFolder(folder).events)).toEqual(upTo(20))
  const odd = openJournal({
    folder: join(temporaryFolder(), "j"),
    appId: "a",
    recorderVersion: "0",
    now: () => ({ wallMs: Number.NaN, monoUs: 0 }),
  })
  expect(odd.append(event(0)).written).toBe(true)
  odd.close({ exitCode: 0, reason: "closed" })
})
