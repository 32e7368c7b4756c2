import { type Event, type Problem, readEvent } from "@orangebox/contract"
import {
  type BodyEntry,
  type ChunkLine,
  type EventLineRead,
  inlineBytes,
  type Gap as JournalGap,
  type JournalProblem,
} from "@orangebox/journal"
import type { Gap, RecordedProblem, StreamUpdate } from "@orangebox/store"
import type { BatchBuilder } from "./batch-builder.js"

/** Where a line stands. */
export interface Place {
  readonly file: string
  readonly offset: number
  readonly writerId: string
}

export type BodyBytes = Uint8Array | Iterable<Uint8Array>

/** Reads from the file beside the journal; undefined when the bytes are not there. */
export type BytesAt = (offset: number, byteSize: number) => BodyBytes | undefined

/** A body that a line names and that is not where it should be. The store may have it from elsewhere. */
export interface MissingBody {
  readonly hash: string
  readonly problem: RecordedProblem
}

/**
 * An event and the bodies it introduces. What cannot be understood becomes a problem that says where it stands; an event that is
 * understood and breaks the contract is stored *and* has its problems recorded.
 */
export function takeEvent(
  line: EventLineRead,
  place: Place,
  bytesAt: BytesAt,
  batch: BatchBuilder,
): { readonly isUnderstood: boolean; readonly missing: readonly MissingBody[] } {
  const { event, problems } = readEvent(line.event)
  for (const problem of problems) batch.addProblem(at(problem, place))
  if (event !== undefined) batch.addEvent(event, place.writerId)
  const missing: MissingBody[] = []
  for (const entry of line.bodies) {
    const lost = takeBody(entry, event, place, bytesAt, batch)
    if (lost !== undefined) missing.push(lost)
  }
  return { isUnderstood: event !== undefined, missing }
}

function takeBody(
  entry: BodyEntry,
  event: Event | undefined,
  place: Place,
  bytesAt: BytesAt,
  batch: BatchBuilder,
): MissingBody | undefined {
  const { hash, byteSize } = entry
  if (hash === null) {
    batch.addProblem(at(problemOf("body_without_hash", event?.event_id, "a body stands there without its hash"), place))
    return undefined
  }
  if (entry.form === "streamed") {
    batch.addStream({
      streamId: entry.streamId,
      runId: event?.run_id ?? null,
      stepId: event?.step_id ?? null,
      role: UNKNOWN_ROLE,
      chunks: [],
      end: { hash, byteSize },
    })
    return undefined
  }
  const bytes = bytesOf(entry, bytesAt)
  if (bytes !== undefined) {
    batch.addBody({ hash, bytes, byteSize })
    return undefined
  }
  const reason = `${byteSize} bytes of a body should be in the file beside the journal and are not`
  return { hash, problem: at({ ...problemOf("body_lost", hash, reason), severity: "gap" }, place) }
}

/** The next piece of a stream. */
export function takeChunk(line: ChunkLine, place: Place, bytesAt: BytesAt, batch: BatchBuilder): void {
  const bytes = bytesOf(line.bytes, bytesAt)
  if (bytes === undefined) {
    const reason = `${line.bytes.byteSize} bytes of a stream should be in the file beside the journal and are not`
    batch.addProblem(at({ ...problemOf("chunk_lost", line.streamId, reason), severity: "gap" }, place))
    return
  }
  const update: Omit<StreamUpdate, "chunks"> = {
    streamId: line.streamId,
    runId: line.start?.runId ?? null,
    stepId: line.start?.stepId ?? null,
    role: line.start?.role ?? UNKNOWN_ROLE,
    withheldBytes: line.withheldBytes,
  }
  if (line.bytes.byteSize === 0) batch.addStream({ ...update, chunks: [] })
  let offset = line.streamOffset
  for (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) {
    batch.addStream({ ...update, chunks: [{ offset, bytes: piece, atMicros: line.atUs }] })
    offset += piece.length
  }
}

/** Only for a stream whose beginning is missing: the first chunk in each file says what it is. */
const UNKNOWN_ROLE = "stream"

function bytesOf(entry: BodyEntry, bytesAt: BytesAt): BodyBytes | undefined {
  switch (entry.form) {
    case "text":
    case "base64":
      return inlineBytes(entry)
    case "sidecar":
      return bytesAt(entry.offset, entry.byteSize)
    case "streamed":
      return undefined
  }
}

/** What the writer itself declared missing. */
export function gapFromJournal(gap: JournalGap, place: Omit<Place, "offset"> & { readonly offset?: number }): Gap {
  return {
    code: gap.reason,
    reason: gap.failure === null ? GAP_WORDS[gap.reason] : `${GAP_WORDS[gap.reason]} (${gap.failure})`,
    runIds: gap.runs.map((run) => run.runId),
    writerId: place.writerId,
    file: place.file,
    ...(place.offset === undefined ? {} : { fromOffset: place.offset }),
    lost: gap.records,
    atMs: gap.toMs,
    detail: { ...gap },
  }
}

const GAP_WORDS: Record<JournalGap["reason"], string> = {
  write_failed: "the disk would not take them",
  slow_write: "bodies were left out while the disk was slow",
  total_cap: "journal files were deleted to stay under their cap before they were collected",
  unlinked: "the journal file was deleted while it was being written",
  truncated: "the journal file was shortened while it was being written",
  sync_failed: "the disk refused to sync; the records are there, but a power cut could have taken them",
}

/** A place in a journal that is no line. */
export function takeProblem(problem: JournalProblem, place: Place, batch: BatchBuilder): void {
  batch.addProblem(
    at(
      { ...problemOf(problem.code, place.file, `${problem.length} bytes: ${problem.reason}`), severity: "gap" },
      place,
    ),
  )
  if (!MEANS_LOSS.has(problem.code)) return
  batch.addGap(gapAt(problem.code, problem.reason, place, place.offset + problem.length))
}

/**
 * A torn line was marked by the writer, who wrote its record again or declared it missing. A file of a newer format is not taken at all
 * and waits for a newer build.
 */
const MEANS_LOSS: ReadonlySet<JournalProblem["code"]> = new Set([
  "corrupt_line",
  "nul_run",
  "over_long_line",
  "truncated",
  "unknown_line",
])

/** The last line of a file that no writer goes on with: its record was never acknowledged. */
export function takeTornTail(place: Place, tornBytes: number, batch: BatchBuilder): void {
  const reason = `the last line ends after ${tornBytes} bytes; it was being written when the process died`
  batch.addProblem(at({ ...problemOf("torn_tail", place.file, reason), severity: "gap" }, place))
  batch.addGap(gapAt("torn_tail", reason, place, place.offset + tornBytes))
}

export function gapAt(code: string, reason: string, place: Place, toOffset: number): Gap {
  return { code, reason, writerId: place.writerId, file: place.file, fromOffset: place.offset, toOffset }
}

export function problemOf(code: string, subject: string | undefined, reason: string): Problem {
  return { code, severity: "error", subject: subject ?? "unknown", field: "", reason }
}

export function at(problem: Problem, place: Place): RecordedProblem {
  return { ...problem, file: place.file, offset: place.offset }
}
