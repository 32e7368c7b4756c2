import { BODY } from "../codes.js"
import type { BodyStorage } from "./body-storage.js"
import { type Prepared, prepareAll, type SqliteDatabase } from "./driver.js"
import { packHash, packHashInto } from "./keys.js"

export interface BodyRow {
  readonly key: number
  readonly state: number
  readonly stateAtMs: number
}

const MAX_KNOWN_BODIES = 16_384

const SQL = {
  find: "SELECT key, state, state_at FROM body_rows WHERE hash = ?",
  add: "INSERT INTO body_rows (hash, byte_size, mime, state, seen_at, state_at, recipe) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  fill: "UPDATE body_rows SET byte_size = ?, mime = coalesce(?, mime), state = 0, state_at = NULL, recipe = ? WHERE key = ?",
  refer: "INSERT INTO body_refs (body, event, class) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  refersWithin: "SELECT 1 FROM body_refs WHERE body = ? AND event BETWEEN ? AND ? LIMIT 1",
}

/** Rows of bodies while they are written. */
export class BodyTable {
  readonly #known = new Map<string, BodyRow>()
  readonly #hashBytes = new Uint8Array(32)
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
  }

  find(hash: string): BodyRow | undefined {
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    const packed = packHashInto(this.#hashBytes, hash)
    return packed && this.#findPacked(hash, packed)
  }

  /** The row for a hash that an event names, made now if the bytes have not come yet. Undefined when it is no hash. */
  expect(hash: string, byteSize: number, mime: string | null, nowMs: number): BodyRow | undefined {
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    const packed = packHashInto(this.#hashBytes, hash)
    if (packed === undefined) return undefined
    const added = this.#sql.add.run(packed, byteSize, mime, BODY.awaited, nowMs, nowMs, null)
    if (Number(added.changes) === 0) return this.#findPacked(hash, packed)
    return this.#remember(hash, Number(added.lastInsertRowid), BODY.awaited, nowMs)
  }

  /** Stores bytes under the hash they have, which is returned; it differs from `announced` when the sender was wrong. */
  put(
    storage: BodyStorage,
    announced: string,
    given: Uint8Array | Iterable<Uint8Array>,
    mime: string | null,
    nowMs: number,
  ): BodyWritten {
    const { hash, bytes, recipe } = storage.write(given)
    const found = this.find(hash)
    if (found !== undefined && found.state === BODY.here) return { hash, row: found, byteSize: bytes, isNew: false }
    if (found !== undefined) {
      this.#sql.fill.run(bytes, mime, recipe, found.key)
      return { hash, row: this.#remember(hash, found.key, BODY.here, 0), byteSize: bytes, isNew: hash === announced }
    }
    const { lastInsertRowid } = this.#sql.add.run(packHash(hash)!, bytes, mime, BODY.here, nowMs, null, recipe)
    return { hash, row: this.#remember(hash, Number(lastInsertRowid), BODY.here, 0), byteSize: bytes, isNew: true }
  }

  refer(body: number, event: number, heldAs: number): void {
    this.#sql.refer.run(body, event, heldAs)
  }

  isReferredWithin(body: number, firstEvent: number, lastEvent: number): boolean {
    return this.#sql.refersWithin.get(body, firstEvent, lastEvent) !== undefined
  }

  reset(): void {
    this.#known.clear()
  }

  #findPacked(hash: string, packed: Uint8Array): BodyRow | undefined {
    const row = this.#sql.find.get(packed)
    return row && this.#remember(hash, Number(row["key"]), Number(row["state"]), Number(row["state_at"] ?? 0))
  }

  #remember(hash: string, key: number, state: number, stateAtMs: number): BodyRow {
    const row = { key, state, stateAtMs }
    if (this.#known.size >= MAX_KNOWN_BODIES) this.#known.clear()
    this.#known.set(hash, row)
    return row
  }
}

export interface BodyWritten {
  readonly hash: string
  readonly row: BodyRow
  readonly byteSize: number
  readonly isNew: boolean
}
