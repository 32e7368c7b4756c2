import { type Event, isEventType, payloadRefs } from "@orangebox/contract"
import type { RecordedRun } from "@orangebox/decisions"
import { type Absence, isAbsent } from "@orangebox/store"
import { formatBytes, plural } from "@orangebox/text"
import type { RunReader } from "../open/run-reader.js"
import type { LoadedRun } from "./load-run.js"

/** The bytes behind refs: for each of them its bytes, or why they are not here. */
export interface LoadedBodies {
  readonly bytes: ReadonlyMap<string, Uint8Array>
  readonly absent: ReadonlyMap<string, Absence>
  readonly leftOut: LeftOut
}

/** Bodies that are there and were not read, because all of them together are too much to hold. */
export interface LeftOut {
  readonly bodies: number
  readonly bytes: number
}

export interface LoadOptions {
  /** Not more than this together, the smallest first. Without it all of them are read. */
  readonly mostBytes?: number
  readonly onProgress?: (done: number, total: number) => void
}

/** Reads the bodies that some hashes name, each once. Every reader that needs bytes in memory gets them here. */
export async function loadBodies(
  reader: RunReader,
  hashes: Iterable<string>,
  { mostBytes, onProgress }: LoadOptions = {},
): Promise<LoadedBodies> {
  const bytes = new Map<string, Uint8Array>()
  const absent = new Map<string, Absence>()
  const leftOut = { bodies: 0, bytes: 0 }
  const wanted = [...new Set(hashes)]
  const sizes = mostBytes === undefined ? undefined : await sizesOf(reader, wanted)
  let left = mostBytes ?? Number.POSITIVE_INFINITY
  for (const hash of sizes?.keys() ?? wanted) {
    const size = sizes?.get(hash) ?? 0
    if (size > left) {
      leftOut.bodies++
      leftOut.bytes += size
      continue
    }
    const reading = await reader.readBody(hash)
    if (isAbsent(reading)) absent.set(hash, reading)
    else bytes.set(hash, reading.bytes)
    left -= size
    onProgress?.(bytes.size + absent.size, wanted.length)
  }
  return { bytes, absent, leftOut }
}

/** The smallest first; what is not there has no size. */
async function sizesOf(reader: RunReader, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found: [hash: string, byteSize: number][] = []
  for (const hash of hashes) {
    const info = await reader.bodyInfo(hash)
    found.push([hash, info === undefined || info.absent !== undefined ? 0 : info.byteSize])
  }
  return new Map(found.sort(([, a], [, b]) => a - b))
}

/** What an event says of a body it names. */
export interface NamedBody {
  /** Why it was never kept. */
  readonly absent: string | undefined
  readonly byteSize: number | undefined
}

/** Every body that events name, once, in the order they name them. */
export function bodiesNamedIn(events: readonly Event[]): ReadonlyMap<string, NamedBody> {
  const named = new Map<string, NamedBody>()
  for (const { event_type, payload, artifact_refs } of events) {
    for (const { artifact_hash, absent, byte_size } of artifact_refs) {
      if (named.get(artifact_hash)?.byteSize === undefined) named.set(artifact_hash, { absent, byteSize: byte_size })
    }
    if (!isEventType(event_type)) continue
    for (const { hash } of payloadRefs(event_type, payload)) {
      if (!named.has(hash)) named.set(hash, { absent: undefined, byteSize: undefined })
    }
  }
  return named
}

/** More than this of one run is not held in memory at once. */
const MOST_BYTES = 256 * 2 ** 20

/**
 * A run with its bodies at hand, as decisions are read from it. They are made of the whole of it; what does not fit counts as not kept, and
 * whoever needs it answers unknown. The smallest come first because what an agent did is in small bodies, and its largest are requests, each
 * of which repeats the one before.
 */
export async function withBodies(
  reader: RunReader,
  run: LoadedRun,
  mostBytes = MOST_BYTES,
): Promise<{ readonly recorded: RecordedRun; readonly leftOut: LeftOut }> {
  const events = [...run.events, ...run.annotations]
  const { bytes, leftOut } = await loadBodies(reader, bodiesNamedIn(events).keys(), { mostBytes })
  const isWriterAlive = run.row.status === "running"
  return { recorded: { events, bodies: (ref) => bytes.get(ref), isWriterAlive }, leftOut }
}

export const leftOutWords = ({ bodies, bytes }: LeftOut): string =>
  `${plural(bodies, "body", "bodies")} of ${formatBytes(bytes)} were not read, the largest of the run; what needs them is unknown`
