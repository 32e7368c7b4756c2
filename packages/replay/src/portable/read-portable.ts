import { createHash } from "node:crypto"
import { brotliDecompressSync } from "node:zlib"
import { bodyHash, type Event, type Problem, readEvent, runDigest } from "@orangebox/contract"
import { PortableHeader, PortableNotes } from "../generated.js"
import { ownEvents } from "../tape/tape-of.js"
import { LONGEST_SECTION, MAGIC, MOST_UNPACKED_IN_FILE, MOST_UNPACKED_IN_SECTION, NO_NOTES } from "./portable-format.js"
import { crcOf } from "./write-portable.js"

export interface PortableReading {
  readonly header: PortableHeader | undefined
  readonly events: readonly Event[]
  readonly bodies: ReadonlyMap<string, Uint8Array>
  readonly notes: PortableNotes
  /** Whether the events are those that the header names. Without all of them nothing can be said about the run's digest. */
  readonly hasAllEvents: boolean
  /** Empty when the file is whole. Each says at which byte; what stands before the damage was read all the same. */
  readonly problems: readonly Problem[]
}

/** Reads a file that `writePortable` wrote. Damage is named, never served: a body that does not hash to its name is left out. */
export function readPortable(file: Uint8Array): PortableReading {
  const problems: Problem[] = []
  const say = (code: string, at: number, reason: string): void =>
    void problems.push({ code, severity: "error", subject: `byte ${at}`, field: "", reason })
  const found = new FoundInFile(say)
  const done = (header?: PortableHeader): PortableReading => ({
    header,
    events: found.events,
    bodies: found.bodies,
    notes: found.notes ?? NO_NOTES,
    hasAllEvents: header !== undefined && runDigest(ownEvents(found.events)) === header.digest,
    problems,
  })

  const buffer = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (buffer.subarray(0, MAGIC.length).toString("latin1") !== MAGIC) {
    say("not_a_run_file", 0, "the file does not begin like an exported run (OBXRUN1)")
    return done()
  }
  const headerLine = lineAt(buffer, MAGIC.length)
  const header = headerLine && headerOf(headerLine.text)
  if (!headerLine || !header) {
    say("header", MAGIC.length, "the header cannot be read, or is of a newer version")
    return done()
  }

  let at = headerLine.next
  let sections = 0
  for (;;) {
    const line = lineAt(buffer, at)
    if (line === undefined) {
      say("cut_short", at, `the file ends after ${sections} section(s), in the middle of something`)
      break
    }
    if (line.text.startsWith("E ")) {
      checkEnd(buffer, at, line, sections, say)
      break
    }
    const section = sectionAt(buffer, line, (type, name) => found.roomFor(type, name))
    if (typeof section === "string") {
      say("damaged_section", at, section)
      break
    }
    sections++
    found.take(section, at)
    at = section.next
  }
  const reading = done(header)
  if (problems.length === 0) checkCounts(header, reading, say)
  return reading
}

interface Line {
  readonly text: string
  readonly next: number
}

const LONGEST_LINE = 2 ** 20

function lineAt(buffer: Buffer, at: number): Line | undefined {
  const end = buffer.subarray(at, at + LONGEST_LINE).indexOf(0x0a)
  return end < 0 ? undefined : { text: buffer.toString("utf8", at, at + end), next: at + end + 1 }
}

function headerOf(text: string): PortableHeader | undefined {
  const result = PortableHeader.safeParse(jsonOf(text))
  return result.success ? result.data : undefined
}

type SectionType = "V" | "B" | "N"

interface Section {
  readonly type: SectionType
  readonly name: string
  readonly bytes: Uint8Array
  readonly next: number
}

function sectionAt(
  buffer: Buffer,
  { text, next }: Line,
  roomFor: (type: SectionType, name: string) => number,
): Section | string {
  const head = /^([VBNvbn]) (\d{1,10}) ([0-9a-f]{8}) (\S{1,128})$/.exec(text)
  if (!head) return "what should be the head of a section is not"
  const [, type = "", lengthText, crc, name = ""] = head
  const kind = type.toUpperCase() as SectionType
  const what = kind === "B" ? `the body ${name}` : kind === "V" ? "a section of events" : "the section of notes"
  const length = Number(lengthText)
  if (length > LONGEST_SECTION || next + length + 1 > buffer.length) return `${what} is cut short`
  const stored = buffer.subarray(next, next + length)
  if (crcOf(stored) !== crc || buffer[next + length] !== 0x0a) return `${what} does not match its checksum`
  const section = { type: kind, name, next: next + length + 1 }
  const room = roomFor(kind, name)
  if (type === kind) {
    return length > room ? tooLarge(what, room) : { ...section, bytes: Uint8Array.from(stored) }
  }
  try {
    // One byte more than there is room for, because a limit of nothing is none to zlib.
    const bytes = brotliDecompressSync(stored, { maxOutputLength: room + 1 })
    return bytes.length > room ? tooLarge(what, room) : { ...section, bytes }
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
    return isTooLarge ? tooLarge(what, room) : `${what} cannot be unpacked`
  }
}

