import { randomBytes } from "node:crypto"
import { given, OrangeboxError } from "@orangebox/contract"
import { type Journal, openDataFolder, openJournal, openStoreKey } from "@orangebox/journal"
import type { EventRecord } from "./event-record.js"
import type { BodyStream, Sink, SinkCounts, SinkExit } from "./sink.js"

/** The production sink: each record is one line in this writer's journal file when `emit` returns. */
export class JournalSink implements Sink {
  readonly writerId: string
  readonly storeKey: Uint8Array
  readonly dataFolder: string
  readonly #journal: Journal

  constructor(options: {
    folder: string
    appId: string
    recorderVersion: string
    journal: {
      fsync?: "never" | "interval" | "always"
      maxFileBytes?: number
      maxFileAgeMs?: number
      maxTotalBytes?: number
    }
    onWarning: (warning: OrangeboxError) => void
  }) {
    const { path, journalFolder } = openDataFolder(options.folder)
    this.dataFolder = path
    this.storeKey = storeKeyOrOther(path, options.onWarning)
    this.#journal = openJournal({
      folder: journalFolder,
      appId: options.appId,
      recorderVersion: options.recorderVersion,
      onWarning: options.onWarning,
      ...options.journal,
    })
    this.writerId = this.#journal.writerId
  }

  emit(record: EventRecord): void {
    this.#journal.append(lineOf(record))
  }

  commit(record: EventRecord): void {
    this.#journal.appendDurable(lineOf(record))
  }

  keepsBodies(): boolean {
    return this.#journal.keepsBodies()
  }

  openStream(stream: { runId: string; stepId: string; role: string }): BodyStream {
    return this.#journal.openStream(stream)
  }

  lastWords(text: string): void {
    this.#journal.lastWords(text)
  }

  counts(): SinkCounts {
    const { recordsWritten, recordsDropped } = this.#journal.stats()
    return { written: recordsWritten, dropped: recordsDropped }
  }

  close(exit: SinkExit): void {
    this.#journal.close(exit)
  }
}

/** A key that is refused must not key anything, nor keep the application from recording: a key of this process alone does for its masks. */
function storeKeyOrOther(folder: string, warn: (warning: OrangeboxError) => void): Uint8Array {
  try {
    return openStoreKey(folder)
  } catch (error) {
    if (!(error instanceof OrangeboxError)) throw error
    const what = `${error.what}; it is not used, and the masks of this process compare with no others`
    warn(new OrangeboxError(error.code, { what, ...given({ where: error.where, next: error.advice }), cause: error }))
    return randomBytes(32)
  }
}

function lineOf(record: EventRecord): Parameters<Journal["append"]>[0] {
  return {
    json: record.json,
    runId: record.context.runId,
    sequenceNo: record.content.sequenceNo,
    bodies: record.bodies,
  }
}
