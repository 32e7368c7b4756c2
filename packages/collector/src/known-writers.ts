import { type Liveness, livenessOf, type ProcessIdentity, type ProcessLine, thisProcess } from "@orangebox/journal"
import type { WriterRow, WriterState } from "@orangebox/store"

/** What the collector knows of one process that writes journals. */
export interface WriterEntry {
  readonly writerId: string
  identity: ProcessIdentity | undefined
  state: WriterState
  /** The highest file number whose first line was seen: files below it are complete. A file without a first line proves nothing. */
  lastFileNo: number
  lastSeenAtMs: number
  /** As of the beginning of this pass, so that everything a dead writer wrote is in the files read after it. */
  liveness: Liveness
  /** Streams that were begun and not finished, as far as this collector saw them. */
  readonly openStreams: Set<string>
}

const NOT_JUDGED: Liveness = { state: "silent", evidence: "not looked at yet" }
/** A writer that cannot be asked counts as running while records keep coming. */
const QUIET_MS = 60_000

/** All writers by id. A copy of what the store says, brought forward by the lines that go by. */
export class KnownWriters {
  readonly #entries = new Map<string, WriterEntry>()
  /** Those that have not ended: all that has to be asked after, however many there were in the past. */
  readonly #living = new Set<WriterEntry>()
  readonly #late = new Set<WriterEntry>()
  readonly #observer = thisProcess()

  constructor(rows: readonly WriterRow[]) {
    for (const row of rows) {
      const { identity, fileNo } = readIdentity(row.identity)
      this.#add({
        ...newEntry(row.writerId, row.state),
        identity,
        lastFileNo: fileNo,
        lastSeenAtMs: row.lastSeenAtMs ?? 0,
      })
    }
  }

  get(writerId: string): WriterEntry | undefined {
    return this.#entries.get(writerId)
  }

  get size(): number {
    return this.#entries.size
  }

  /** The entry of a writer, new where it was never heard of. */
  entryOf(writerId: string): WriterEntry {
    return this.#entries.get(writerId) ?? this.#add(newEntry(writerId, "running"))
  }

  living(): Iterable<WriterEntry> {
    return this.#living
  }

  /** Writers of which something came in this pass although they had ended before. */
  late(): Iterable<WriterEntry> {
    return this.#late
  }

  /** Begins a pass: asks after every writer that has not ended, before anything is read. */
  judge(): void {
    this.#late.clear()
    for (const entry of this.#living) entry.liveness = this.#livenessOf(entry)
  }

  noteRecords(entry: WriterEntry, atMs: number): void {
    entry.lastSeenAtMs = atMs
    if (hasEnded(entry)) this.#late.add(entry)
  }

  noteEnd(entry: WriterEntry, state: "exited" | "crashed"): void {
    entry.state = state
    entry.openStreams.clear()
    this.#living.delete(entry)
  }

  introduce(line: ProcessLine): WriterEntry {
    const entry = this.entryOf(line.writerId)
    entry.identity ??= line.process
    entry.lastFileNo = Math.max(entry.lastFileNo, line.fileNo)
    return entry
  }

  #add(entry: WriterEntry): WriterEntry {
    this.#entries.set(entry.writerId, entry)
    if (!hasEnded(entry)) this.#living.add(entry)
    return entry
  }

  #livenessOf(entry: WriterEntry): Liveness {
    return entry.identity === undefined
      ? { state: "silent", evidence: "its journal does not say which process it is" }
      : livenessOf(entry.identity, this.#observer)
  }
}

export function hasEnded(entry: Pick<WriterEntry, "state">): boolean {
  return entry.state === "exited" || entry.state === "crashed"
}

/** `silent` means unknown: the process cannot be asked from here, and nothing has come from it for a while. */
export function standingOf(entry: WriterEntry, nowMs: number): WriterState {
  if (hasEnded(entry) || entry.liveness.state === "dead") return entry.state
  if (entry.liveness.state === "alive") return "running"
  return nowMs - entry.lastSeenAtMs < QUIET_MS ? "running" : "silent"
}

function newEntry(writerId: string, state: WriterState): WriterEntry {
  return {
    writerId,
    identity: undefined,
    state,
    lastFileNo: 0,
    lastSeenAtMs: 0,
    liveness: NOT_JUDGED,
    openStreams: new Set(),
  }
}

/** What a store keeps of a `process` line. It comes from a file, so its shape is looked at before it is believed. */
function readIdentity(row: Readonly<Record<string, unknown>>): {
  identity: ProcessIdentity | undefined
  fileNo: number
} {
  const fileNo = typeof row["fileNo"] === "number" ? row["fileNo"] : 0
  return { identity: isIdentity(row["process"]) ? row["process"] : undefined, fileNo }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== "object" || value === null) return false
  const identity = value as Partial<Record<keyof ProcessIdentity, unknown>>
  const isTextOrNull = (text: unknown) => text === null || typeof text === "string"
  return (
    typeof identity.pid === "number" &&
    typeof identity.hostname === "string" &&
    (identity.startTicks === null || typeof identity.startTicks === "number") &&
    [identity.bootId, identity.pidNamespace, identity.machineId].every(isTextOrNull)
  )
}
