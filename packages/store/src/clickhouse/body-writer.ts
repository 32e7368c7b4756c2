import type { BatchWork } from "../batch-work.js"
import { BODY } from "../codes.js"
import { headOf } from "../indexed-text.js"
import type { RecordedBody } from "../trace-store.js"
import { BodyShelf } from "./body-shelf.js"
import type { Connection, ServerRow } from "./connection.js"
import type { LiveRun } from "./live-run.js"
import { type BodyState, bodyRow, type StoredBodies } from "./stored-bodies.js"
import type { Writing } from "./writing.js"

/** Puts bytes on this collector's shelf, and decides which bodies are new, known, or gone for good. */
export class BodyWriter {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #collectorId: string
  #shelf: BodyShelf | undefined

  constructor(connection: Connection, bodies: StoredBodies, collectorId: string) {
    this.#connection = connection
    this.#bodies = bodies
    this.#collectorId = collectorId
  }

  /** The blocks of a shelf that was being written may not have arrived. */
  reset(): void {
    this.#shelf = undefined
  }

  /** A new shelf where there is none, or with a new day; says whether it is new. */
  openShelf(nowMs: number): boolean {
    if (this.#shelf?.isFull(nowMs) === false) return false
    this.#shelf = new BodyShelf(this.#collectorId, nowMs)
    return true
  }

  get shelfName(): string {
    return this.#shelf!.name
  }

  takeBlocks(): ServerRow[] {
    return this.#shelf!.takeBlocks()
  }

  async take(body: RecordedBody, writing: Writing): Promise<void> {
    const { work } = writing
    const mime = body.mime ?? work.refTo(body.hash)?.mime_type ?? null
    const known = writing.known.get(body.hash)
    if (known?.state === BODY.here) {
      work.bodies.set(body.hash, { row: known, mime, head: headOf(body.bytes) })
      return
    }
    if ((known !== undefined && staysBuried(known, work)) || work.isOnlyOfBuriedRuns(body.hash)) {
      work.summary.buried++
      return
    }
    const { state, isNew } = await this.put(body.hash, body.bytes, mime, writing)
    if (isNew) {
      work.summary.newBodies++
      work.summary.newBodyBytes += state.byteSize
    }
    if (state.hash !== body.hash)
      work.problem("hash_mismatch", body.hash, `the bytes have the hash ${state.hash}, under which they are kept`)
    work.bodies.set(state.hash, { row: state, mime, head: headOf(body.bytes) })
  }

  async put(
    announced: string,
    bytes: Uint8Array | Iterable<Uint8Array>,
    mime: string | null,
    writing: Writing,
  ): Promise<{ state: BodyState; isNew: boolean }> {
    const stored = this.#shelf!.write(bytes)
    if (!writing.known.has(stored.hash)) {
      const found = (await this.#bodies.rowsOf([stored.hash])).get(stored.hash)
      if (found !== undefined) writing.known.set(stored.hash, found)
    }
    const known = writing.known.get(stored.hash)
    if (known?.state === BODY.here) return { state: known, isNew: false }
    const state: BodyState = {
      hash: stored.hash,
      version: (known?.version ?? 0) + 1,
      byteSize: stored.bytes,
      mime: mime ?? known?.mime ?? null,
      state: BODY.here,
      stateAtMs: null,
      seenAtMs: known?.seenAtMs ?? writing.work.nowMs,
      shelf: this.#shelf!.name,
      recipe: stored.recipe,
    }
    writing.put(state)
    return { state, isNew: known === undefined || stored.hash === announced }
  }

  /** Whoever prunes on another machine may have let go of a body that this batch found there, before the batch's references arrived. */
  async putPrunedMeanwhile(writing: Writing): Promise<void> {
    const relied = (writing.work.batch.bodies ?? []).filter(({ hash }) => writing.isReliedOn(hash))
    if (relied.length === 0) return
    const now = await this.#bodies.rowsOf(relied.map(({ hash }) => hash))
    const gone = relied.filter(({ hash }) => now.get(hash)?.state === BODY.pruned)
    if (gone.length === 0) return
    for (const { hash, bytes, mime } of gone) {
      writing.known.set(hash, now.get(hash)!)
      await this.put(hash, bytes, mime ?? null, writing)
    }
    await this.#connection.insert("block_rows", this.#shelf!.takeBlocks())
    await this.#connection.insert(
      "body_rows",
      gone.map(({ hash }) => bodyRow(writing.written.get(hash)!)),
    )
  }
}

/** A redacted body never comes back. A pruned one does when it is recorded anew, but not when an old journal is read again. */
export function staysBuried(known: BodyState, work: BatchWork<LiveRun, BodyState>): boolean {
  if (known.state === BODY.redacted) return true
  return known.state === BODY.pruned && work.newestReference(known.hash) <= (known.stateAtMs ?? 0)
}
