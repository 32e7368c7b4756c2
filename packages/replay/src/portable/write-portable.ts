import { createHash } from "node:crypto"
import { brotliCompressSync, constants, crc32 } from "node:zlib"
import { type Event, OrangeboxError, payloadRefs, runDigest } from "@orangebox/contract"
import type { PortableHeader, PortableNotes } from "../generated.js"
import type { Bodies } from "../tape/tape.js"
import { ownEvents } from "../tape/tape-of.js"
import { REPLAY_VERSION } from "../version.js"
import { hasNotes, LIMITS, MAGIC, NO_NOTES } from "./portable-format.js"

const EVENTS_PER_SECTION = 2000
/** Brotli at its middle: half the size of deflate on histories that repeat themselves, at a speed that is not noticed. */
const QUALITY = 6

export interface PortableOptions {
  /** The run the file is about, where runs that it started come along. Default: the first one that has events. */
  readonly runId?: string
  readonly notes?: PortableNotes
}

/** A run as the pieces of one file. Bodies that are not there stay absent, and their refs and the notes say why. */
export function* writePortable(
  events: readonly Event[],
  bodies: Bodies,
  options: PortableOptions = {},
): Generator<Uint8Array> {
  const { notes = NO_NOTES } = options
  const own = ownEvents(events)
  const runs = [...new Set(own.map((event) => event.run_id!))]
  const runId = options.runId ?? runs[0]
  if (runId === undefined) throw new OrangeboxError("EXPORT_EMPTY", { what: "there is no event of a run to export" })
  const found = bodiesOf(events, notes, bodies)
  const header: PortableHeader = {
    v: hasNotes(notes) ? 2 : 1,
    format: "orangebox-run",
    run_id: runId,
    runs,
    events: events.length,
    bodies: found.length,
    digest: runDigest(own),
    written_by: `@orangebox/replay ${REPLAY_VERSION}`,
  }
  checkLimits(events, found)
  const digest = createHash("sha256")
  const taken = (piece: Uint8Array): Uint8Array => {
    digest.update(piece)
    return piece
  }
  yield taken(Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`, "utf8"))
  let sections = 0
  for (let at = 0; at < events.length; at += EVENTS_PER_SECTION) {
    const lines = events.slice(at, at + EVENTS_PER_SECTION).map((event) => JSON.stringify(event))
    sections++
    yield taken(section("V", "-", Buffer.from(`${lines.join("\n")}\n`, "utf8")))
  }
  if (hasNotes(notes)) {
    sections++
    yield taken(section("N", "-", Buffer.from(JSON.stringify(notes), "utf8")))
  }
  for (const [hash, bytes] of found) {
    sections++
    yield taken(section("B", hash, bytes))
  }
  yield Buffer.from(`E ${sections} ${digest.digest("hex")}\n`, "utf8")
}

/** What could not be read back is not written. */
function checkLimits(events: readonly Event[], bodies: readonly [string, Uint8Array][]): void {
  const tooLarge = (what: string, limit: number): OrangeboxError =>
    new OrangeboxError("EXPORT_TOO_LARGE", {
      what: `${what}, and a file holds at most ${limit}`,
      next: "Read the run in the store; for another machine, copy the data folder",
    })
  let bytes = 0
  for (const event of events) bytes += Buffer.byteLength(JSON.stringify(event)) + 1
  if (bytes > LIMITS.eventBytes) throw tooLarge(`the events are ${bytes} bytes of JSON`, LIMITS.eventBytes)
  if (bodies.length > LIMITS.bodies) throw tooLarge(`there are ${bodies.length} bodies`, LIMITS.bodies)
  for (const [hash, { length }] of bodies) {
    if (length > LIMITS.bodyBytes) throw tooLarge(`the body ${hash} has ${length} bytes`, LIMITS.bodyBytes)
  }
}

function section(type: "V" | "B" | "N", name: string, bytes: Uint8Array): Uint8Array {
  const packed = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
  const isSmaller = packed.length < bytes.length
  const stored = isSmaller ? packed : bytes
  const head = `${isSmaller ? type.toLowerCase() : type} ${stored.length} ${crcOf(stored)} ${name}\n`
  return Buffer.concat([Buffer.from(head, "utf8"), stored, NEWLINE])
}

const NEWLINE = Buffer.from("\n")

export const crcOf = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, "0")

/** Every body the events and the notes name, once, in the order of first mention; also those a list of candidates names. */
function bodiesOf(events: readonly Event[], notes: PortableNotes, bodies: Bodies): [string, Uint8Array][] {
  const found = new Map<string, Uint8Array>()
  const take = (hash: string): void => {
    if (found.has(hash)) return
    const bytes = bodies.get(hash)
    if (bytes !== undefined) found.set(hash, bytes)
  }
  for (const event of events) {
    for (const ref of event.artifact_refs) take(ref.artifact_hash)
    for (const { hash } of payloadRefs(event.event_type, event.payload)) take(hash)
  }
  for (const { body } of notes.partial_streams) if (body !== null) take(body)
  return [...found]
}
