import { type Event, isEventType, payloadRefs } from "@orangebox/contract"
import { isAbsent } from "@orangebox/store"
import type { LoadedRun } from "../reading/load-run.js"
import type { RunReader } from "../reading/run-reader.js"

/** A run with all its bodies in memory, and what of it will not be in a file. */
export interface GatheredRun {
  readonly events: readonly Event[]
  readonly bodies: ReadonlyMap<string, Uint8Array>
  readonly missing: readonly MissingBody[]
  /** Answers that were cut off or are still arriving: the file format has only whole bodies. */
  readonly unfinished: number
  readonly lostEvents: number
}

export interface MissingBody {
  readonly hash: string
  /** Why: `hashed` and `not_kept` by its ref, otherwise what the store says. */
  readonly reason: string
  readonly byteSize: number | null
  /** When it went, where that is known. */
  readonly onMs: number | null
}

export async function gatherRun(
  reader: RunReader,
  run: LoadedRun,
  onProgress: (done: number, total: number) => void,
): Promise<GatheredRun> {
  const events = [...run.events, ...run.annotations]
  const refs = refsOf(events)
  const bodies = new Map<string, Uint8Array>()
  const missing: MissingBody[] = []
  for (const [hash, ref] of refs) {
    const reading = await reader.readBody(hash)
    if (isAbsent(reading)) {
      const byteSize = reading.byteSize ?? ref?.byteSize ?? null
      missing.push({ hash, reason: ref?.absent ?? reading.absent, byteSize, onMs: reading.onMs ?? null })
    } else bodies.set(hash, reading.bytes)
    onProgress(bodies.size + missing.length, refs.size)
  }
  const unfinished = (await reader.partialStreamsOf(run.row.runId)).filter(({ hash }) => !bodies.has(hash ?? "")).length
  return { events, bodies, missing, unfinished, lostEvents: run.view.totals.lost }
}

interface Ref {
  readonly absent: string | undefined
  readonly byteSize: number
}

/** Every body the events name, once. */
function refsOf(events: readonly Event[]): Map<string, Ref | undefined> {
  const refs = new Map<string, Ref | undefined>()
  for (const { event_type, payload, artifact_refs } of events) {
    for (const { artifact_hash, absent, byte_size } of artifact_refs) {
      if (!refs.get(artifact_hash)) refs.set(artifact_hash, { absent, byteSize: byte_size })
    }
    if (!isEventType(event_type)) continue
    for (const { hash } of payloadRefs(event_type, payload)) if (!refs.has(hash)) refs.set(hash, undefined)
  }
  return refs
}
