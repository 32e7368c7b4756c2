import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import { type ArtifactRef, advice, type Event, given, InputError, type Problem, suggested } from "@orangebox/contract"
import { parseAddress } from "@orangebox/query"
import { maskKeyId } from "@orangebox/redaction"
import {
  PORTABLE_VERSION,
  type PortableFile,
  type PortableHeader,
  type PortableReading,
  readPortable,
} from "@orangebox/replay"
import { foldRun, isSequence, linksOf, type Run } from "@orangebox/runs"
import {
  type BodyInfo,
  type BodyReading,
  type EventPage,
  type EventRedaction,
  type Gap,
  type InboundLink,
  isAbsent,
  type PartialStream,
  type Resolution,
  type Target,
} from "@orangebox/store"
import { plural, recordedText, shellWord } from "@orangebox/text"
import type { MaskKey } from "./mask-key.js"
import type { RunHead, RunReader } from "./run-reader.js"

/** A run that stands in a file of its own, read as if it stood in a store. */
export interface RunFile {
  readonly path: string
  readonly header: PortableHeader
  /** Of the events that the header counts. */
  readonly eventsRead: number
  readonly reader: RunReader
  /** Where the file is damaged. What stands before the damage can be read. */
  readonly problems: readonly Problem[]
  /** The key its secrets were tagged with; undefined where none was masked, or an older build wrote it. */
  readonly maskKey: MaskKey | undefined
}

/** What exported files are called by default. */
export const RUN_FILE_ENDING = ".obxrun"

/**
 * The file that an address names, the run in it where another is meant than the one it is about (`fix.obxrun:run_01JT9`), and the number of a
 * step. `last` and `run_…` are never files: `./last` would be one.
 * Undefined for an address that has to be looked up in a store, an error for what looks like a path and leads to no file.
 */
