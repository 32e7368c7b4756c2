import { OrangeboxError } from "@orangebox/contract"
import { type Batch, type CommitSummary, failpoint, type RecordedProblem, type TraceStore } from "@orangebox/store"
import { BatchBuilder } from "./batch-builder.js"
import type { Bookmarks } from "./bookmarks.js"
import { type SilentCall, silentCallIn } from "./derive-calls.js"
import { passingFailure } from "./store-failure.js"
import { emptyTally } from "./tally.js"

/** The one way into the store: rows and bookmarks in one commit, and the bookmarks move only when it has returned. */
export class Intake {
  readonly batch = new BatchBuilder()
  readonly tally = emptyTally()
  #silentCalls: SilentCall[] = []
  readonly #store: TraceStore
  readonly #bookmarks: Bookmarks

  constructor(store: TraceStore, bookmarks: Bookmarks) {
    this.#store = store
    this.#bookmarks = bookmarks
  }

  async flush(): Promise<void> {
    if (this.batch.isEmpty) return
    const batch = this.batch.take()
    failpoint("collect:before-commit")
    await this.#commit(batch)
    failpoint("collect:after-commit")
    this.#silentCalls.push(...(batch.events ?? []).flatMap((recorded) => silentCallIn(recorded) ?? []))
    for (const offset of batch.offsets ?? []) this.#bookmarks.set(offset)
    // A commit holds up the event loop; a server in the same process gets its turn between two.
    await new Promise(setImmediate)
  }

  /** Calls that were committed and of which it has to be derived what they mean. */
  takeSilentCalls(): readonly SilentCall[] {
    const calls = this.#silentCalls
    this.#silentCalls = []
    return calls
  }

  async #commit(batch: Batch): Promise<void> {
    try {
      this.#count(await this.#store.commit(batch), batch)
    } catch (error) {
      const isAboutAnEvent = !(error instanceof OrangeboxError) && passingFailure(error) === undefined
      if (!isAboutAnEvent || (batch.events ?? []).length === 0) throw error
      await this.#commitOneByOne(batch)
    }
  }

  /**
   * A store that fails over one event, for an unforeseen reason, must not keep every later event out for good. The batch is taken
   * apart: what can be taken is, and what cannot be becomes a problem on record. Offsets come last, so a kill in between only means that
   * events are offered again.
   */
  async #commitOneByOne(batch: Batch): Promise<void> {
    const { events = [], offsets = [], exits = [], problems = [], ...rest } = batch
    this.#count(await this.#store.commit(rest), rest)
    const refused: RecordedProblem[] = []
    for (const recorded of events) {
      try {
        this.#count(await this.#store.commit({ events: [recorded] }), {})
      } catch (error) {
        if (error instanceof OrangeboxError || passingFailure(error) !== undefined) throw error
        refused.push(refusal(recorded.event.event_id, error))
      }
    }
    const end = { exits, offsets, problems: [...problems, ...refused] }
    this.#count(await this.#store.commit(end), end)
  }

  #count(summary: CommitSummary, batch: Batch): void {
    this.tally.commits++
    this.tally.events += summary.events
    this.tally.duplicates += summary.duplicates
    this.tally.conflicts += summary.conflicts
    this.tally.buried += summary.buried
    this.tally.newBodies += summary.newBodies
    this.tally.newBodyBytes += summary.newBodyBytes
    this.tally.gaps += batch.gaps?.length ?? 0
    this.tally.problems += (batch.problems?.length ?? 0) + summary.problems.length
  }
}

function refusal(eventId: string, error: unknown): RecordedProblem {
  return {
    code: "event_refused",
    severity: "error",
    subject: eventId,
    field: "",
    reason: `the store could not take it: ${error instanceof Error ? error.message : String(error)}`,
  }
}
