import type { Event, Problem } from "@orangebox/contract"
import { BatchWork, type MutableSummary } from "../batch-work.js"
import { BODY } from "../codes.js"
import type { Batch } from "../trace-store.js"
import type { ServerRow } from "./connection.js"
import type { StreamFact } from "./facts.js"
import type { LiveRun, PlacedEvent } from "./live-run.js"
import type { BodyState } from "./stored-bodies.js"

/** The order in which tables are written: whatever a row names is there before it, and the offsets come last. What stands together may come in any order. */
export const ORDER = [
  ["block_rows"],
  ["body_rows"],
  ["text_rows", "text_runs", "id_rows", "ref_rows", "stream_rows"],
  ["event_rows"],
  ["step_rows", "run_rows"],
  ["fact_rows"],
] as const

type Table = (typeof ORDER)[number][number]

/** One batch on its way: what it knows, and the rows it becomes. */
export class Writing {
  readonly work: BatchWork<LiveRun, BodyState>
  readonly rows = Object.fromEntries(ORDER.flat().map((table) => [table, []])) as unknown as Record<Table, ServerRow[]>
  readonly accepted = new Map<string, PlacedEvent[]>()
  readonly revisions = new Map<string, Event>()
  readonly written = new Map<string, BodyState>()
  readonly openStreams = new Map<string, StreamFact>()
  known = new Map<string, BodyState>()
  streams: ReadonlyMap<string, { readonly value: StreamFact }> = new Map()

  constructor(batch: Batch, nowMs: number) {
    const summary: MutableSummary = {
      events: 0,
      duplicates: 0,
      conflicts: 0,
      buried: 0,
      bodies: batch.bodies?.length ?? 0,
      newBodies: 0,
      newBodyBytes: 0,
    }
    const problems: Problem[] = []
    this.work = new BatchWork(batch, nowMs, summary, problems)
  }

  accept(runId: string, placed: PlacedEvent): void {
    const known = this.accepted.get(runId)
    if (known === undefined) this.accepted.set(runId, [placed])
    else known.push(placed)
  }

  /** Whether the bytes are there by the work of another batch. */
  isReliedOn(hash: string): boolean {
    return this.known.get(hash)?.state === BODY.here && !this.written.has(hash)
  }

  put(state: BodyState): void {
    this.known.set(state.hash, state)
    this.written.set(state.hash, state)
  }

  /** The row of a body that an event names, awaited if its bytes have not come. */
  expect(hash: string, byteSize: number, mime: string | null): BodyState {
    const known = this.known.get(hash)
    if (known !== undefined) return known
    const { nowMs } = this.work
    const empty = new Uint8Array()
    const state = {
      hash,
      version: 1,
      byteSize,
      mime,
      state: BODY.awaited,
      stateAtMs: nowMs,
      seenAtMs: nowMs,
      shelf: "",
      recipe: empty,
    }
    this.put(state)
    return state
  }
}
