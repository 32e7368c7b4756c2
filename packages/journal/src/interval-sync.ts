import type { OpenJournalFile } from "./journal-file.js"

const SYNC_INTERVAL_MS = 1000

/**
 * Syncs in the background, at most once a second, while there is something to sync. The timer serves the last writes before a pause;
 * a program that never lets the event loop turn is served by `due`, which the writer calls as it appends.
 */
export class IntervalSync {
  readonly #current: () => OpenJournalFile | undefined
  readonly #onFailure: (file: OpenJournalFile, error: Error) => void
  #isDirty = false
  #isSyncing = false
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(current: () => OpenJournalFile | undefined, onFailure: (file: OpenJournalFile, error: Error) => void) {
    this.#current = current
    this.#onFailure = onFailure
  }

  noteWrite(): void {
    if (!this.#isDirty) this.#becomeDirty()
  }

  /** A second has passed since this was last asked. */
  due(): void {
    if (this.#isDirty) this.#start()
  }

  /** For a file that nothing more is written to. */
  syncAndRetire(file: OpenJournalFile): void {
    file.syncLater((error) => {
      if (error !== null && !this.#stopped) this.#onFailure(file, error)
    })
    file.retire()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #becomeDirty(): void {
    this.#isDirty = true
    if (this.#isSyncing || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#stopped) this.#start()
    }, SYNC_INTERVAL_MS).unref()
  }

  #start(): void {
    const file = this.#current()
    if (this.#isSyncing || file === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDirty = false
    this.#isSyncing = true
    file.syncLater((error) => {
      this.#isSyncing = false
      if (this.#stopped) return
      if (error !== null) this.#onFailure(file, error)
      if (this.#isDirty) this.#becomeDirty()
    })
  }
}
