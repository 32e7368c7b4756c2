import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { listJournals, openJournal } from "@orangebox/journal"
import fc from "fast-check"
import { expect, test } from "vitest"
import { event, numbersOf, openTestJournal, readFile, temporaryFolder, upTo } from "./journal-kit.js"

const NAME = "20260101T000000000Z-1-00000000000000000000000000000000.1.ndjson"

/** Bytes of a journal file with `count` events, and where each line starts. */
function sample(count: number): { bytes: Buffer; lineStarts: number[] } {
  const folder = join(temporaryFolder(), "journal")
  const journal = openJournal({ folder, appId: "test", recorderVersion: "0", fsync: "never" })
  for (let i = 0; i < count; i++) journal.append(event(i, [Buffer.from(`body of ${i}`)]))
  return split(readFileSync(listJournals(folder)[0]!.path))
}

/** The last event is stretched so that the file ends at 2048 bytes sharp. */
function sampleOf2KiB(): { bytes: Buffer; lineStarts: number[] } {
  const { journal, folder } = openTestJournal({ fsync: "never" })
  const size = () => statSync(listJournals(folder)[0]!.path).size
  let count = 0
  while (size() < 1600) journal.append(event(count++, [], "y".repeat(100)))
  const bare = Buffer.byteLength(`{"crc":"00000000","k":"event","e":${event(count).json}}\n`)
  journal.append(event(count, [], "x".repeat(2048 - size() - bare)))
  return split(readFileSync(listJournals(folder)[0]!.path))
}

function split(bytes: Buffer): { bytes: Buffer; lineStarts: number[] } {
  const lineStarts = [0]
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lineStarts.push(at + 1)
  return { bytes, lineStarts: lineStarts.slice(0, -1) }
}

function fileOf(...pieces: (Buffer | string)[]): string {
  const path = join(temporaryFolder(), NAME)
  writeFileSync(path, Buffer.concat(pieces.map((piece) => Buffer.from(piece))))
  return path
}

test("[J-06] flipping any bit of a 2 KB file loses no line but the one it is in, and its place is told", () => {
  const { bytes, lineStarts: expected } = sampleOf2KiB()
  const path = fileOf(bytes)
  const fd = openSync(path, "r+")
  let cases = 0
  const wrong: number[] = []
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const at = bit >> 3
    writeSync(fd, Buffer.of(bytes[at]! ^ (1 << (bit & 7))), 0, 1, at)
    const { events, kinds, problems, end } = readFile(path)
    writeSync(fd, bytes, at, 1, at)
    const touched = expected.findLastIndex((start) => start <= at)
    const survivors = upTo(expected.length - 1).filter((i) => i !== touched - 1)
    const isLocated = end.tornBytes > 0 || problems.some(({ offset, length }) => offset <= at && at <= offset + length)
    const isRight = `${numbersOf(events)}` === `${survivors}` && kinds.includes("process") === (touched !== 0)
    if (!isRight || !isLocated) wrong.push(bit)
    cases++
  }
  closeSync(fd)
  expect(wrong).toEqual([])
  expect(cases).toBe(16_384)
})

test("[J-06] garbage spliced in anywhere loses only the lines it touches", () => {
  const { bytes, lineStarts } = sample(10)
  const lines = lineStarts.map((start, i) => bytes.subarray(start, (lineStarts[i + 1] ?? bytes.length) - 1))
  const path = fileOf()
  // Garbage that repeats what stands around it may leave the line whole: a `{` behind a `{` is the same file. So the oracle
  // looks at the bytes: a line is there when a piece between two newlines ends with all of it.
  const linesIn = (file: Buffer): number[] => {
    const pieces = split(file).lineStarts.map((start) => file.subarray(start, file.indexOf(10, start)))
    return pieces.flatMap((piece) => {
      const found = lines.findIndex((line) => piece.subarray(-line.length).equals(line))
      return found > 0 ? [found - 1] : []
    })
  }
  const place = fc.nat(bytes.length)
  const garbage = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.tuple(place, fc.integer({ min: 1, max: 300 })).map(([at, length]) => bytes.subarray(at, at + length)),
    fc.constantFrom("{", "\n", "}\n", "\n\n", "\0").map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(place, garbage, (at, spliced) => {
      const file = Buffer.concat([bytes.subarray(0, at), spliced, bytes.subarray(at)])
      writeFileSync(path, file)
      const isBetweenLines = lineStarts.includes(at) || at === bytes.length
      const touched = isBetweenLines ? -1 : lineStarts.findLastIndex((start) => start <= at)
      const untouched = upTo(10).filter((i) => i !== touched - 1)
      const read = numbersOf(readFile(path).events)
      expect(read).toEqual(linesIn(file))
      expect(read).toEqual(expect.arrayContaining(untouched))
    }),
    { numRuns: 250, examples: [[1, Buffer.from("{")]] },
  )
})

test("[J-06] a torn last line is the end so far, and is read once it is finished", () => {
  const { bytes, lineStarts } = sample(3)
  const cut = lineStarts[3]! + 20
  const path = fileOf(bytes.subarray(0, cut))
  const first = readFile(path)
  expect(first).toMatchObject({ problems: [], end: { offset: lineStarts[3], tornBytes: 20 } })
  appendFileSync(path, bytes.subarray(cut))
  const second = readFile(path, { from: first.end.offset })
  expect(numbersOf(second.events)).toEqual([2])
  expect(second.end).toEqual({ offset: bytes.length, tornBytes: 0 })
})

