import type { CommitSummary, TraceStore } from "@orangebox/store"
import { BatchBuilder } from "./batch-builder.js"
import type { Bookmarks } from "./bookmarks.js"
import { failpoint } from "./failpoint.js"

/** What came into the store, added up over commits. */
export interface Tally {
  commits: number
  events: number
  duplicates: number
  conflicts: number
  buried: number
  newBodies: number
  newBodyBytes: number
  gaps: number
  problems: number
}

export const emptyTally = (): Tally => ({
  commits: 0,
  events: 0,
  duplicates: 0,
  conflicts: 0,
  buried: 0,
  newBodies: 0,
  newBodyBytes: 0,
  gaps: 0,
  problems: 0,
})

/** The one way into the store: rows and bookmarks in one commit, and the bookmarks move only when it has returned. */
export class Intake {
  readonly batch = new BatchBuilder()
  readonly tally = emptyTally()
  readonly #store: TraceStore
  readonly #bookmarks: Bookmarks

  constructor(store: TraceStore, bookmarks: Bookmarks) {
    this.#store = store
    this.#bookmarks = bookmarks
  }

  async flushIfFull(): Promise<void> {
    if (this.batch.isFull) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.batch.isEmpty) return
    const batch = this.batch.take()
    failpoint("collect:before-commit")
    const summary = await this.#store.commit(batch)
    failpoint("collect:after-commit")
    for (const offset of batch.offsets ?? []) this.#bookmarks.set(offset)
    this.#count(summary, batch.gaps?.length ?? 0, batch.problems?.length ?? 0)
    // A commit holds up the event loop; a server in the same process gets its turn between two.
    await new Promise(setImmediate)
  }

  #count(summary: CommitSummary, gaps: number, problems: number): void {
    this.tally.commits++
    this.tally.events += summary.events
    this.tally.duplicates += summary.duplicates
    this.tally.conflicts += summary.conflicts
    this.tally.buried += summary.buried
    this.tally.newBodies += summary.newBodies
    this.tally.newBodyBytes += summary.newBodyBytes
    this.tally.gaps += gaps
    this.tally.problems += problems + summary.problems.length
  }
}
