import { isEventType, payloadRefs } from "@orangebox/contract"
import type { RecordedRun } from "@orangebox/decisions"
import { isAbsent } from "@orangebox/store"
import type { LoadedRun } from "../reading/load-run.js"
import type { RunReader } from "../reading/run-reader.js"

/** A run with its bodies at hand, as decisions are read from it. */
export interface RunWithBodies {
  readonly recorded: RecordedRun
  /** Bodies that are there and were not read, because all of them together are too much to hold. */
  readonly leftOut: number
}

/**
 * Reads every body a run names. Decisions are made of the whole of it, so all bodies are in memory at once, up to a limit; what does not fit
 * counts as not kept, and whoever needs it answers unknown.
 */
export async function withBodies(reader: RunReader, run: LoadedRun, mostBytes = MOST_BYTES): Promise<RunWithBodies> {
  const events = [...run.events, ...run.annotations]
  const bodies = new Map<string, Uint8Array>()
  const hashes = new Set(
    events.flatMap((event) =>
      isEventType(event.event_type) ? payloadRefs(event.event_type, event.payload).map(({ hash }) => hash) : [],
    ),
  )
  let left = mostBytes
  let leftOut = 0
  for (const hash of hashes) {
    const info = await reader.bodyInfo(hash)
    if (info === undefined || info.absent !== undefined) continue
    if (info.byteSize > left) {
      leftOut++
      continue
    }
    const reading = await reader.readBody(hash)
    if (isAbsent(reading)) continue
    bodies.set(hash, reading.bytes)
    left -= reading.bytes.length
  }
  return { recorded: { events, bodies: (ref) => bodies.get(ref) }, leftOut }
}

const MOST_BYTES = 2 ** 30
