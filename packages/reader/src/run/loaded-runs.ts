import type { TraceReader } from "@orangebox/store"
import { keepRunsOf, type LoadedRun, loadAfresh } from "./load-run.js"

/** From now on the runs that this reader was asked for last are loaded once, until something about them changes. */
export function keepLoadedRuns(store: TraceReader): void {
  keepRunsOf(store, new LoadedRuns(store))
}

const MOST = 8

class LoadedRuns {
  readonly #store: TraceReader
  /** The one that was asked for last stands last. */
  readonly #kept = new Map<string, { readonly version: string; readonly run: Promise<LoadedRun | undefined> }>()

  constructor(store: TraceReader) {
    this.#store = store
  }

  async load(runId: string): Promise<LoadedRun | undefined> {
    const version = await this.#versionOf(runId)
    if (version === undefined) return undefined
    const known = this.#kept.get(runId)
    const run = known?.version === version ? known.run : loadAfresh(this.#store, runId)
    this.#kept.delete(runId)
    this.#kept.set(runId, { version, run })
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MOST) break
      this.#kept.delete(oldest)
    }
    return run
  }

  /** Of all that a loaded run is made of; undefined where the run is not there. Costs a few rows, where loading costs all of them. */
  async #versionOf(runId: string): Promise<string | undefined> {
    const row = await this.#store.getRun(runId)
    if (row === undefined) return undefined
    const [redactions, gaps, links, partials] = await Promise.all([
      this.#store.redactionsOf(runId),
      this.#store.gapsOf(runId),
      this.#store.linksTo(runId),
      this.#store.partialStreamsOf(runId),
    ])
    const received = partials.reduce((sum, { byteSize }) => sum + byteSize, 0)
    const { events, annotations, status, bodiesPruned } = row
    const counts = [events, annotations, redactions.length, gaps.length, links.length, partials.length, received]
    return [...counts, status, bodiesPruned ? "pruned" : "whole"].join(".")
  }
}
