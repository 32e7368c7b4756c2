import { basename } from "node:path"
import { type Event, given, InputError, OrangeboxError, runDigest } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import type { Batch, TraceStore } from "@orangebox/store"
import { plural } from "@orangebox/text"
import { type AnnotationDoor, annotationOf } from "../annotations/write-annotations.js"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { keepMaskKey, MASK_KEY_ATTRIBUTE } from "../open/mask-key.js"
import { writeStore } from "../open/open-writing.js"
import { damaged, openRunFile, type RunFile } from "../open/run-file.js"
import { bodiesNamedIn, loadBodies } from "../run/bodies.js"
import { allEvents } from "../run/load-run.js"

/** A run of a file, in a store. */
export interface ImportedRun {
  readonly runId: string
  readonly digest: string
  readonly events: number
  /** It was there before, the same to the last event. */
  readonly wasThere: boolean
}

export interface ImportReport {
  /** The run the file is about. */
  readonly runId: string
  readonly runs: readonly ImportedRun[]
  readonly bodies: number
}

/** The name of what is said about a run that came from a file. */
const FROM_FILE = "imported_from"

/**
 * Puts the runs of an exported file into a store, to the byte: their events, digests and bodies, what others said about them, and what was
 * lost. No process of this machine wrote them, and a word about each says where it came from. A run that is there with other events stays as
 * it is, and nothing of the file is taken.
 */
export async function importRunFile(options: ReaderOptions, path: string, door: AnnotationDoor): Promise<ImportReport> {
  const file = await openRunFile(path)
  // Half a run would have another digest than the run it says to be.
  if (file.problems.length > 0) throw damaged(path, file.problems)
  await refuseChanged(file)
  const folder = openDataFolder(dataPath(options.data))
  return writeStore({ ...options, data: folder.path }, async (store) => {
    const runs = await Promise.all(file.header.runs.map((runId) => readRun(file, store, runId)))
    const fresh = runs.filter(({ wasThere }) => !wasThere)
    const batch = await batchOf(file, fresh, door)
    if (fresh.length > 0) await store.commit(batch)
    for (const run of fresh) await refuseUnlike(store, run, path)
    if (file.maskKey) keepMaskKey(folder.path, file.maskKey)
    return {
      runId: file.header.run_id,
      runs: runs.map(({ runId, digest, own, wasThere }) => ({ runId, digest, events: own.length, wasThere })),
      bodies: batch.bodies?.length ?? 0,
    }
  })
}

interface RunInFile {
  readonly runId: string
  readonly own: readonly Event[]
  readonly digest: string
  readonly wasThere: boolean
}

async function readRun({ reader, path }: RunFile, store: TraceStore, runId: string): Promise<RunInFile> {
  const own = await allEvents(reader, runId)
  const digest = runDigest(own)
  const isStored = (await store.getRun(runId)) !== undefined
  const stored = isStored ? runDigest(await allEvents(store, runId)) : undefined
  if (stored !== undefined && stored !== digest) {
    throw new InputError("RUN_IS_ANOTHER", {
      what: `the store has this run with other events: there its digest is ${stored}, in the file ${digest}`,
      where: `${path}, ${runId}`,
      next: "Nothing was taken. Read the file by its path, or import it into another data folder: --data",
    })
  }
  return { runId, own, digest, wasThere: stored !== undefined }
}

async function batchOf(file: RunFile, runs: readonly RunInFile[], door: AnnotationDoor): Promise<Batch> {
  const { reader, path } = file
  const events: Event[] = []
  const gaps: NonNullable<Batch["gaps"]>[number][] = []
  const streams: NonNullable<Batch["streams"]>[number][] = []
  for (const { runId, own, digest } of runs) {
    for (const event of own) events.push(event)
    for (const event of await reader.annotationsOf(runId)) events.push(event)
    events.push(markOf(door, { events: own, row: { runId } }, path, digest, file.maskKey?.id))
    for (const gap of await reader.gapsOf(runId)) gaps.push({ ...gap, runIds: [runId] })
    for (const stream of await reader.partialStreamsOf(runId)) {
      const bytes = await reader.readPartialStream(stream.streamId)
      streams.push({
        ...{ streamId: stream.streamId, runId, stepId: stream.stepId, role: stream.role, abandoned: true },
        ...given({ mime: stream.mime ?? undefined }),
        chunks: bytes === undefined ? [] : [{ offset: 0, bytes, atMicros: stream.lastAtMicros }],
      })
    }
  }
  const mimes = new Map(events.flatMap((event) => event.artifact_refs.map((ref) => [ref.artifact_hash, ref.mime_type])))
  const { bytes, absent } = await loadBodies(reader, bodiesNamedIn(events).keys())
  const gone = [...absent.values()].filter((body) => body.absent !== "unknown")
  if (gone.length > 0) gaps.push(goneWords(gone, runs))
  return {
    events: events.map((event) => ({ event, writerId: null })),
    bodies: [...bytes].map(([hash, body]) => ({
      ...{ hash, bytes: body, byteSize: body.length },
      ...given({ mime: mimes.get(hash) }),
    })),
    gaps,
    streams,
  }
}

/** A store knows why it lost a body itself, and cannot know it of another; so the run says it. */
function goneWords(
  gone: readonly { readonly reason: string }[],
  runs: readonly RunInFile[],
): NonNullable<Batch["gaps"]>[number] {
  const [first] = gone
  return {
    code: "imported_without_bodies",
    reason: `${plural(gone.length, "body", "bodies")} were gone when the run was exported: ${first!.reason}`,
    runIds: runs.map(({ runId }) => runId),
  }
}

function markOf(
  door: AnnotationDoor,
  run: Parameters<typeof annotationOf>[1],
  path: string,
  digest: string,
  maskKeyId: string | undefined,
): Event {
  return annotationOf<"log">(door, run, {
    stepId: null,
    event_type: "log",
    payload: { level: "info", message: "imported from a file" },
    attributes: {
      [FROM_FILE]: basename(path),
      imported_digest: digest,
      ...(maskKeyId === undefined ? {} : { [MASK_KEY_ATTRIBUTE]: maskKeyId }),
    },
    redaction_status: "not_required",
  })
}

/** What was redacted or contested in one store cannot be so in another: it would look like what was recorded. */
async function refuseChanged({ reader, header, path }: RunFile): Promise<void> {
  for (const runId of header.runs) {
    const redacted = (await reader.redactionsOf(runId)).length
    const contested = (await reader.conflictsOf(runId)).length
    if (redacted + contested === 0) continue
    const what =
      redacted > 0 ? `${plural(redacted, "event")} redacted later` : `${plural(contested, "event")} contested`
    throw new InputError("CANNOT_IMPORT", {
      what: `the run has ${what}, which only the store it was recorded in, or the file, can tell`,
      where: `${path}, ${runId}`,
      next: "Read the file by its path: orangebox show, diff, verify and replay take it",
    })
  }
}

/** Runs that were pruned stay pruned, so one of them would be taken and not be there. */
async function refuseUnlike(store: TraceStore, { runId, digest }: RunInFile, path: string): Promise<void> {
  const isStored = (await store.getRun(runId)) !== undefined
  if (isStored && runDigest(await allEvents(store, runId)) === digest) return
  throw new OrangeboxError("CANNOT_IMPORT", {
    what: isStored ? "the store has not what the file has" : "the run was pruned here, and a store takes no run twice",
    where: `${path}, ${runId}`,
    next: "Import it into another data folder: --data",
  })
}
