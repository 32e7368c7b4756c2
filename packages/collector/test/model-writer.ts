import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bodyHash } from "@orangebox/contract"
import { thisProcess } from "@orangebox/journal"
import { ended } from "./child-processes.js"
import { journalLine, unwrittenRun } from "./journal-lines.js"
import type { SampleRun } from "./sample-run.mjs"

export interface ModelEvent {
  readonly id: string
  readonly isTerminal: boolean
  readonly body: Buffer | undefined
}

/**
 * A writer that a test can stop between any two bytes. Its lines are written by the test; that it lives is the business of a real process
 * that does nothing else.
 */
export class ModelWriter {
  readonly writerId = randomBytes(16).toString("hex")
  readonly run: SampleRun = unwrittenRun()
  /** What stands in each file, and where it ends. */
  readonly files: { readonly path: string; events: { event: ModelEvent; end: number }[] }[] = []
  isAlive = true
  hasEnded = false
  /** Its first lines say which process it is; without one left, nobody can know that it is dead. */
  headers = 0
  readonly #stem: string
  readonly #process: ChildProcess
  #headerBytes = 0

  constructor(folder: string, no: number) {
    this.#process = spawn("sleep", ["1000"], { stdio: "ignore" })
    const time = `20260131T1200${String(no).padStart(5, "0")}Z`
    this.#stem = join(folder, `${time}-${this.#process.pid}-${this.writerId}`)
    this.rotate()
    this.#append(this.run.start().event, undefined)
  }

  /** A record, in one line; a large body goes beside it first. */
  write(bodyBytes: number): void {
    const bytes = bodyBytes === 0 ? undefined : Buffer.alloc(bodyBytes, `${this.run.runId} ${this.files.length} `)
    this.#append(this.run.log("a record", bytes === undefined ? [] : [bytes]).event, bytes)
  }

  end(): void {
    this.#append(this.run.complete().event, undefined)
    this.hasEnded = true
  }

  /** A goodbye, after which nothing comes. */
  exit(): void {
    const exit = { exit_code: 0, reason: "exit", records_written: 0, records_dropped: 0, at_ms: 0, at_mono_us: 0 }
    this.#appendBytes(journalLine({ k: "exit", ...exit }))
    this.isAlive = false
  }

  rotate(): void {
    const path = `${this.#stem}.${this.files.length + 1}.ndjson`
    this.files.push({ path, events: [] })
    const identity = thisProcess()
    const header = {
      k: "process",
      format_version: 1,
      writer_id: this.writerId,
      file_no: this.files.length,
      process: {
        pid: this.#process.pid,
        thread_id: 0,
        start_ticks: startTicksOf(this.#process.pid!),
        boot_id: identity.bootId,
        pid_namespace: identity.pidNamespace,
        hostname: identity.hostname,
        machine_id: identity.machineId,
      },
      app_id: "model",
      recorder_version: "0",
      runtime: "none",
      opened_ms: 0,
      opened_mono_us: 0,
    }
    const line = journalLine(header)
    this.#headerBytes = line.length
    this.headers++
    writeFileSync(path, line, { mode: 0o600 })
  }

  /** Dies in the middle of a line. */
  async tear(): Promise<void> {
    const { event } = this.run.log("never acknowledged")
    const value = { k: "event", e: event }
    this.#appendBytes(journalLine(value).subarray(0, 60))
    await this.kill()
  }

  async kill(): Promise<void> {
    this.isAlive = false
    this.#process.kill("SIGKILL")
    await ended(this.#process)
  }

  /** The events that stood only in what was cut off. */
  truncate(share: number): ModelEvent[] {
    const file = this.files.at(-1)!
    const size = Math.floor(statSync(file.path).size * share)
    truncateSync(file.path, size)
    if (size < this.#headerBytes) {
      this.headers--
      this.#headerBytes = 0
    }
    const cut = file.events.filter(({ end }) => end > size)
    file.events = file.events.filter(({ end }) => end <= size)
    return cut.map(({ event }) => event)
  }

  /** The last file once more, under the name of a writer that never was. */
  copy(): void {
    const { path } = this.files.at(-1)!
    if (existsSync(path)) copyFileSync(path, path.replace(this.writerId, randomBytes(16).toString("hex")))
  }

  #append(event: { event_id: string; event_type: string }, body: Buffer | undefined): void {
    const file = this.files.at(-1)!
    const entry = body === undefined ? [] : [this.#place(file.path, body)]
    const line = { k: "event", e: event, ...(body === undefined ? {} : { b: entry }) }
    this.#appendBytes(journalLine(line))
    const modelEvent = { id: event.event_id, isTerminal: event.event_type === "run_completed", body }
    file.events.push({ event: modelEvent, end: statSync(file.path).size })
  }

  #place(path: string, body: Buffer): object {
    const entry = { h: bodyHash(body), n: body.length }
    if (body.length <= 1024) return { ...entry, t: body.toString() }
    const sidecar = path.replace(/\.ndjson$/, ".bodies")
    const at = existsSync(sidecar) ? statSync(sidecar).size : 0
    appendFileSync(sidecar, body, { mode: 0o600 })
    return { ...entry, at }
  }

  #appendBytes(bytes: Buffer): void {
    appendFileSync(this.files.at(-1)!.path, bytes)
  }
}

function startTicksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19])
}
