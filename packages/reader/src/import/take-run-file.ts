import { basename } from "node:path"
import { type Event, given, InputError, OrangeboxError, runDigest } from "@orangebox/contract"
import type { Batch, TraceStore } from "@orangebox/store"
import { plural } from "@orangebox/text"
import { annotationOf } from "../annotations/write-annotations.js"
import { MASK_KEY_ATTRIBUTE } from "../open/mask-key.js"
import type { RunFile } from "../open/run-file.js"
import { bodiesNamedIn, loadBodies } from "../run/bodies.js"
import { allEvents } from "../run/load-run.js"

/** A run of a file, in a store. */
export interface ImportedRun {
  readonly runId: string
  readonly digest: string
  readonly events: number
  /** What others said about it, where it was recorded. */
  readonly annotations: number
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

/** Who says it. */
const SOURCE = "orangebox.import"

/** Commits the runs of a file to a store; a run that is there with other events, or was pruned there, is refused. */
export async function takeRunFile(store: TraceStore, file: RunFile): Promise<ImportReport> {
  const runs = await Promise.all(file.header.runs.map((runId) => readRun(file, store, runId)))
  const fresh = runs.filter(({ wasThere }) => !wasThere)
  const batch = await batchOf(file, fresh)
  if (fresh.length > 0) await store.commit(batch)
  for (const run of fresh) await refuseUnlike(store, run, file.path)
  return {
    runId: file.header.run_id,
    runs: runs.map(({ own, said, ...run }) => ({ ...run, events: own.length, annotations: said.length })),
    bodies: batch.bodies?.length ?? 0,
  }
}

interface RunInFile {
  readonly runId: string
  readonly own: readonly Event[]
  /** By others, about the run. */
  readonly said: readonly Event[]
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
  return { runId, own, said: await reader.annotationsOf(runId), digest, wasThere: stored !== undefined }
}

async function batchOf(file: RunFile, runs: readonly RunInFile[]): Promise<Batch> {
  const { reader, path } = file
  const events: Event[] = []
  const gaps: NonNullable<Batch["gaps"]>[number][] = []
  const streams: NonNullable<Batch["streams"]>[number][] = []
  for (const { runId, own, said, digest } of runs) {
    for (const event of own) events.push(event)
    for (const event of said) events.push(event)
    events.push(markOf({ events: own, row: { runId } }, path, digest, file.maskKey?.id))
    for (const gap of await reader.gapsOf(runId)) gaps.push({ ...gap, runIds: [runId] })
    for (const stream of await reader.partialStreamsOf(runId)) {
      const bytes = await reader.readPartialStream(stream.streamId)
      streams.push({
        ...{ streamId: stream.streamId, runId, stepId: stream.stepId, role: stream.role, abandoned: true },
        withheldBytes: stream.withheldBytes,
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
  run: Parameters<typeof annotationOf>[1],
  path: string,
  digest: string,
  maskKeyId: string | undefined,
): Event {
  return annotationOf<"log">({ source: SOURCE }, run, {
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

/** Runs that were pruned stay pruned, so one of them would be taken and not be there. */
async function refuseUnlike(store: TraceStore, { runId, digest }: RunInFile, path: string): Promise<void> {
  const isStored = (await store.getRun(runId)) !== undefined
  if (isStored && runDigest(await allEvents(store, runId)) === digest) return
  throw new OrangeboxError(isStored ? "CANNOT_IMPORT" : "RUN_IS_PRUNED", {
    what: isStored ? "the store has not what the file has" : "the run was pruned here, and a store takes no run twice",
    where: `${path}, ${runId}`,
    next: "Import it into another data folder: --data",
  })
}
