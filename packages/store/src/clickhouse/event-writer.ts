import { hash as digestOf } from "node:crypto"
import { canonicalJson, type Event } from "@orangebox/contract"
import { isSequence } from "@orangebox/runs"
import { HELD } from "../codes.js"
import { timeOf } from "../event-time.js"
import { MAX_ROW_TEXT } from "../fitting-json.js"
import { spillMark } from "../spilled-text.js"
import { storedName } from "../stored-name.js"
import type { RecordedEvent } from "../trace-store.js"
import type { BodyWriter } from "./body-writer.js"
import { type EventIndex, placeOf } from "./event-index.js"
import type { KnownRuns, OutsideEvents } from "./known-runs.js"
import type { PlacedEvent } from "./live-run.js"
import { monthOf } from "./month-of.js"
import { outsideOf } from "./stored-events.js"
import type { Writing } from "./writing.js"

/** Decides of each event whether it is new, known, or says something else than the one that is there, and gives it its place. */
export class EventWriter {
  readonly #runs: KnownRuns
  readonly #bodies: BodyWriter
  readonly #index: EventIndex

  constructor(runs: KnownRuns, bodies: BodyWriter, index: EventIndex) {
    this.#runs = runs
    this.#bodies = bodies
    this.#index = index
  }

  async take({ event: recorded, writerId }: RecordedEvent, writing: Writing): Promise<void> {
    const { work } = writing
    const run = recorded.run_id === null ? undefined : work.runs.get(String(recorded.run_id))
    if (recorded.run_id !== null && run === undefined) {
      work.summary.buried++
      return
    }
    const name = storedName(recorded)
    const digest = recordDigest(recorded)
    const outside = run === undefined ? this.#runs.outsideOf(writerId) : undefined
    const known = outside === undefined ? run!.compare(name, digest) : compareOutside(outside, name, digest)
    // Whoever reads a run's own events from a journal writes its row; also where a collector killed before that left only the events.
    if (run !== undefined && isSequence(recorded.sequence_no)) run.isOwn = true
    if (known === "same") {
      work.summary.duplicates++
      return
    }
    const runId = run?.runId ?? outsideOf(writerId)
    if (known === "other" || known === "known conflict") {
      work.summary.conflicts++
      if (known === "known conflict") return
      run?.noteConflict(name, digest)
      const place = run === undefined ? outside!.next++ : run.nextLoosePlace++
      const placed = { event: recorded, name, digest, place, atMs: timeOf(recorded) }
      await this.#store(runId, placed, writerId, true, 0, writing)
      return
    }
    const revised = writing.revisions.get(name)
    const event = revised ?? recorded
    const place = run === undefined ? outside!.next++ : run.placeFor(event)
    const placed: PlacedEvent = { event, name, digest, place, atMs: timeOf(event) }
    work.summary.events++
    if (run === undefined) outside!.digests.set(name, digest)
    else {
      run.take(placed)
      writing.accept(run.runId, placed)
    }
    await this.#store(runId, placed, writerId, false, revised === undefined ? 0 : 1, writing)
    await this.#index.derive(runId, run, placed, writing)
  }

  async #store(
    runId: string,
    { event, name, digest, place, atMs }: PlacedEvent,
    writerId: string | null,
    isConflict: boolean,
    rev: number,
    writing: Writing,
  ): Promise<void> {
    let json = JSON.stringify(event)
    if (json.length > MAX_ROW_TEXT / 3 && Buffer.byteLength(json) > MAX_ROW_TEXT) {
      const { state } = await this.#bodies.put("", Buffer.from(json), "application/json", writing)
      json = spillMark(state.hash)
      this.#index.refer(state.hash, HELD.event, placeOf(runId, { event, name, place, atMs }), writing)
    }
    writing.rows.event_rows.push({
      month: monthOf(runId),
      run_id: runId,
      place,
      event_id: name,
      digest,
      rev,
      is_conflict: isConflict ? 1 : 0,
      event_type: String(event.event_type),
      step_id: typeof event.step_id === "string" ? event.step_id : null,
      writer_id: writerId,
      at: atMs,
      seen_at: writing.work.nowMs,
      mono: Number.isFinite(event.mono_us) ? event.mono_us : 0,
      json,
    })
  }
}

function compareOutside({ digests }: OutsideEvents, name: string, digest: string): "new" | "same" | "other" {
  const known = digests.get(name)
  return known === undefined ? "new" : known === digest ? "same" : "other"
}

/** Two records with one name are the same where this is. */
const recordDigest = (event: Event): string => digestOf("sha256", canonicalJson(event), "hex").slice(0, 32)