const tooLarge = (what: string, room: number): string => `${what} is larger than the ${room} bytes it may unpack to`

type Say = (code: string, at: number, reason: string) => void

/** What the sections gave so far. */
class FoundInFile {
  readonly events: Event[] = []
  readonly bodies = new Map<string, Uint8Array>()
  notes: PortableNotes | undefined
  readonly #say: Say
  readonly #eventIds = new Set<string>()
  readonly #sizes = new Map<string, number>()
  #unpacked = 0

  constructor(say: Say) {
    this.#say = say
  }

  /** How many bytes a section may unpack to: a body as many as the events before it say, and nothing more than a file may hold. */
  roomFor(type: SectionType, name: string): number {
    const own = (type === "B" ? this.#sizes.get(name) : undefined) ?? MOST_UNPACKED_IN_SECTION
    return Math.max(0, Math.min(own, MOST_UNPACKED_IN_FILE - this.#unpacked))
  }

  take({ type, name, bytes }: Section, at: number): void {
    this.#unpacked += bytes.length
    if (type === "V") this.#takeEvents(bytes, at)
    else if (type === "N") this.#takeNotes(bytes, at)
    else if (this.bodies.has(name)) this.#say("duplicate_body", at, `the body ${name} is there twice`)
    else if (bodyHash(bytes) === name) this.bodies.set(name, bytes)
    else this.#say("damaged_body", at, `the bytes of ${name} hash to something else`)
  }

  #takeEvents(bytes: Uint8Array, at: number): void {
    const lines = Buffer.from(bytes).toString("utf8").split("\n")
    for (const [index, line] of lines.entries()) {
      if (line === "") continue
      const event = this.#eventOf(line, `line ${index + 1} of the events`, at)
      if (event === undefined) continue
      if (this.#eventIds.has(event.event_id)) {
        this.#say("duplicate_event", at, `line ${index + 1} of the events has the id of an event before it`)
        continue
      }
      this.#eventIds.add(event.event_id)
      this.events.push(event)
      for (const { artifact_hash, byte_size } of event.artifact_refs) {
        this.#sizes.set(artifact_hash, Math.max(byte_size, this.#sizes.get(artifact_hash) ?? 0))
      }
    }
  }

  #eventOf(line: string, where: string, at: number): Event | undefined {
    const value = jsonOf(line)
    if (value === undefined) {
      this.#say("damaged_event", at, `${where} is not JSON`)
      return undefined
    }
    try {
      const { event, problems } = readEvent(value)
      if (event === undefined) this.#say("unreadable_event", at, `${where}: ${problems[0]?.reason ?? "is no event"}`)
      return event
    } catch {
      // Nested deeper than a reader can follow.
      this.#say("unreadable_event", at, `${where}: is nested too deeply`)
      return undefined
    }
  }

  #takeNotes(bytes: Uint8Array, at: number): void {
    const result = PortableNotes.safeParse(jsonOf(Buffer.from(bytes).toString("utf8")))
    if (this.notes !== undefined) this.#say("duplicate_notes", at, "there are notes twice")
    else if (result.success) this.notes = result.data
    else this.#say("unreadable_notes", at, `the notes: ${result.error.issues[0]?.message ?? "cannot be read"}`)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function checkEnd(buffer: Buffer, at: number, line: Line, sections: number, say: Say): void {
  const [, count, digest] = line.text.split(" ")
  if (Number(count) !== sections) say("sections", at, `the file says ${count} section(s), ${sections} were read`)
  const found = createHash("sha256").update(buffer.subarray(0, at)).digest("hex")
  if (found !== digest) say("digest", at, "the file is not the one that was written: its digest differs")
  if (line.next !== buffer.length)
    say("trailing", line.next, `${buffer.length - line.next} byte(s) follow the end of the run`)
}

function checkCounts(header: PortableHeader, { events, bodies, hasAllEvents }: PortableReading, say: Say): void {
  if (events.length !== header.events)
    say("events", 0, `the header says ${header.events} event(s), ${events.length} were read`)
  if (bodies.size !== header.bodies)
    say("bodies", 0, `the header says ${header.bodies} body(ies), ${bodies.size} were read`)
  if (!hasAllEvents) say("run_digest", 0, "the events are not the ones the header names")
}
