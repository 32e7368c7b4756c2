import { createHash } from "node:crypto"
import { brotliCompressSync, constants, crc32 } from "node:zlib"
import { bodyHash, type Event } from "@orangebox/contract"
import fc from "fast-check"
import { beforeAll, describe, expect, test } from "vitest"
import { type Bodies, type PortableHeader, type PortableNotes, readPortable, writePortable } from "../src/index.js"
import { NO_NOTES } from "../src/portable/portable-format.js"
import { recordRun } from "./recorded.js"

type Piece = readonly [type: string, name: string, bytes: Uint8Array]

let events: readonly Event[]
let bodies: ReadonlyMap<string, Uint8Array>
let whole: PortableHeader
beforeAll(async () => {
  const source = await recordRun(async (run) => {
    await run.tool({ name: "read", args: { path: "a" } }, () => "text ".repeat(100))
  })
  events = source.events.filter(({ run_id }) => run_id !== null)
  bodies = source.bodies as ReadonlyMap<string, Uint8Array> & Bodies
  whole = (await readPortable(Buffer.concat([...writePortable(events, bodies)]))).header!
})

/** A file that is right in every checksum and says whatever it is told to say. */
function fileOf(pieces: readonly Piece[], header: Partial<PortableHeader> = {}): Buffer {
  const parts: Buffer[] = [Buffer.from(`OBXRUN1\n${JSON.stringify({ ...whole, ...header })}\n`)]
  for (const [type, name, bytes] of pieces) {
    const crc = crc32(bytes).toString(16).padStart(8, "0")
    parts.push(Buffer.from(`${type} ${bytes.length} ${crc} ${name}\n`), Buffer.from(bytes), Buffer.from("\n"))
  }
  const before = Buffer.concat(parts)
  const digest = createHash("sha256").update(before).digest("hex")
  return Buffer.concat([before, Buffer.from(`E ${pieces.length} ${digest}\n`)])
}

const lines = (list: readonly unknown[]): Buffer => Buffer.from(list.map((one) => `${JSON.stringify(one)}\n`).join(""))
const codesOf = async (file: Uint8Array): Promise<string[]> =>
  (await readPortable(file)).problems.map(({ code }) => code)

const note: PortableNotes = {
  ...NO_NOTES,
  gaps: [{ run_id: "run_1", code: "dropped", reason: "full", lost: 3, detail: { runs: [] } }],
}

