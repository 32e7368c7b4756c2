import { BODY, HELD } from "../codes.js"
import { eventIds } from "../event-ids.js"
import { eventTexts } from "../event-texts.js"
import { bodySegments, MAX_INDEXED_BYTES, textDigest } from "../indexed-text.js"
import { fold } from "../search-terms.js"
import type { ServerRow } from "./connection.js"
import { firstStays } from "./facts.js"
import type { KnownRuns } from "./known-runs.js"
import type { LiveRun, PlacedEvent } from "./live-run.js"
import { namedBodies } from "./named-bodies.js"
import type { BodyState, StoredBodies } from "./stored-bodies.js"
import type { Writing } from "./writing.js"

const MOST_KNOWN_TEXTS = 65_536

/** The rows that lead to an event: by its ids, by the bodies it holds, and by its text. */
export class EventIndex {
  readonly #bodies: StoredBodies
  readonly #runs: KnownRuns
  readonly #knownTexts = new Set<string>()

  constructor(bodies: StoredBodies, runs: KnownRuns) {
    this.#bodies = bodies
    this.#runs = runs
  }

  /** Texts are then written again when they come again. */
  forgetTexts(): void {
    this.#knownTexts.clear()
  }

  /** Ids that lead to the event, the bodies it holds, and its text. */
  async derive(runId: string, run: LiveRun | undefined, placed: PlacedEvent, writing: Writing): Promise<void> {
    const { event, name } = placed
    const place = placeOf(runId, placed)
    writing.rows.id_rows.push(idRow(name, "event", place))
    if (run !== undefined && event.step_id !== null && run.isFirstOf(event.step_id))
      writing.rows.id_rows.push(idRow(String(event.step_id), "step", place))
    for (const { id, kind } of eventIds(event)) writing.rows.id_rows.push(idRow(id, kind, place))
    for (const { hash, byteSize, mime, heldAs: held } of namedBodies(event)) {
      const body = writing.expect(hash, byteSize, mime)
      const referred = run === undefined ? undefined : this.#runs.referredBy(runId)
      const isIndexed = body.state !== BODY.here || referred?.has(hash) === true
      referred?.add(hash)
      this.refer(hash, held, place, writing)
      if (isIndexed) continue
      for (const text of await this.#segmentsOf(body, writing)) this.addText(text, run, held, place, hash, writing)
    }
    for (const { text } of eventTexts(event)) this.addText(text, run, HELD.event, place, null, writing)
  }

  refer(hash: string, held: number, place: EventPlace, writing: Writing): void {
    const { run_id, event_id, step_id, event_type, place: at_place, at } = place
    writing.rows.ref_rows.push({ hash, run_id, event_id, class: held, event_type, step_id, place: at_place, at })
  }

  async #segmentsOf(body: BodyState, writing: Writing): Promise<string[]> {
    const inBatch = writing.work.bodies.get(body.hash)
    if (inBatch !== undefined) return bodySegments(inBatch.head, inBatch.mime)
    const { bytes } = await this.#bodies.shelves.slice(body, 0, MAX_INDEXED_BYTES)
    return bytes === undefined ? [] : bodySegments(bytes, body.mime)
  }

  /** Makes a text findable in a run: at the first event of each type that has it, for each reason it is held. */
  addText(
    text: string,
    run: LiveRun | undefined,
    held: number,
    place: EventPlace,
    hash: string | null,
    writing: Writing,
  ): void {
    const digest = textDigest(text).toString("hex")
    const link = `${digest} ${held} ${place.event_type}`
    if (run?.linkedTexts.has(link)) return
    run?.linkedTexts.add(link)
    if (!this.#knownTexts.has(digest)) {
      if (this.#knownTexts.size >= MOST_KNOWN_TEXTS) this.#knownTexts.clear()
      this.#knownTexts.add(digest)
      writing.rows.text_rows.push({ digest, at: writing.work.nowMs, text, folded: fold(text) })
    }
    writing.rows.text_runs.push({
      digest,
      run_id: place.run_id,
      class: held,
      event_type: place.event_type,
      rank: firstStays(place.place),
      place: place.place,
      event_id: place.event_id,
      hash,
    })
  }
}

/** Where an event stands, as rows that lead to it say it. */
export interface EventPlace {
  readonly run_id: string
  readonly event_id: string
  readonly step_id: string | null
  readonly event_type: string
  readonly place: number
  readonly at: number
}

export function placeOf(runId: string, { event, name, place, atMs }: Omit<PlacedEvent, "digest">): EventPlace {
  return {
    run_id: runId,
    event_id: name,
    step_id: typeof event.step_id === "string" ? event.step_id : null,
    event_type: String(event.event_type),
    place,
    at: atMs,
  }
}

const idRow = (id: string, kind: string, place: EventPlace): ServerRow => ({ id, kind, ...place })
