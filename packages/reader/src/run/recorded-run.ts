import { type Event, isEventType, payloadRefs } from "@orangebox/contract"
import type { RecordedRun } from "@orangebox/decisions"
import { isAbsent } from "@orangebox/store"
import { formatBytes, plural } from "@orangebox/text"
import type { RunReader } from "../open/run-reader.js"
import type { LoadedRun } from "./load-run.js"

/** A run with its bodies at hand, as decisions are read from it. */
export interface RunWithBodies {
  readonly recorded: RecordedRun
  readonly leftOut: LeftOut
}

/** Bodies that are there and were not read, because all of them together are too much to hold. */
export interface LeftOut {
  readonly bodies: number
  readonly bytes: number
}

/**
 * Reads the bodies a run names. Decisions are made of the whole of it, so they are in memory at once, up to a limit, the smallest first: what an
 * agent did is in small bodies, and its largest are requests, each of which repeats the one before. What does not fit counts as not kept,
 * and whoever needs it answers unknown.
 */
export async function withBodies(reader: RunReader, run: LoadedRun, mostBytes = MOST_BYTES): Promise<RunWithBodies> {
  const events = [...run.events, ...run.annotations]
  const bodies = new Map<string, Uint8Array>()
  let left = mostBytes
  const leftOut = { bodies: 0, bytes: 0 }
  for (const { hash, byteSize } of await sizesOf(reader, events)) {
    if (byteSize > left) {
      leftOut.bodies++
      leftOut.bytes += byteSize
      continue
    }
    const reading = await reader.readBody(hash)
    if (isAbsent(reading)) continue
    bodies.set(hash, reading.bytes)
    left -= reading.bytes.length
  }
  return { recorded: { events, bodies: (ref) => bodies.get(ref) }, leftOut }
}

const MOST_BYTES = 256 * 2 ** 20

/** The bodies that events name and that are there, the smallest first. */
async function sizesOf(
  reader: RunReader,
  events: readonly Event[],
): Promise<readonly { readonly hash: string; readonly byteSize: number }[]> {
  const hashes = new Set<string>()
  for (const { event_type, payload } of events) {
    if (isEventType(event_type)) for (const { hash } of payloadRefs(event_type, payload)) hashes.add(hash)
  }
  const found: { hash: string; byteSize: number }[] = []
  for (const hash of hashes) {
    const info = await reader.bodyInfo(hash)
    if (info !== undefined && info.absent === undefined) found.push({ hash, byteSize: info.byteSize })
  }
  return found.sort((a, b) => a.byteSize - b.byteSize)
}

export const leftOutWords = ({ bodies, bytes }: LeftOut): string =>
  `${plural(bodies, "body", "bodies")} of ${formatBytes(bytes)} were not read, the largest of the run; what needs them is unknown`