test("[J-06] two lines glued together give back the second", () => {
  const { bytes, lineStarts } = sample(3)
  const path = fileOf(bytes.subarray(0, lineStarts[2]! - 30), bytes.subarray(lineStarts[2]!))
  const { events, problems } = readFile(path)
  expect(numbersOf(events)).toEqual([1, 2])
  expect(problems).toMatchObject([
    { code: "corrupt_line", offset: lineStarts[1], length: lineStarts[2]! - 30 - lineStarts[1]! },
  ])
})

test("[J-06] a run of NUL bytes is passed over, located, and costs no line", () => {
  const { bytes, lineStarts } = sample(3)
  const run = 3 * 1024 * 1024
  const path = fileOf(bytes.subarray(0, lineStarts[2]!), Buffer.alloc(run), bytes.subarray(lineStarts[2]!))
  const { events, problems } = readFile(path)
  expect(numbersOf(events)).toEqual([0, 1, 2])
  expect(problems).toMatchObject([{ code: "nul_run", offset: lineStarts[2], length: run }])
})

test("[J-06] NUL bytes at the end may still become something", () => {
  const { bytes } = sample(1)
  expect(readFile(fileOf(bytes, Buffer.alloc(700_000)))).toMatchObject({
    problems: [],
    end: { offset: bytes.length, tornBytes: 700_000 },
  })
})

test("[J-06] a line over the limit is skipped without being held in memory, and reading goes on behind it", () => {
  const { bytes, lineStarts } = sample(2)
  const path = join(temporaryFolder(), NAME)
  const fd = openSync(path, "w")
  writeSync(fd, bytes, 0, lineStarts[1]!)
  const piece = Buffer.alloc(1024 * 1024, "z")
  for (let i = 0; i < 200; i++) writeSync(fd, piece)
  writeSync(fd, "\n")
  writeSync(fd, bytes, lineStarts[1]!)
  closeSync(fd)
  const before = process.memoryUsage().arrayBuffers
  const { events, problems } = readFile(path, { maxLineBytes: 4 * 1024 * 1024 })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024)
  expect(numbersOf(events)).toEqual([0, 1])
  expect(problems).toMatchObject([{ code: "over_long_line", offset: lineStarts[1], length: 200 * 1024 * 1024 }])
})

test("[J-06] a line without an end is given up at the limit, and no later reading starts over with it", () => {
  const { bytes } = sample(1)
  const path = fileOf(bytes, Buffer.alloc(3_000_000, "z"))
  const first = readFile(path, { maxLineBytes: 1_000_000 })
  expect(first.problems).toMatchObject([{ code: "over_long_line", offset: bytes.length, length: 3_000_000 }])
  expect(first.end).toEqual({ offset: bytes.length + 3_000_000, tornBytes: 0 })
})

test("[J-06] a hostile line full of line starts is refused in linear time", () => {
  const { events, problems } = readFile(fileOf(`${'{"crc":"00000000",'.repeat(500_000)}\n`))
  expect(events).toEqual([])
  expect(problems).toHaveLength(1)
})

test("[J-06] a file that shrank is reported and read again from its beginning", () => {
  const { bytes, lineStarts } = sample(5)
  const path = fileOf(bytes)
  truncateSync(path, lineStarts[2]!)
  const { events, problems } = readFile(path, { from: bytes.length })
  expect(problems).toMatchObject([{ code: "truncated", offset: bytes.length }])
  expect(numbersOf(events)).toEqual([0])
})

test("[J-06] lines of a later format, of an unknown kind or of a wrong shape are told apart from damage", async () => {
  const { crc32 } = await import("node:zlib")
  const line = (rest: string) => `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}\n`
  const { problems } = readFile(
    fileOf(line('"k":"process","format_version":9}'), line('"k":"poem"}'), line('"k":"exit"}'), line("not json")),
  )
  expect(problems.map((problem) => problem.code)).toEqual([
    "unknown_format",
    "unknown_line",
    "unknown_line",
    "unknown_line",
  ])
})

test("[J-06] `until` makes the file end early", () => {
  const { bytes, lineStarts } = sample(4)
  const path = fileOf(bytes)
  const reading = readFile(path, { until: lineStarts[3]! + 5 })
  expect(numbersOf(reading.events)).toEqual([0, 1])
  expect(reading.end).toEqual({ offset: lineStarts[3], tornBytes: 5 })
})

test("[J-06] an empty file and one that is not there are not the same", () => {
  expect(readFile(fileOf()).end).toEqual({ offset: 0, tornBytes: 0 })
  expect(() => readFile(join(temporaryFolder(), NAME))).toThrow(/cannot be opened \(ENOENT\)/)
})

test("[J-06] a reader that follows a writer sees every line once", () => {
  const { journal, folder } = openTestJournal({ fsync: "never" })
  const path = listJournals(folder)[0]!.path
  const seen: number[] = []
  let from = 0
  for (let i = 0; i < 300; i++) {
    journal.append(event(i, [], "x".repeat(i * 7)))
    if (i % 3 !== 0) continue
    const reading = readFile(path, { from })
    seen.push(...numbersOf(reading.events))
    from = reading.end.offset
  }
  seen.push(...numbersOf(readFile(path, { from }).events))
  expect(seen).toEqual(upTo(300))
})
