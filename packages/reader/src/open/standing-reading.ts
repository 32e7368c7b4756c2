import { readStoreKey } from "@orangebox/journal"
import { digestWord } from "@orangebox/redaction"
import { noteDamage, openStoreReader, storeFileId, type TraceReader } from "@orangebox/store"
import { keepLoadedRuns } from "../run/loaded-runs.js"
import { locateData } from "./data-folder.js"

/** A store that stays open for many questions, while its folder may vanish or its database be replaced between two of them. */
export class StandingReading {
  readonly data: string
  #open: { readonly id: string; readonly store: TraceReader } | undefined
  #opened = 0

  /** @param data the data folder */
  constructor(data: string) {
    this.data = data
  }

  /** What is there now. Refuses, in the words of every reading command, where that is nothing. */
  async at(): Promise<TraceReader> {
    const { path, storeFolder } = locateData(this.data)
    const id = storeFileId(storeFolder)
    if (this.#open !== undefined && this.#open.id === id) return this.#open.store
    await this.close()
    const key = readStoreKey(path)
    const store = openStoreReader(storeFolder, key && ((text) => digestWord(key, text)))
    keepLoadedRuns(store)
    this.#open = { id: id ?? "", store }
    this.#opened += 1
    return store
  }

  /** Another word whenever somebody has written to the store, or put another in its place. */
  async version(): Promise<string> {
    const store = await this.at()
    return `${this.#opened}.${await store.changeCount()}`
  }

  /** Damage that a question met is noted, so that the next to write looks closer, and told in words. */
  damageIn(error: unknown): unknown {
    try {
      return noteDamage(locateData(this.data).storeFolder, error) ?? error
    } catch {
      return error
    }
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.store.close()
  }
}
