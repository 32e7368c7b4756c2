import { readFileSync, statSync } from "node:fs"
import type { ArtifactRef, Event, Problem } from "@orangebox/contract"
import { parseAddress, plural, recordedText, viewRun } from "@orangebox/query"
import { type PortableHeader, readPortable } from "@orangebox/replay"
import type { BodyInfo, BodyReading, EventPage, Resolution, Target } from "@orangebox/store"
import { InputError } from "../failure.js"
import type { RunHead, RunReader } from "./run-reader.js"

/** A run that stands in a file of its own, read as if it stood in a store. */
export interface RunFile {
  readonly path: string
  readonly header: PortableHeader
  readonly reader: RunReader
  /** Where the file is damaged. What stands before the damage can be read. */
  readonly problems: readonly Problem[]
}

/** What exported files are called where nobody says otherwise. */
export const RUN_FILE_ENDING = ".obxrun"

/**
 * The file that an address names, and the number of a step in it. `last` and `run_…` are never files: `./last` would be one.
 * Undefined for an address that has to be looked up in a store.
 */
export function fileInAddress(typed: string): { readonly path: string; readonly n: number | undefined } | undefined {
  if (/^(last(~\d+)?|run_[0-9a-z]*)?(#|$)/i.test(typed.trim())) return undefined
  const [, before = typed, digits] = /^(.+)#(\d+)$/s.exec(typed) ?? []
  const path = isFile(typed) ? typed : before
  const n = path === typed || digits === undefined ? undefined : Number(digits)
  if (isFile(path)) return { path, n }
  if (!path.endsWith(RUN_FILE_ENDING) && !/^(\.{0,2}|~)\//.test(path)) return undefined
  throw new InputError("NO_FILE", {
    what: statSync(path, { throwIfNoEntry: false }) ? "this is no file" : "there is no such file",
    where: path,
    next: "Name a file that orangebox export wrote, or a recorded run: orangebox runs lists them",
  })
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

export function openRunFile(path: string): RunFile {
  const bytes = bytesOf(path)
  checkVersion(bytes, path)
  const { header, events, bodies, problems } = readPortable(bytes)
  if (!header || !events.some(({ run_id, sequence_no }) => run_id === header.run_id && sequence_no !== null)) {
    throw damaged(path, problems)
  }
  return { path, header, reader: new FileReader(header.run_id, events, bodies), problems }
}

/** Why a file cannot be read, or not be trusted for what is asked. */
export function damaged(path: string, [first, ...others]: readonly Problem[]): InputError {
  const isOther = first?.code === "not_a_run_file"
  const more = others.length > 0 ? `, and ${plural(others.length, "more problem")}` : ""
  return new InputError(isOther ? "NOT_A_RUN_FILE" : "DAMAGED_FILE", {
    what: first ? `${first.reason}${more}` : "the file holds no event of its run",
    where: first && !isOther ? `${path}, ${first.subject}` : path,
    next: isOther ? "Export a run with: orangebox export last" : "Export the run again where it was recorded",
  })
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new InputError("CANNOT_READ", { what: `the file cannot be read: ${why}`, where: path, cause: error })
  }
}

const READABLE_VERSION = 1

/** A newer file is no damaged one, and what helps is another. */
function checkVersion(bytes: Uint8Array, path: string): void {
  const head = Buffer.from(bytes.subarray(0, 65_536)).toString("utf8")
  const [, magic, header = ""] = /^OBXRUN(\d+)\n([^\n]*)/.exec(head) ?? []
  if (magic === undefined) return
  const version = Math.max(Number(magic), versionIn(header))
  if (version <= READABLE_VERSION) return
  throw new InputError("RUN_FILE_VERSION", {
    what: `the file is of format version ${version}, this build reads up to ${READABLE_VERSION}`,
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
  readonly #runId: string
  readonly #own: readonly Event[]
  readonly #annotations: readonly Event[]
  readonly #bodies: ReadonlyMap<string, Uint8Array>
  readonly #refs = new Map<string, ArtifactRef>()
  readonly #stepIds: readonly string[]

  constructor(runId: string, events: readonly Event[], bodies: ReadonlyMap<string, Uint8Array>) {
    this.#runId = runId
    const ofRun = events.filter((event) => event.run_id === runId)
    this.#own = ofRun.filter((event) => event.sequence_no !== null).sort((a, b) => a.sequence_no! - b.sequence_no!)
    this.#annotations = ofRun.filter((event) => event.sequence_no === null)
    this.#bodies = bodies
    for (const { artifact_refs } of ofRun) for (const ref of artifact_refs) this.#refs.set(ref.artifact_hash, ref)
    this.#stepIds = viewRun({ events: this.#own }).steps.map(({ id }) => id ?? "")
  }

  async getRun(runId: string): Promise<RunHead | undefined> {
    if (runId !== this.#runId) return undefined
    const has = (type: string): boolean => this.#own.some(({ event_type }) => event_type === type)
    const isCrashed = this.#annotations.some(({ event_type }) => event_type === "process_crashed")
    const status = has("run_completed") ? "completed" : has("run_failed") ? "failed" : isCrashed ? "crashed" : "running"
    return { runId, status, writerId: null, events: this.#own.length + this.#annotations.length }
  }

  async stepsOf(): Promise<readonly { readonly stepId: string }[]> {
    return this.#stepIds.map((stepId) => ({ stepId }))
  }

  async eventsOf(): Promise<EventPage> {
    return { events: this.#own, total: this.#own.length }
  }

  async annotationsOf(): Promise<readonly Event[]> {
    return this.#annotations
  }

  async readBody(hash: string): Promise<BodyReading> {
    const bytes = this.#bodies.get(hash)
    const ref = this.#refs.get(hash)
    if (bytes) return { bytes, byteSize: bytes.length, mime: ref?.mime_type ?? null }
    const reason = "It was not kept, or was gone already when the run was exported"
    return { absent: "unknown", hash, reason, ...(ref ? { byteSize: ref.byte_size } : {}) }
  }

  async bodyInfo(hash: string): Promise<BodyInfo | undefined> {
    const bytes = this.#bodies.get(hash)
    if (!bytes) return undefined
    const mime = this.#refs.get(hash)?.mime_type ?? null
    return { hash, byteSize: bytes.length, mime, firstSeenAtMs: 0, references: 1 }
  }

  async resolve(text: string): Promise<Resolution> {
    const address = parseAddress(text)
    if (address.form === "body") return this.#resolveBody(address.hashPrefix)
    if (address.form === "step") {
      const stepId = this.#stepIds[address.n - 1]
      if (stepId !== undefined) return one({ ...this.#run(), kind: "step", id: stepId, stepId })
      return { found: "none", nearest: [this.#run()] }
    }
    return one(this.#run())
  }

  // A file holds finished facts: nobody is writing it, and what was lost or cut off stayed where it was recorded.

  async gapsOf(): Promise<[]> {
    return []
  }

  async partialStreamsOf(): Promise<[]> {
    return []
  }

  async readPartialStream(): Promise<undefined> {
    return undefined
  }

  async writers(): Promise<[]> {
    return []
  }

  async conflictsOf(): Promise<[]> {
    return []
  }

  async redactionsOf(): Promise<[]> {
    return []
  }

  #run(): Target {
    return { kind: "run", id: this.#runId, runId: this.#runId, stepId: null, label: "" }
  }

  #resolveBody(prefix: string): Resolution {
    const found = [...this.#bodies.keys()].filter((hash) => hash.startsWith(prefix))
    const targets = found.map((hash): Target => ({ ...this.#run(), kind: "body", id: hash, label: "body" }))
    if (targets.length === 1) return one(targets[0]!)
    return targets.length === 0
      ? { found: "none", nearest: [this.#run()] }
      : { found: "many", candidates: targets.slice(0, 10), total: targets.length }
  }
}

const one = (target: Target): Resolution => ({ found: "one", target })

/** The places of damage, one line each. */
export function damageWords({ path, problems }: RunFile): string[] {
  return problems.map(({ subject, reason }) => `orangebox: ${path}, ${subject}: ${recordedText(reason, 200)}`)
}
