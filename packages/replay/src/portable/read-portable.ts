import { createHash } from "node:crypto"
import { brotliDecompressSync } from "node:zlib"
import { bodyHash, type Event, type Problem, readEvent, runDigest } from "@orangebox/contract"
import { ownEvents } from "../tape/tape-of.js"
import { LONGEST_SECTION, MAGIC, PortableHeader } from "./portable-format.js"
import { crcOf } from "./write-portable.js"

export interface PortableReading {
  readonly header: PortableHeader | undefined
  readonly events: readonly Event[]
  readonly bodies: ReadonlyMap<string, Uint8Array>
  /** Empty when the file is whole. Each says at which byte; what stands before the damage was read all the same. */
  readonly problems: readonly Problem[]
}

/** Reads a file that `writePortable` wrote. Damage is named, never served: a body that does not hash to its name is left out. */
export function readPortable(file: Uint8Array): PortableReading {
  const problems: Problem[] = []
  const events: Event[] = []
  const bodies = new Map<string, Uint8Array>()
  const say = (code: string, at: number, reason: string): void =>
    void problems.push({ code, severity: "error", subject: `byte ${at}`, field: "", reason })
  const done = (header?: PortableHeader): PortableReading => ({ header, events, bodies, problems })

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
    const found = sectionAt(buffer, line)
    if (typeof found === "string") {
      say("damaged_section", at, found)
      break
    }
    sections++
    if (found.type === "V") takeEvents(found.bytes, at, events, say)
    else if (bodyHash(found.bytes) === found.name) bodies.set(found.name, found.bytes)
    else say("damaged_body", at, `the bytes of ${found.name} hash to something else`)
    at = found.next
  }
  checkCounts(header, events, bodies, problems.length === 0, say)
  return done(header)
}

interface Line {
  readonly text: string
  readonly next: number
}

const LONGEST_LINE = 65_536

function lineAt(buffer: Buffer, at: number): Line | undefined {
  const end = buffer.subarray(at, at + LONGEST_LINE).indexOf(0x0a)
  return end < 0 ? undefined : { text: buffer.toString("utf8", at, at + end), next: at + end + 1 }
}

function headerOf(text: string): PortableHeader | undefined {
  try {
    const result = PortableHeader.safeParse(JSON.parse(text))
    return result.success ? result.data : undefined
  } catch {
    return undefined
  }
}

interface Section {
  readonly type: "V" | "B"
  readonly name: string
  readonly bytes: Uint8Array
  readonly next: number
}

function sectionAt(buffer: Buffer, { text, next }: Line): Section | string {
  const head = /^([VBvb]) (\d{1,10}) ([0-9a-f]{8}) (\S{1,128})$/.exec(text)
  if (!head) return "what should be the head of a section is not"
  const [, type = "", lengthText, crc, name = ""] = head
  const length = Number(lengthText)
  if (length > LONGEST_SECTION || next + length + 1 > buffer.length) return `the section ${name} is cut short`
  const stored = buffer.subarray(next, next + length)
  if (crcOf(stored) !== crc || buffer[next + length] !== 0x0a) return `the section ${name} does not match its checksum`
  const kind = type.toUpperCase() as "V" | "B"
  if (type === kind) return { type: kind, name, bytes: Uint8Array.from(stored), next: next + length + 1 }
  try {
    return { type: kind, name, bytes: brotliDecompressSync(stored), next: next + length + 1 }
  } catch {
    return `the section ${name} cannot be unpacked`
  }
}

type Say = (code: string, at: number, reason: string) => void

function takeEvents(bytes: Uint8Array, at: number, events: Event[], say: Say): void {
  const lines = Buffer.from(bytes).toString("utf8").split("\n")
  for (const [index, line] of lines.entries()) {
    if (line === "") continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      say("damaged_event", at, `line ${index + 1} of the events is not JSON`)
      continue
    }
    const reading = readEvent(value)
    if (reading.event !== undefined) events.push(reading.event)
    else say("unreadable_event", at, `line ${index + 1} of the events: ${reading.problems[0]?.reason ?? "is no event"}`)
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

function checkCounts(
  header: PortableHeader,
  events: readonly Event[],
  bodies: ReadonlyMap<string, Uint8Array>,
  isWhole: boolean,
  say: Say,
): void {
  if (!isWhole) return
  if (events.length !== header.events)
    say("events", 0, `the header says ${header.events} event(s), ${events.length} were read`)
  if (bodies.size !== header.bodies)
    say("bodies", 0, `the header says ${header.bodies} body(ies), ${bodies.size} were read`)
  if (runDigest(ownEvents(events)) !== header.digest)
    say("run_digest", 0, "the events are not the ones the header names")
}
