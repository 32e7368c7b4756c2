import { bodyHash, type Event, given } from "@orangebox/contract"
import type { PortableNotes } from "@orangebox/replay"
import type { Absence } from "@orangebox/store"
import type { ReaderOptions } from "../open/data-folder.js"
import { hasMasks, type MaskKey } from "../open/mask-key.js"
import type { RunReading } from "../open/run-at.js"
import type { RunReader } from "../open/run-reader.js"
import { bodiesNamedIn, loadBodies } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"
import { eventsOfTree } from "../run/run-tree.js"

/** A run and the runs it started, with all their bodies in memory, and what of it will not be in a file. */
export interface GatheredRun {
  readonly runId: string
  /** How many runs: this one, and those it started. */
  readonly runs: number
  readonly events: readonly Event[]
  /** How many of them others said later about the runs. */
  readonly annotations: number
  readonly bodies: ReadonlyMap<string, Uint8Array>
  readonly notes: PortableNotes
  readonly missing: readonly MissingBody[]
  /** Answers that were cut off or are still arriving; what there is of them is in the file. */
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
  reading: RunReading,
  run: LoadedRun,
  onProgress: NonNullable<ReaderOptions["onProgress"]>,
  maskKey?: MaskKey,
): Promise<GatheredRun> {
  const { reader } = reading
  const { runId } = run.row
  const own = await eventsOfTree(reading, run.recorded)
  const runIds = [...new Set(own.flatMap(({ run_id }) => run_id ?? []))]
  const others = runIds.filter((other) => other !== runId)
  const said = await Promise.all(others.map((other) => reader.annotationsOf(other)))
  const events = [...own, ...run.annotations, ...said.flat()]
  const named = bodiesNamedIn(events)
  const { bytes, absent } = await loadBodies(reader, named.keys(), {
    onProgress: (done, total) => onProgress(done, total, "reading bodies"),
  })
  const bodies = new Map(bytes)
  const missing = [...absent].map(([hash, found]): MissingBody => {
    const ref = named.get(hash)
    const byteSize = found.byteSize ?? ref?.byteSize ?? null
    return { hash, reason: ref?.absent ?? found.absent, byteSize, onMs: found.onMs ?? null }
  })
  const streams = await Promise.all(runIds.map((id) => streamNotes(reader, id, bodies)))
  const gaps = await Promise.all(runIds.map((id) => gapNotes(reader, id)))
  const redactions = await Promise.all(
    runIds.map(async (id) =>
      (await reader.redactionsOf(id)).map(({ eventId, atMs }) => ({ run_id: id, event_id: eventId, at_ms: atMs })),
    ),
  )
  const conflicts = await Promise.all(
    runIds.map(async (id) =>
      (await reader.conflictsOf(id)).map(({ event }) => ({ run_id: id, event_id: event.event_id })),
    ),
  )
  const notes = {
    partial_streams: streams.flat(),
    gaps: gaps.flat(),
    absent_bodies: [...absent.values()].flatMap((found) => (found.absent === "unknown" ? [] : absenceNote(found))),
    redactions: redactions.flat(),
    ...(conflicts.flat().length > 0 ? { conflicts: conflicts.flat() } : {}),
    ...(maskKey !== undefined && events.some(hasMasks) ? { mask_key: keyNote(maskKey) } : {}),
  }
  const unfinished = notes.partial_streams.length
  return {
    runId,
    runs: runIds.length,
    events,
    annotations: events.length - own.length,
    bodies,
    notes,
    missing,
    unfinished,
    lostEvents: run.view.totals.lost,
  }
}

const keyNote = ({ id, bytes }: MaskKey): NonNullable<PortableNotes["mask_key"]> => ({
  id,
  ...given({ key: bytes && Buffer.from(bytes).toString("hex") }),
})

const absenceNote = ({ hash, absent, reason, onMs, byteSize }: Absence): PortableNotes["absent_bodies"][number] => ({
  hash,
  absent,
  reason,
  ...given({ on_ms: onMs, byte_size: byteSize }),
})

/** What there is of answers that have no end; their bytes join the other bodies. */
async function streamNotes(
  reader: RunReader,
  runId: string,
  bodies: Map<string, Uint8Array>,
): Promise<PortableNotes["partial_streams"]> {
  const notes: PortableNotes["partial_streams"] = []
  for (const stream of await reader.partialStreamsOf(runId)) {
    const bytes = await reader.readPartialStream(stream.streamId)
    const body = bytes === undefined ? null : bodyHash(bytes)
    if (bytes !== undefined) bodies.set(bodyHash(bytes), bytes)
    notes.push({
      run_id: runId,
      stream_id: stream.streamId,
      step_id: stream.stepId,
      role: stream.role,
      mime_type: stream.mime,
      byte_size: stream.byteSize,
      ...(stream.withheldBytes > 0 ? { withheld_bytes: stream.withheldBytes } : {}),
      chunks: stream.chunks,
      is_unbroken: stream.isUnbroken,
      last_at_us: stream.lastAtMicros,
      state: stream.state,
      body,
    })
  }
  return notes
}

async function gapNotes(reader: RunReader, runId: string): Promise<PortableNotes["gaps"]> {
  return (await reader.gapsOf(runId)).map(({ code, reason, lost, atMs, detail }) => ({
    run_id: runId,
    code,
    reason,
    ...given({ lost, at_ms: atMs }),
    ...(detail === undefined ? {} : { detail: { ...detail } }),
  }))
}