describe("[O-10] an exported file", async () => {
  test("notes travel with the run; without any the file is one that older builds read", async () => {
    const plain = await readPortable(Buffer.concat([...writePortable(events, bodies)]))
    expect({ v: plain.header!.v, notes: plain.notes, problems: plain.problems }).toEqual({
      v: 1,
      notes: NO_NOTES,
      problems: [],
    })
    const noted = await readPortable(Buffer.concat([...writePortable(events, bodies, { notes: note })]))
    expect({ v: noted.header!.v, notes: noted.notes, problems: noted.problems }).toEqual({
      v: 2,
      notes: note,
      problems: [],
    })
    expect(noted.events).toEqual(plain.events)
  })

  test("any notes come back as they were", async () => {
    const id = fc.string({ maxLength: 8 })
    const stream = fc.record({
      run_id: id,
      stream_id: id,
      step_id: fc.option(id),
      role: id,
      mime_type: fc.option(id),
      byte_size: fc.nat(),
      chunks: fc.nat(),
      is_unbroken: fc.boolean(),
      last_at_us: fc.nat(),
      state: fc.constantFrom("open" as const, "abandoned" as const),
      body: fc.constant(null),
    })
    const redaction = fc.record({ run_id: id, event_id: id, at_ms: fc.nat() })
    const notes = fc.record({
      partial_streams: fc.array(stream, { maxLength: 3 }),
      gaps: fc.constant<PortableNotes["gaps"]>([]),
      absent_bodies: fc.constant<PortableNotes["absent_bodies"]>([]),
      redactions: fc.array(redaction, { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(notes, async (given) => {
        const read = await readPortable(Buffer.concat([...writePortable(events, bodies, { notes: given })]))
        expect(read.problems).toEqual([])
        expect(read.notes).toEqual(given)
      }),
      { numRuns: 50 },
    )
  })

  test("a few bytes that unpack to gigabytes are refused before they do", async () => {
    const [hash, bytes] = [...bodies].find(([, body]) => body.length > 100)!
    const bomb = brotliCompressSync(Buffer.alloc(300 * 2 ** 20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    expect(bomb.length).toBeLessThan(100_000)
    for (const piece of [
      ["v", "-", bomb],
      ["n", "-", bomb],
      ["b", `sha256:${"0".repeat(64)}`, bomb],
    ] as const) {
      const [problem] = (await readPortable(fileOf([piece]))).problems
      expect(problem!.reason).toMatch(/larger than the \d+ bytes it may unpack to|longer than \d+ bytes/)
    }
    // A body holds as much as its events say and not a byte more.
    const more = Buffer.concat([bytes, Buffer.alloc(1)])
    const file = fileOf([
      ["V", "-", lines(events)],
      ["B", hash, more],
    ])
    expect((await readPortable(file)).problems[0]!.reason).toContain(`larger than the ${bytes.length} bytes`)
  })

  test("events and bodies that are there twice, that are not what they are called, or are nothing at all, are named and left out", async () => {
    const [hash, bytes] = [...bodies][0]!
    const all: Piece = ["V", "-", lines(events)]
    const twice = await readPortable(fileOf([all, all]))
    expect(twice.events).toEqual(events)
    expect(new Set(twice.problems.map(({ code }) => code))).toEqual(new Set(["duplicate_event"]))
    expect(await codesOf(fileOf([all, ["B", hash, bytes], ["B", hash, bytes]]))).toContain("duplicate_body")
    const other = bodyHash(Buffer.from("x"))
    expect(await codesOf(fileOf([all, ["B", other, Buffer.from("y")]]))).toContain("damaged_body")
    expect(await codesOf(fileOf([["V", "-", lines([{ event_type: "run_started" }, null, 7, []])]]))).toContain(
      "unreadable_event",
    )
    expect(await codesOf(fileOf([["V", "-", Buffer.from("{nothing\n")]]))).toContain("damaged_event")
    expect(await codesOf(fileOf([["N", "-", Buffer.from('{"gaps":7}')]]))).toContain("unreadable_notes")
    const notes: Piece = ["N", "-", Buffer.from(JSON.stringify(note))]
    expect(await codesOf(fileOf([notes, notes]))).toContain("duplicate_notes")
    const deep = `${'{"payload":'.repeat(50_000)}1${"}".repeat(50_000)}`
    expect((await codesOf(fileOf([["V", "-", Buffer.from(`${deep}\n`)]]))).length).toBeGreaterThan(0)
  })

  test("absurd numbers are not believed", async () => {
    const all: Piece = ["V", "-", lines(events)]
    for (const count of [1e15, -1, 1e308, 0.5]) {
      expect((await codesOf(fileOf([all], { events: count }))).length).toBeGreaterThan(0)
    }
    const header = fileOf([]).subarray(0, fileOf([]).indexOf("\nE ") + 1)
    for (const head of ["V 9999999999 00000000 -", "V 99999999999 00000000 -", "V -1 00000000 -", "Z 1 00000000 -"]) {
      expect(await codesOf(Buffer.concat([header, Buffer.from(`${head}\nx\n`)]))).toContain("damaged_section")
    }
    const huge = structuredClone(events) as { -readonly [K in keyof Event]: unknown }[]
    huge[0]!.sequence_no = 1e300
    expect((await codesOf(fileOf([["V", "-", lines(huge)]]))).length).toBeGreaterThan(0)
  })

  test("whatever the bytes are, reading them ends, and what is wrong has a place", async () => {
    const sections = fc.array(
      fc.tuple(
        fc.constantFrom("V", "B", "N", "v", "b", "n"),
        fc.constantFrom("-", "x"),
        fc.uint8Array({ maxLength: 40 }),
      ),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(sections, async (pieces) => {
        for (const { subject, reason } of (await readPortable(fileOf(pieces))).problems) {
          expect(subject).toMatch(/^byte \d+$/)
          expect(reason).not.toBe("")
        }
      }),
      { numRuns: 200 },
    )
  })
})
