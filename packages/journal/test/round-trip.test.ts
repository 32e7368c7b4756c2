import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bodyHash } from "@orangebox/contract"
import { listJournals } from "@orangebox/journal"
import fc from "fast-check"
import { expect, test } from "vitest"
import { event, openTestJournal, readFile, readFolder, temporaryFolder } from "./journal-kit.js"

const body = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.string({ unit: "binary", maxLength: 200 }).map((text) => new TextEncoder().encode(text)),
  fc.constantFrom(new Uint8Array(512).fill(0x61), new Uint8Array(513).fill(0x62), new Uint8Array(70_000).fill(0xff)),
)
const recordList = fc.array(fc.record({ value: fc.jsonValue(), bodies: fc.array(body) }), {
  maxLength: 12,
})

test("[J-01] any event and any bodies come back as they were written, byte for byte", () => {
  fc.assert(
    fc.property(recordList, (records) => {
      const { journal, folder } = openTestJournal({ fsync: "never" })
      records.forEach(({ value, bodies }, i) => {
        const written = journal.append({ ...event(i, bodies), json: JSON.stringify({ value }) })
        expect(written).toEqual({ written: true })
      })
      journal.close({ exitCode: 0, reason: "exit" })
      const reading = readFolder(folder)
      expect(reading.problems).toEqual([])
      expect(reading.events).toEqual(records.map(({ value }) => JSON.parse(JSON.stringify({ value }))))
      expect(reading.bodies.map(bodyHash)).toEqual(records.flatMap(({ bodies }) => bodies.map(bodyHash)))
    }),
    { numRuns: 60 },
  )
})

test("[J-01] NUL, U+2028, carriage return, byte order mark and lone surrogates stay within one line each", () => {
  const { journal, folder } = openTestJournal()
  const texts = ["\u0000", "\u2028\u2029", "\r\n", "\ufeffbom", "\ud800", "tail\n"]
  for (const text of texts)
    journal.append({ json: JSON.stringify({ text }), runId: null, sequenceNo: null, bodies: [] })
  const file = listJournals(folder)[0]!
  expect(readFile(file.path).events).toEqual(texts.map((text) => ({ text })))
  expect(readFileSync(file.path).filter((byte) => byte === 0x0a).length).toBe(texts.length + 1)
})

test("[J-01] indented JSON becomes one line that means the same", () => {
  const { journal, folder } = openTestJournal()
  const value = { text: "a\nb", list: [1, 2] }
  journal.append({ json: JSON.stringify(value, null, 2), runId: null, sequenceNo: null, bodies: [] })
  expect(readFolder(folder)).toMatchObject({ events: [value], problems: [] })
})

test("[J-01] a line is plain JSON that starts with its checksum, and the format of the first version stays as it is", () => {
  const { journal, folder } = openTestJournal()
  journal.append({ json: '{"a":1}', runId: null, sequenceNo: null, bodies: [event(0, [Buffer.from("hi")]).bodies[0]!] })
  const lines = readFileSync(listJournals(folder)[0]!.path, "utf8").split("\n")
  expect(lines[1]).toBe(
    '{"crc":"e6668ffb","k":"event","e":{"a":1},"b":[{"h":"sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4","n":2,"t":"hi"}]}',
  )
  expect(JSON.parse(lines[0]!)).toMatchObject({ k: "process", format_version: 1, file_no: 1, app_id: "test" })
})

test("[J-07] a large body is written once per file, however often it is named", () => {
  const { journal, folder } = openTestJournal()
  const large = Buffer.alloc(50_000, "the same again ")
  for (let i = 0; i < 20; i++) journal.append(event(i, [large]))
  expect(statSync(listJournals(folder)[0]!.sidecarPath).size).toBe(50_000)
  const { bodies } = readFolder(folder)
  expect(bodies).toHaveLength(20)
  expect(bodies.every((bytes) => bytes.equals(large))).toBe(true)
})

test("[J-07] more bodies than a file remembers are all there, and the latest are still written once", () => {
  const { journal, folder } = openTestJournal({ fsync: "never" })
  const distinct = Array.from({ length: 2200 }, (_, i) => Buffer.from(String(i).padStart(600, "body ")))
  distinct.forEach((bytes, i) => void journal.append(event(i, [bytes])))
  const { sidecarPath } = listJournals(folder)[0]!
  const before = statSync(sidecarPath).size
  journal.append(event(2200, distinct.slice(-500)))
  expect(statSync(sidecarPath).size).toBe(before)
  expect(readFolder(folder).bodies.map(bodyHash)).toEqual([...distinct, ...distinct.slice(-500)].map(bodyHash))
})

test("[J-06] any truncation of a file yields a prefix of its lines and no problem", () => {
  const { journal, folder } = openTestJournal({ fsync: "never" })
  for (let i = 0; i < 5; i++) journal.append(event(i, [Buffer.from(`body ${i}`)]))
  const whole = listJournals(folder)[0]!.path
  const bytes = readFileSync(whole)
  const all = readFile(whole).events
  const cut = join(temporaryFolder(), "20260101T000000000Z-1-00000000000000000000000000000000.1.ndjson")
  writeFileSync(cut, bytes)
  for (let length = bytes.length; length >= 0; length--) {
    truncateSync(cut, length)
    const reading = readFile(cut)
    expect(reading.problems).toEqual([])
    expect(reading.events).toEqual(all.slice(0, reading.events.length))
    expect(reading.end.offset + reading.end.tornBytes).toBe(length)
  }
})
