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
  const wanted = [...new Set(hashes)]
  const { fitting, leftOut } =
    mostBytes === undefined ? { fitting: wanted, leftOut: NOTHING } : await fittingIn(reader, wanted, mostBytes)
  for (let from = 0; from < fitting.length; from += BATCH) {
    const batch = fitting.slice(from, from + BATCH)
    for (const [at, reading] of (await reader.readBodies(batch)).entries()) {
      if (isAbsent(reading)) absent.set(batch[at]!, reading)
      else bytes.set(batch[at]!, reading.bytes)
    }
    onProgress?.(bytes.size + absent.size, wanted.length)
  }
  return { bytes, absent, leftOut }
}

/** Reads bodies; what is not here is not in the answer. */
export type LoadBytes = (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>

/** @param known bodies that were read before, which are not read again */
export const bytesIn =
  (reader: RunReader, known: (hash: string) => Uint8Array | undefined = () => undefined): LoadBytes =>
  async (hashes) => {
    const all = [...new Set(hashes)]
    const { bytes } = await loadBodies(
      reader,
      all.filter((hash) => known(hash) === undefined),
    )
    return new Map(
      all.flatMap((hash) => {
        const found = known(hash) ?? bytes.get(hash)
        return found === undefined ? [] : [[hash, found] as const]
      }),
    )
  }

/** So many are asked for at once: enough that looking them up costs little each, few enough that other work gets its turn. */
const BATCH = 200
const NOTHING: LeftOut = { bodies: 0, bytes: 0 }

/** The smallest, as many as do not exceed so many bytes together. */
async function fittingIn(
  reader: RunReader,
  hashes: readonly string[],
  mostBytes: number,
): Promise<{ readonly fitting: readonly string[]; readonly leftOut: LeftOut }> {
  const fitting: string[] = []
  const leftOut = { bodies: 0, bytes: 0 }
  let left = mostBytes
  for (const [hash, size] of await sizesOf(reader, hashes)) {
    if (size > left) {
      leftOut.bodies++
      leftOut.bytes += size
      continue
    }
    fitting.push(hash)
    left -= size
  }
  return { fitting, leftOut }
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
 * what needs it answers unknown. The smallest come first because what an agent did is in small bodies, and its largest are requests, each
 * of which repeats the one before.
 */
export async function withBodies(
  reader: RunReader,
  run: LoadedRun,
  mostBytes = MOST_BYTES,
): Promise<{ readonly recorded: RecordedRun; readonly leftOut: LeftOut }> {
  const events = [...run.events, ...run.annotations]
  const named = bodiesNamedIn(events)
  // Most runs fit by what their events say, and need not be asked for the size of every body first.
  const told = [...named.values()].reduce((sum, { byteSize }) => sum + (byteSize ?? Number.POSITIVE_INFINITY), 0)
  const { bytes, leftOut } = await loadBodies(reader, named.keys(), told <= mostBytes ? {} : { mostBytes })
  const isWriterAlive = run.row.status === "running"
  return { recorded: { events, bodies: (ref) => bytes.get(ref), isWriterAlive, gaps: run.view.gaps }, leftOut }
}

export const leftOutWords = ({ bodies, bytes }: LeftOut): string =>
  `${plural(bodies, "body", "bodies")} of ${formatBytes(bytes)} were not read, the largest of the run; what needs them is unknown`
