import { createHash, type Hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { type Event, isNestedDeeper, type Problem, readEvent, runDigest } from "@orangebox/contract"
import { PortableHeader, PortableNotes } from "../generated.js"
import { ownEvents } from "../tape/tape-of.js"
import { PortableBodies } from "./portable-bodies.js"
import { type PortableFile, portableFile, ReadAhead, TooLargeError, unpacked } from "./portable-file.js"
import { LIMITS, MAGIC, NO_NOTES } from "./portable-format.js"

export interface PortableReading {
  readonly header: PortableHeader | undefined
  readonly events: readonly Event[]
  readonly bodies: PortableBodies
  readonly notes: PortableNotes
  /** Whether the events are those that the header names. Without all of them nothing can be said about the run's digest. */
  readonly hasAllEvents: boolean
  /** Empty when the file is whole. Each says at which byte; what stands before the damage was read all the same. */
  readonly problems: readonly Problem[]
}

/**
 * Reads a file that `writePortable` wrote, section by section: events and notes are kept, bodies are checked and left where they are. Damage
 * is named, never served: a body that does not hash to its name is left out. What goes beyond `LIMITS` ends the reading.
 */
export async function readPortable(from: Uint8Array | PortableFile): Promise<PortableReading> {
  const file = portableFile(from)
  const problems: Problem[] = []
  const say: Say = (code, at, reason) => {
    problems.push({ code, severity: "error", subject: `byte ${at}`, field: "", reason })
    if (problems.length >= LIMITS.problems) throw new StopReading("too_many_problems", at, "no further problem is told")
  }
  const found = new FoundInFile(file, say)
  let header: PortableHeader | undefined
  try {
    header = await readSections(file, found, say)
  } catch (error) {
    if (!(error instanceof StopReading)) throw error
    problems.push({
      code: error.code,
      severity: "error",
      subject: `byte ${error.at}`,
      field: "",
      reason: error.message,
    })
    header = found.header
  }
  const { events, bodies, notes = NO_NOTES } = found
  const hasAllEvents = header !== undefined && runDigest(ownEvents(events)) === header.digest
  const reading = { header, events, bodies, notes, hasAllEvents, problems }
  if (header !== undefined && problems.length === 0) checkCounts(header, reading, say)
  return reading
}

type Say = (code: string, at: number, reason: string) => void

/** More than a file may hold: what was read so far stands. */
class StopReading extends Error {
  readonly code: string
  readonly at: number

  constructor(code: string, at: number, reason: string) {
    super(reason)
    this.code = code
    this.at = at
  }
}

async function readSections(file: PortableFile, found: FoundInFile, say: Say): Promise<PortableHeader | undefined> {
  const ahead = new ReadAhead(file)
  if (ahead.bytesAt(0, MAGIC.length).toString("latin1") !== MAGIC) {
    say("not_a_run_file", 0, "the file does not begin like an exported run (OBXRUN1)")
    return undefined
  }
  const headerLine = lineAt(ahead, MAGIC.length)
  const header = headerLine && headerOf(headerLine.text)
  if (!headerLine || !header) {
    say("header", MAGIC.length, "the header cannot be read, or is of a newer version")
    return undefined
  }
  found.header = header
  const digest = createHash("sha256")
  for (const piece of ahead.pieces(0, headerLine.next)) digest.update(piece)
  let at = headerLine.next
  for (let sections = 0; ; sections++) {
    const line = lineAt(ahead, at)
    if (line === undefined) {
      say("cut_short", at, `the file ends after ${sections} section(s), in the middle of something`)
      return header
    }
    if (line.text.startsWith("E ")) {
      checkEnd(file, digest, { at, line, sections }, say)
      return header
    }
    const section = sectionAt(file, ahead, at, line, digest)
    const trouble = typeof section === "string" ? section : await found.take(section, ahead)
    if (trouble !== undefined) {
      say("damaged_section", at, trouble)
      return header
    }
    at = (section as Section).next
  }
}

interface Line {
  readonly text: string
  readonly next: number
}

function lineAt(ahead: ReadAhead, at: number): Line | undefined {
  // Nearly all lines are short, and lie in what was read ahead.
  for (const length of [512, LIMITS.lineBytes]) {
    const bytes = ahead.bytesAt(at, length)
    const end = bytes.indexOf(0x0a)
    if (end >= 0) return { text: bytes.toString("utf8", 0, end), next: at + end + 1 }
  }
  return undefined
}

function headerOf(text: string): PortableHeader | undefined {
  const result = PortableHeader.safeParse(jsonOf(text))
  return result.success ? result.data : undefined
}

type SectionType = "V" | "B" | "N"

/** A section that is there, with the checksum it should have. */
interface Section {
  readonly type: SectionType
  readonly name: string
  readonly what: string
  readonly isPacked: boolean
  /** Where its head stands, its bytes, and what comes behind it. */
  readonly headAt: number
  readonly at: number
  readonly length: number
  readonly next: number
}

function sectionAt(
  file: PortableFile,
  ahead: ReadAhead,
  headAt: number,
  { text, next }: Line,
  digest: Hash,
): Section | string {
  const head = /^([VBNvbn]) (\d{1,10}) ([0-9a-f]{8}) (\S{1,128})$/.exec(text)
  if (!head) return "what should be the head of a section is not"
  const [, letter = "", lengthText, crc = "", name = ""] = head
  const type = letter.toUpperCase() as SectionType
  const what = type === "B" ? `the body ${name}` : type === "V" ? "a section of events" : "the section of notes"
  const length = Number(lengthText)
  if (next + length + 1 > file.byteLength) return `${what} is cut short`
  for (const piece of ahead.pieces(headAt, next - headAt)) digest.update(piece)
  let sum = 0
  for (const piece of ahead.pieces(next, length)) {
    sum = crc32(piece, sum)
    digest.update(piece)
  }
  const end = ahead.bytesAt(next + length, 1)
  digest.update(end)
  if (sum !== Number.parseInt(crc, 16) || end[0] !== 0x0a) return `${what} does not match its checksum`
  return { type, name, what, isPacked: letter !== type, headAt, at: next, length, next: next + length + 1 }
}

/** What the sections gave so far. */
class FoundInFile {
  header: PortableHeader | undefined
  readonly events: Event[] = []
  readonly bodies: PortableBodies
  notes: PortableNotes | undefined
  readonly #file: PortableFile
  readonly #say: Say
  readonly #eventIds = new Set<string>()
  readonly #sizes = new Map<string, number>()
  #eventBytes = 0
  #eventLines = 0
  #unpackedBytes = 0

  constructor(file: PortableFile, say: Say) {
    this.#file = file
    this.#say = say
    this.bodies = new PortableBodies(file)
  }

  /** In a sentence what is wrong with the section, so that nothing behind it can be read. */
  async take(section: Section, ahead: ReadAhead): Promise<string | undefined> {
    const { type, what } = section
    const room = this.#roomFor(section)
    const tooLarge = `${what} is larger than the ${room} bytes it may unpack to`
    if (!section.isPacked && section.length > room) return tooLarge
    const pieces = this.#piecesOf(section, ahead, room)
    try {
      if (type === "V") await this.#takeEvents(pieces, section)
      else if (type === "N") await this.#takeNotes(pieces, section)
      else await this.#takeBody(pieces, section)
      return undefined
    } catch (error) {
      if (error instanceof StopReading) throw error
      if (error instanceof TooLargeError) return tooLarge
      if (section.isPacked) return `${what} cannot be unpacked`
      throw error
    }
  }

  /** How many bytes a section may unpack to: a body as many as the events before it say, and nothing more than a file may hold. */
  #roomFor({ type, name }: Section): number {
    const own =
      type === "V"
        ? LIMITS.eventBytes - this.#eventBytes
        : type === "N"
          ? LIMITS.notesBytes
          : Math.min(this.#sizes.get(name) ?? LIMITS.bodyBytes, LIMITS.bodyBytes)
    return Math.max(0, Math.min(own, LIMITS.fileBytes - this.#unpackedBytes))
  }

  async *#piecesOf(
    { isPacked, at, length }: Section,
    ahead: ReadAhead,
    room: number,
  ): AsyncGenerator<Uint8Array, void> {
    const pieces = isPacked ? unpacked(this.#file, ahead, { at, length, room }) : ahead.pieces(at, length)
    for await (const piece of pieces) {
      this.#unpackedBytes += piece.length
      yield piece
    }
  }

  async #takeBody(pieces: AsyncIterable<Uint8Array>, { name, headAt, at, length, isPacked }: Section): Promise<void> {
    const hash = createHash("sha256")
    let byteSize = 0
    for await (const piece of pieces) {
      hash.update(piece)
      byteSize += piece.length
    }
    if (this.bodies.has(name)) this.#say("duplicate_body", headAt, `the body ${name} is there twice`)
    else if (`sha256:${hash.digest("hex")}` !== name) {
      this.#say("damaged_body", headAt, `the bytes of ${name} hash to something else`)
    } else if (this.bodies.size >= LIMITS.bodies) {
      throw new StopReading("too_many_bodies", headAt, `there are more than ${LIMITS.bodies} bodies`)
    } else this.bodies.add(name, { at, length, isPacked, byteSize })
  }

  async #takeEvents(pieces: AsyncIterable<Uint8Array>, { headAt }: Section): Promise<void> {
    let begun: Buffer[] = []
    let begunBytes = 0
    const endLine = (end: Buffer): void => {
      const line = begun.length === 0 ? end : Buffer.concat([...begun, end])
      begun = []
      begunBytes = 0
      this.#takeEvent(line, headAt)
    }
    for await (const piece of pieces) {
      this.#eventBytes += piece.length
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      let from = 0
      for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, from)) {
        endLine(bytes.subarray(from, end))
        from = end + 1
      }
      begunBytes += bytes.length - from
      if (begunBytes > LIMITS.eventLineBytes) {
        throw new StopReading("event_too_long", headAt, `an event is longer than ${LIMITS.eventLineBytes} bytes`)
      }
      if (from < bytes.length) begun.push(Buffer.from(bytes.subarray(from)))
    }
    if (begunBytes > 0) endLine(Buffer.alloc(0))
  }

  #takeEvent(line: Buffer, at: number): void {
    this.#eventLines++
    if (line.length === 0) return
    const where = `line ${this.#eventLines} of the events`
    const event = this.#eventOf(line.toString("utf8"), where, at)
    if (event === undefined) return
    if (this.#eventIds.has(event.event_id)) {
      this.#say("duplicate_event", at, `${where} has the id of an event before it`)
      return
    }
    this.#eventIds.add(event.event_id)
    this.events.push(event)
    for (const { artifact_hash, byte_size } of event.artifact_refs) {
      this.#sizes.set(artifact_hash, Math.max(byte_size, this.#sizes.get(artifact_hash) ?? 0))
    }
  }

  #eventOf(line: string, where: string, at: number): Event | undefined {
    if (isNestedDeeper(line, LIMITS.depth)) {
      this.#say("unreadable_event", at, `${where}: is nested deeper than ${LIMITS.depth} levels`)
      return undefined
    }
    const value = jsonOf(line)
    if (value === undefined) {
      this.#say("damaged_event", at, `${where} is not JSON`)
      return undefined
    }
    const { event, problems } = readEvent(value)
    if (event === undefined) this.#say("unreadable_event", at, `${where}: ${problems[0]?.reason ?? "is no event"}`)
    return event
  }

  async #takeNotes(pieces: AsyncIterable<Uint8Array>, { headAt }: Section): Promise<void> {
    const bytes: Uint8Array[] = []
    for await (const piece of pieces) bytes.push(Uint8Array.from(piece))
    const text = Buffer.concat(bytes).toString("utf8")
    if (this.notes !== undefined) this.#say("duplicate_notes", headAt, "there are notes twice")
    else if (isNestedDeeper(text, LIMITS.depth)) {
      this.#say("unreadable_notes", headAt, `the notes: are nested deeper than ${LIMITS.depth} levels`)
    } else {
      const result = PortableNotes.safeParse(jsonOf(text))
      if (result.success) this.notes = result.data
      else this.#say("unreadable_notes", headAt, `the notes: ${result.error.issues[0]?.message ?? "cannot be read"}`)
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function checkEnd(
  { byteLength }: PortableFile,
  digest: Hash,
  { at, line, sections }: { readonly at: number; readonly line: Line; readonly sections: number },
  say: Say,
): void {
  const [, count, said] = line.text.split(" ")
  if (Number(count) !== sections) say("sections", at, `the file says ${count} section(s), ${sections} were read`)
  if (digest.digest("hex") !== said) say("digest", at, "the file is not the one that was written: its digest differs")
  if (line.next !== byteLength)
    say("trailing", line.next, `${byteLength - line.next} byte(s) follow the end of the run`)
}

function checkCounts(header: PortableHeader, { events, bodies, hasAllEvents }: PortableReading, say: Say): void {
  if (events.length !== header.events)
    say("events", 0, `the header says ${header.events} event(s), ${events.length} were read`)
  if (bodies.size !== header.bodies)
    say("bodies", 0, `the header says ${header.bodies} body(ies), ${bodies.size} were read`)
  if (!hasAllEvents) say("run_digest", 0, "the events are not the ones the header names")
}