export function fileInAddress(
  typed: string,
):
  | { readonly path: string; readonly run: string | undefined; readonly n: number | undefined }
  | InputError
  | undefined {
  if (/^(last(~\d+)?|run_[0-9a-z]*)?(#|$)/i.test(typed.trim())) return undefined
  const [, before = typed, digits] = /^(.+)#(\d+)$/s.exec(typed) ?? []
  const named = isFile(typed) ? typed : before
  const n = named === typed || digits === undefined ? undefined : Number(digits)
  const [, holder = named, run] = isFile(named) ? [] : (/^(.+):(run_[0-9a-z]+)$/is.exec(named) ?? [])
  const path = run !== undefined && isFile(holder) ? holder : named
  if (isFile(path)) return { path, run: path === named ? undefined : run, n }
  if (!path.endsWith(RUN_FILE_ENDING) && !/^(\.{0,2}|~)\//.test(path)) return undefined
  return new InputError("NO_FILE", {
    what: statSync(path, { throwIfNoEntry: false }) ? "this is no file" : "there is no such file",
    where: path,
    next: advice`Name a file that orangebox export wrote, or a recorded run of: ${suggested("runs")}`,
  })
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

export async function openRunFile(path: string): Promise<RunFile> {
  const onDisk = fileAt(path)
  checkVersion(onDisk.read(0, 65_536), path)
  const reading = await readPortable(onDisk)
  const { header, events, problems } = reading
  if (!header || !events.some(({ run_id, sequence_no }) => run_id === header.run_id && sequence_no !== null)) {
    throw damaged(path, problems)
  }
  const reader = new FileReader(path, header, reading)
  return { path, header, eventsRead: events.length, reader, problems, maskKey: maskKeyOf(reading) }
}

function maskKeyOf({ notes }: PortableReading): MaskKey | undefined {
  const { id, key } = notes.mask_key ?? {}
  if (id === undefined || key === undefined) return id === undefined ? undefined : { id }
  const bytes = Buffer.from(key, "hex")
  // A key that is not the one it says to be would only make everything differ.
  return maskKeyId(bytes) === id ? { id, bytes } : { id }
}

/** Why a file cannot be read, or not be trusted for what is asked. */
export function damaged(path: string, [first, ...others]: readonly Problem[]): InputError {
  const isOther = first?.code === "not_a_run_file"
  const more = others.length > 0 ? `, and ${plural(others.length, "more problem")}` : ""
  return new InputError(isOther ? "NOT_A_RUN_FILE" : "DAMAGED_FILE", {
    what: first ? `${first.reason}${more}` : "the file holds no event of its run",
    where: first && !isOther ? `${path}, ${first.subject}` : path,
    next: isOther
      ? advice`Export a run with: ${suggested("export", "last")}`
      : "Export the run again where it was recorded",
  })
}

/** Opened for each piece that is read, so that no descriptor is held as long as a body may still be asked for. */
function fileAt(path: string): PortableFile {
  const withFile = <T>(use: (fd: number) => T): T => {
    try {
      const fd = openSync(path, "r")
      try {
        return use(fd)
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new InputError("CANNOT_READ", { what: `the file cannot be read: ${why}`, where: path, cause: error })
    }
  }
  const byteLength = withFile((fd) => fstatSync(fd).size)
  return {
    byteLength,
    read: (at, length) =>
      withFile((fd) => {
        const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, byteLength - at)))
        let done = 0
        for (let read = -1; read !== 0 && done < bytes.length; done += read) {
          read = readSync(fd, bytes, done, bytes.length - done, at + done)
        }
        return bytes.subarray(0, done)
      }),
  }
}

/** A newer file is no damaged one, and what helps is another. */
function checkVersion(bytes: Uint8Array, path: string): void {
  const head = Buffer.from(bytes.subarray(0, 65_536)).toString("utf8")
  const [, magic, header = ""] = /^OBXRUN(\d+)\n([^\n]*)/.exec(head) ?? []
  if (magic === undefined) return
  const version = versionIn(header)
  if (magic === "1" && version <= PORTABLE_VERSION) return
  throw new InputError("RUN_FILE_VERSION", {
    what:
      magic === "1"
        ? `the file is of format version ${version}, this build reads up to ${PORTABLE_VERSION}`
        : `the file is of kind OBXRUN${magic}, this build reads OBXRUN1`,
    where: path,
    next: "Upgrade with: npm i -g orangebox@latest",
  })
}

function versionIn(header: string): number {
  try {
    const { v } = JSON.parse(header) as { v?: unknown }
    return typeof v === "number" ? v : 0
  } catch {
    return 0
  }
}

class FileReader implements RunReader {
  /** The run the file is about; others in it are the runs it started. */
  readonly #runId: string
  readonly #path: string
  readonly #runIds: readonly string[]
  readonly #eventsWritten: number
  readonly #file: PortableReading
  readonly #refs = new Map<string, ArtifactRef>()
  readonly #runs = new Map<string, Run>()

  constructor(path: string, header: PortableHeader, file: PortableReading) {
    this.#path = path
    this.#runId = header.run_id
    this.#runIds = [header.run_id, ...header.runs.filter((id) => id !== header.run_id)]
    this.#eventsWritten = header.events
    this.#file = file
    for (const { artifact_refs } of file.events) for (const ref of artifact_refs) this.#refs.set(ref.artifact_hash, ref)
  }

  #eventsOf(runId: string): Event[] {
    return this.#file.events.filter((event) => event.run_id === runId)
  }

  #run(runId: string): Run {
    const known = this.#runs.get(runId) ?? foldRun(this.#eventsOf(runId))
    this.#runs.set(runId, known)
    return known
  }

  async getRun(runId: string): Promise<RunHead | undefined> {
    const { own, annotations, status } = this.#run(runId)
    return own.length === 0
      ? undefined
      : {
          ...{ runId, status, writerId: null, events: own.length, annotations: annotations.length },
          ...(this.#file.hasAllEvents ? {} : { lacksEvents: true }),
        }
  }

  addressOf(runId: string): string {
    return shellWord(runId === this.#runId ? this.#path : `${this.#path}:${runId}`)
  }

  async stepsOf(runId: string): Promise<readonly { readonly stepId: string }[]> {
    return this.#run(runId).steps.map(({ id }) => ({ stepId: id }))
  }

  async eventsOf(runId: string): Promise<EventPage> {
    const events = this.#eventsOf(runId).filter(({ sequence_no }) => isSequence(sequence_no))
    events.sort((a, b) => a.sequence_no! - b.sequence_no!)
    return { events, total: events.length }
  }

  async annotationsOf(runId: string): Promise<readonly Event[]> {
    return this.#eventsOf(runId).filter(({ sequence_no }) => !isSequence(sequence_no))
  }

  async readBody(hash: string): Promise<BodyReading> {
    const bytes = this.#file.bodies.get(hash)
    const ref = this.#refs.get(hash)
    if (bytes) return { bytes, byteSize: bytes.length, mime: ref?.mime_type ?? null }
    const note = this.#file.notes.absent_bodies.find((body) => body.hash === hash)
    if (note) {
      const { absent, reason, on_ms, byte_size } = note
      return {
        ...{ absent, hash, reason },
        ...given({ onMs: on_ms, byteSize: byte_size }),
      }
    }
    const reason = "It was not kept, or was gone already when the run was exported"
    return { absent: "unknown", hash, reason, ...(ref ? { byteSize: ref.byte_size } : {}) }
  }

  readBodies(hashes: readonly string[]): Promise<readonly BodyReading[]> {
    return Promise.all(hashes.map((hash) => this.readBody(hash)))
  }

  async bodyInfo(hash: string): Promise<BodyInfo | undefined> {
    const reading = await this.readBody(hash)
    const info = { hash, mime: this.#refs.get(hash)?.mime_type ?? null, firstSeenAtMs: 0, references: 1 }
    if (!isAbsent(reading)) return { ...info, byteSize: reading.byteSize }
    return reading.absent === "unknown" ? undefined : { ...info, byteSize: reading.byteSize ?? 0, absent: reading }
  }

  async resolve(text: string): Promise<Resolution> {
    const [, id = text, digits] = /^(.+?)(?:#(\d{1,9}))?$/s.exec(text) ?? []
    const runs = this.#runsLike(id)
    if (runs.length > 1)
      return { found: "many", candidates: runs.map((runId) => this.#target(runId)), total: runs.length }
    if (runs.length === 0 && /^run_/i.test(id))
      return { found: "none", nearest: this.#runIds.map((runId) => this.#target(runId)) }
    const address =
      runs.length === 1 && digits !== undefined ? ({ form: "step", n: Number(digits) } as const) : undefined
    const target = this.#target(runs[0] ?? this.#runId)
    const asked = address ?? (runs.length === 1 ? undefined : parseAddress(text))
    if (asked?.form === "body") return this.#resolveBody(asked.hashPrefix)
    if (asked?.form === "step") {
      const stepId = this.#run(target.id).steps[asked.n - 1]?.id
      return stepId === undefined
        ? { found: "none", nearest: [target] }
        : one({ ...target, kind: "step", id: stepId, stepId })
    }
    return one(target)
  }

  async linksTo(runId: string): Promise<readonly InboundLink[]> {
    const own = new Set(this.#run(runId).steps.map(({ id }) => id))
    return this.#file.events.flatMap((event) => {
      const { run_id: from } = event
      if (from === null || from === runId) return []
      const step = this.#run(from).steps.find(({ id }) => id === event.step_id)
      return linksOf(event)
        .filter(({ run_id, step_id }) => run_id === runId || (run_id === undefined && own.has(step_id ?? "")))
        .map((link) => ({
          ...{ link, runId: from, no: step?.no ?? null, name: step?.name ?? null },
          atMs: Date.parse(event.timestamp_utc),
        }))
    })
  }

  async gapsOf(runId: string): Promise<readonly Gap[]> {
    const recorded = this.#file.notes.gaps
      .filter(({ run_id }) => run_id === runId)
      .map(({ code, reason, lost, at_ms, detail }) => ({
        ...{ code, reason, runIds: [runId] },
        ...given({ lost, atMs: at_ms, detail }),
      }))
    return [...(runId === this.#runId ? this.#damage() : []), ...recorded]
  }

  /** What the file lost is lost to every reader of the run, and counted as such. */
  #damage(): Gap[] {
    const { problems, events } = this.#file
    const [first] = problems
    if (!first) return []
    const reason = `the file is damaged at ${first.subject}, ${events.length} of ${this.#eventsWritten} events were read`
    return [
      { code: "damaged_file", reason, runIds: [this.#runId], lost: Math.max(0, this.#eventsWritten - events.length) },
    ]
  }

  async partialStreamsOf(runId: string): Promise<readonly PartialStream[]> {
    return this.#file.notes.partial_streams
      .filter(({ run_id }) => run_id === runId)
      .map((note) => ({
        streamId: note.stream_id,
        stepId: note.step_id,
        role: note.role,
        mime: note.mime_type,
        byteSize: note.byte_size,
        withheldBytes: note.withheld_bytes ?? 0,
        chunks: note.chunks,
        isUnbroken: note.is_unbroken,
        lastAtMicros: note.last_at_us,
        state: note.state,
        hash: note.state === "abandoned" ? note.body : null,
      }))
  }

  async readPartialStream(streamId: string): Promise<Uint8Array | undefined> {
    const note = this.#file.notes.partial_streams.find(({ stream_id }) => stream_id === streamId)
    return note?.body == null ? undefined : this.#file.bodies.get(note.body)
  }

  async redactionsOf(runId: string): Promise<readonly EventRedaction[]> {
    return this.#file.notes.redactions
      .filter(({ run_id }) => run_id === runId)
      .map(({ event_id, at_ms }) => ({ eventId: event_id, atMs: at_ms }))
  }

  async conflictsOf(runId: string): Promise<{ readonly event: Pick<Event, "event_id"> }[]> {
    const conflicts = this.#file.notes.conflicts ?? []
    return conflicts.filter(({ run_id }) => run_id === runId).map(({ event_id }) => ({ event: { event_id } }))
  }

  /** A file has no writer. */
  async writers(): Promise<[]> {
    return []
  }

  /** The run with this id; where there is none, those whose ids begin so. */
  #runsLike(id: string): readonly string[] {
    if (this.#runIds.includes(id)) return [id]
    return /^run_/i.test(id) ? this.#runIds.filter((runId) => runId.toLowerCase().startsWith(id.toLowerCase())) : []
  }

  #target(runId = this.#runId): Target {
    const { entrypoint } = this.#run(runId).facts
    return { kind: "run", id: runId, runId, stepId: null, label: entrypoint ?? "" }
  }

  #resolveBody(prefix: string): Resolution {
    const found = [...this.#file.bodies.keys()].filter((hash) => hash.startsWith(prefix))
    const targets = found.map((hash): Target => ({ ...this.#target(), kind: "body", id: hash, label: "body" }))
    if (targets.length === 1) return one(targets[0]!)
    return targets.length === 0
      ? { found: "none", nearest: [this.#target()] }
      : { found: "many", candidates: targets.slice(0, 10), total: targets.length }
  }
}

const one = (target: Target): Resolution => ({ found: "one", target })

/** The places of damage, one line each. */
export function damageWords({ path, problems }: RunFile): string[] {
  return problems.map(({ subject, reason }) => `${path}, ${subject}: ${recordedText(reason, 200)}`)
}
