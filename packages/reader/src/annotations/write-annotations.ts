import {
  type BodyHash,
  bodyHash,
  type Event,
  type EventType,
  OrangeboxError,
  randomIds,
  SCHEMA_VERSION,
} from "@orangebox/contract"
import { type DataFolder, openJournal } from "@orangebox/journal"
import type { LoadedRun } from "../run/load-run.js"

/** The door through which something was said about a run. */
export interface AnnotationDoor {
  /** The `source` of what it says. */
  readonly source: string
  readonly version: string
}

/** A text that stands in a body, with the hash it is named by. */
export interface AnnotationBody {
  readonly hash: BodyHash
  readonly bytes: Uint8Array
}

export interface Annotation {
  readonly event: Event
  readonly body: AnnotationBody | undefined
}

type Said<T extends EventType> = Pick<Event<T>, "event_type" | "payload" | "redaction_status"> &
  Partial<Pick<Event<T>, "attributes" | "artifact_refs">> & { readonly stepId: string | null }

/** Something that others said about a run: outside its sequence, so that the run and its digest stay what they were. */
export function annotationOf<T extends EventType>(
  { source }: Pick<AnnotationDoor, "source">,
  { events, row }: { readonly events: readonly Event[]; readonly row: Pick<LoadedRun["row"], "runId"> },
  { stepId, ...said }: Said<T>,
): Event<T> {
  const [first] = events
  const last = events.at(-1)
  if (first === undefined || last === undefined) {
    throw new OrangeboxError("NO_RUN", { what: "the run has no event that could be spoken about", where: row.runId })
  }
  const now = Date.now()
  return {
    schema_version: SCHEMA_VERSION,
    event_id: randomIds().event(now),
    trace_id: first.trace_id,
    run_id: row.runId,
    step_id: stepId ?? first.step_id,
    parent_step_id: null,
    sequence_no: null,
    timestamp_utc: new Date(now).toISOString(),
    // Comparable only within the run; it was said after everything that is there.
    mono_us: last.mono_us,
    actor_type: "backend",
    determinism_mode: "live",
    source,
    ...(first.conversation_id === undefined ? {} : { conversation_id: first.conversation_id }),
    artifact_refs: [],
    ...said,
  } as Event<T>
}

export function annotationBody(text: string): AnnotationBody {
  const bytes = Buffer.from(text.toWellFormed(), "utf8")
  return { hash: bodyHash(bytes), bytes }
}

export const refTo = ({ hash, bytes }: AnnotationBody, type: string, mime: string): Event["artifact_refs"][number] => ({
  artifact_hash: hash,
  artifact_type: type,
  byte_size: bytes.length,
  content_encoding: "identity",
  mime_type: mime,
  redaction_profile: "default",
})

/** Writes annotations into a journal of this process. They are on disk when it returns. */
export function writeAnnotations(
  { version }: AnnotationDoor,
  folder: DataFolder,
  annotations: readonly Annotation[],
): void {
  const journal = openJournal({
    folder: folder.journalFolder,
    appId: "orangebox",
    recorderVersion: version,
    onWarning: () => {},
  })
  try {
    for (const { event, body } of annotations) {
      journal.appendDurable({
        json: JSON.stringify(event),
        runId: event.run_id,
        sequenceNo: null,
        bodies: body === undefined ? [] : [body],
      })
    }
  } finally {
    journal.close({ exitCode: 0, reason: "closed" })
  }
}
