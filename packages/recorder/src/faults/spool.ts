import { join } from "node:path"
import { type Journal, listJournals, openJournal, removeJournal } from "@orangebox/journal"
import type { EventRecord } from "../event-record.js"
import type { BodyStream } from "../sink.js"

/**
 * Where the bytes of a run go ahead that are kept only on a fault. A run that ends well takes them along. If the process dies, they stay, and
 * the collector makes them part of the trace: then the fault was the death.
 */
export interface Spool {
  /** An event about the run, outside its sequence, and the bytes it introduces. */
  write(record: EventRecord): void
  openStream(stream: { readonly runId: string; readonly stepId: string; readonly role: string }): BodyStream
  /** Everything in it is of no interest any more. */
  discard(): void
}

/** Under the data folder. Its files have the form of journals, and no collector reads them while their writer lives. */
const SPOOL_FOLDER = "spool"
const MOST_BYTES = 256 * 1024 * 1024

/** The spool of one run: a journal of its own, made when the first bytes come. */
export class JournalSpool implements Spool {
  readonly #options: { readonly folder: string; readonly appId: string; readonly recorderVersion: string }
  #journal: Journal | undefined

  constructor(options: { readonly dataFolder: string; readonly appId: string; readonly recorderVersion: string }) {
    const { dataFolder, appId, recorderVersion } = options
    this.#options = { folder: join(dataFolder, SPOOL_FOLDER), appId, recorderVersion }
  }

  write(record: EventRecord): void {
    const { runId } = record.context
    this.#open().append({ json: record.json, runId, sequenceNo: null, bodies: record.bodies })
  }

  openStream(stream: { runId: string; stepId: string; role: string }): BodyStream {
    return this.#open().openStream(stream)
  }

  discard(): void {
    const journal = this.#journal
    if (journal === undefined) return
    this.#journal = undefined
    journal.close({ exitCode: null, reason: "closed" })
    for (const file of listJournals(this.#options.folder)) {
      if (file.writerId === journal.writerId) removeJournal(file.path)
    }
  }

  #open(): Journal {
    // A death of the process is survived without syncing; after a power cut there is no process to ask what it saw.
    this.#journal ??= openJournal({ ...this.#options, maxTotalBytes: MOST_BYTES, fsync: "never" })
    return this.#journal
  }
}
