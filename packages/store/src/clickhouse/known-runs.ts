import type { PriceTable } from "@orangebox/dialects"
import type { Batch } from "../trace-store.js"
import { type Connection, listOf } from "./connection.js"
import { LiveRun, type RunStanding } from "./live-run.js"
import { namedBodies } from "./named-bodies.js"
import { outsideOf, type StoredEvent, type StoredEvents } from "./stored-events.js"
import type { Writing } from "./writing.js"

const MOST_LIVE_RUNS = 512
const MOST_LIVE_EVENTS = 300_000

export interface StoredStanding extends RunStanding {
  readonly owner: string
  readonly host: string
  readonly ingestedAtMs: number
  readonly isPruned: boolean
}

/** Of the events outside runs, by writer. */
export interface OutsideEvents {
  readonly digests: Map<string, string>
  next: number
}

/** The runs that batches are about, and what processes said outside runs, read from the server once and kept between batches. */
export class KnownRuns {
  readonly #connection: Connection
  readonly #events: StoredEvents
  readonly #collectorId: string
  readonly #prices: PriceTable
  readonly #live = new Map<string, LiveRun>()
  readonly #referred = new Map<string, Set<string>>()
  readonly #outside = new Map<string, OutsideEvents>()

  constructor(
    connection: Connection,
    events: StoredEvents,
    { collectorId, prices }: { readonly collectorId: string; readonly prices: PriceTable },
  ) {
    this.#connection = connection
    this.#events = events
    this.#collectorId = collectorId
    this.#prices = prices
  }

  reset(): void {
    this.#live.clear()
    this.#referred.clear()
    this.#outside.clear()
  }

  async open({ work }: Writing): Promise<void> {
    const { batch } = work
    const ids = new Set<string>()
    for (const { event } of batch.events ?? []) if (event.run_id !== null) ids.add(String(event.run_id))
    for (const { runId, abandoned } of batch.streams ?? []) if (abandoned && runId !== null) ids.add(runId)
    const missing = [...ids].filter((id) => !this.#live.has(id))
    const [standings, found] = await Promise.all([this.standingsOf(missing), this.#events.ofRuns(missing)])
    const stored = new Map<string, StoredEvent[]>(missing.map((id) => [id, []]))
    for (const one of found) stored.get(one.runId)!.push(one)
    for (const id of missing) {
      const standing = standings.get(id)
      if (standing?.isPruned) continue
      this.#live.set(id, this.#load(id, standing, stored.get(id) ?? [], batch))
    }
    for (const id of ids) work.runs.set(id, this.#live.get(id))
  }

  async standingsOf(ids: readonly string[]): Promise<Map<string, StoredStanding>> {
    if (ids.length === 0) return new Map()
    const rows = await this.#connection.rows(
      `SELECT run_id, version, released, writer_id, owner, host, ingested_at, state FROM run_rows FINAL WHERE run_id IN (${listOf(ids)})`,
    )
    return new Map(
      rows.map((row) => [
        String(row["run_id"]),
        {
          version: Number(row["version"]),
          released: Number(row["released"]),
          writerId: row["writer_id"] == null ? null : String(row["writer_id"]),
          owner: String(row["owner"]),
          host: String(row["host"]),
          ingestedAtMs: Number(row["ingested_at"]),
          isPruned: row["state"] === "pruned",
        },
      ]),
    )
  }

  #load(
    id: string,
    standing: (RunStanding & { owner: string }) | undefined,
    stored: readonly StoredEvent[],
    batch: Batch,
  ): LiveRun {
    const first = stored[0] ?? batch.events?.find(({ event }) => event.run_id === id)
    const run = new LiveRun(
      id,
      standing ?? { version: 0, released: 0, writerId: first?.writerId ?? null },
      this.#prices,
    )
    run.isOwn = standing?.owner === this.#collectorId
    run.foldAgain(stored.filter(({ isConflict }) => !isConflict))
    for (const { name, digest, isConflict } of stored) if (isConflict) run.noteConflict(name, digest)
    const referred = new Set<string>()
    for (const { event } of stored) {
      if (event.step_id !== null) run.isFirstOf(event.step_id)
      for (const { hash } of namedBodies(event)) referred.add(hash)
    }
    this.#referred.set(id, referred)
    // Events whose run was not written after them are found by loading it; writing it once more than needed is what that costs.
    run.isChanged = stored.length > 0
    return run
  }

  async openOutside(batch: Batch): Promise<void> {
    const names = new Set<string>()
    for (const { event, writerId } of batch.events ?? []) if (event.run_id === null) names.add(outsideOf(writerId))
    const missing = [...names].filter((name) => !this.#outside.has(name))
    const stored = await this.#events.ofRuns(missing)
    for (const name of missing) this.#outside.set(name, { digests: new Map(), next: 0 })
    for (const { runId, name, digest, place, isConflict } of stored) {
      const outside = this.#outside.get(runId)!
      if (!isConflict) outside.digests.set(name, digest)
      outside.next = Math.max(outside.next, place + 1)
    }
  }

  /** What the writer is known to have said outside runs; its batch was opened with `openOutside`. */
  outsideOf(writerId: string | null): OutsideEvents {
    return this.#outside.get(outsideOf(writerId))!
  }

  /** The bodies that events of a run are known to name; undefined outside runs. */
  referredBy(runId: string): Set<string> | undefined {
    return this.#referred.get(runId)
  }

  /** From here on the run is taken to name no body, so that all its texts are indexed again. */
  referToNothing(runId: string): void {
    this.#referred.set(runId, new Set())
  }

  /** Runs that ended, and the oldest where there are too many, are loaded again should anything more come of them. */
  letGo(): void {
    for (const [id, run] of this.#live) if (run.isEnded || !run.isOwn) this.forget(id)
    let events = [...this.#live.values()].reduce((sum, run) => sum + run.eventCount, 0)
    for (const [id, run] of this.#live) {
      if (this.#live.size <= MOST_LIVE_RUNS && events <= MOST_LIVE_EVENTS) break
      events -= run.eventCount
      this.forget(id)
    }
    if (this.#outside.size > MOST_LIVE_RUNS) this.#outside.clear()
  }

  forget(id: string): void {
    this.#live.delete(id)
    this.#referred.delete(id)
  }
}
