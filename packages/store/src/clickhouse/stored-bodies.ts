import { absenceOf, UNKNOWN_BODY } from "../body-absence.js"
import { BODY } from "../codes.js"
import type { Absence, BodyInfo, BodyReading } from "../trace-store.js"
import { type Connection, listOf, quote, type ServerRow } from "./connection.js"
import { ShelfReader, type ShelvedBody } from "./shelf-reader.js"

/** A body's row. */
export interface BodyState {
  readonly hash: string
  readonly version: number
  readonly byteSize: number
  readonly mime: string | null
  readonly state: number
  readonly stateAtMs: number | null
  readonly seenAtMs: number
  readonly shelf: string
  readonly recipe: Uint8Array
}

const COLUMNS = "hash, version, byte_size, mime, state, state_at, seen_at, shelf, recipe"
const AT_ONCE = 2000

export class StoredBodies {
  readonly #connection: Connection
  readonly shelves: ShelfReader

  constructor(connection: Connection) {
    this.#connection = connection
    this.shelves = new ShelfReader(connection)
  }

  async rowsOf(hashes: Iterable<string>): Promise<Map<string, BodyState>> {
    const wanted = [...new Set(hashes)].filter(isHash)
    const found = new Map<string, BodyState>()
    for (let from = 0; from < wanted.length; from += AT_ONCE) {
      const list = listOf(wanted.slice(from, from + AT_ONCE))
      for (const row of await this.#connection.rows(`SELECT ${COLUMNS} FROM body_rows FINAL WHERE hash IN (${list})`)) {
        found.set(String(row["hash"]), stateOf(row))
      }
    }
    return found
  }

  /** All bodies that are there. */
  async *here(): AsyncGenerator<BodyState> {
    for await (const row of this.#connection.stream(
      `SELECT ${COLUMNS} FROM body_rows FINAL WHERE state = ${BODY.here}`,
    ))
      yield stateOf(row)
  }

  async info(hash: string): Promise<BodyInfo | undefined> {
    const body = (await this.rowsOf([hash])).get(hash)
    if (body === undefined) return undefined
    const references = await this.#connection.value(
      `SELECT count() FROM (SELECT DISTINCT run_id, event_id, class FROM ref_rows WHERE hash = ${quote(hash)})`,
    )
    const absent = absenceIn(body)
    return {
      hash,
      byteSize: body.byteSize,
      mime: body.mime,
      firstSeenAtMs: body.seenAtMs,
      references,
      ...(absent === undefined ? {} : { absent }),
    }
  }

  async read(hashes: readonly string[]): Promise<BodyReading[]> {
    const rows = await this.rowsOf(hashes)
    await this.shelves.prepare([...rows.values()].filter(({ state }) => state === BODY.here))
    const readings: BodyReading[] = []
    for (const hash of hashes)
      readings.push(await this.#readingOf(hash, rows.get(hash), (body) => this.shelves.read(body)))
    return readings
  }

  async slice(hash: string, from: number, to: number): Promise<BodyReading> {
    const row = (await this.rowsOf([hash])).get(hash)
    return this.#readingOf(hash, row, (body) =>
      this.shelves.slice(body, Math.max(0, from), Math.max(0, Math.min(to, row!.byteSize))),
    )
  }

  async #readingOf(
    hash: string,
    body: BodyState | undefined,
    read: (body: ShelvedBody) => ReturnType<ShelfReader["read"]>,
  ): Promise<BodyReading> {
    if (body === undefined) return { absent: "unknown", hash, reason: UNKNOWN_BODY }
    const absent = absenceIn(body)
    if (absent !== undefined) return absent
    const reading = await read(body)
    if (reading.bytes !== undefined) return { bytes: reading.bytes, byteSize: body.byteSize, mime: body.mime }
    const { code, where, reason } = reading.problem
    return { absent: "lost", hash, byteSize: body.byteSize, reason: `${code}: ${reason} (${where})` }
  }
}

const absenceIn = ({ hash, state, stateAtMs, byteSize }: BodyState): Absence | undefined =>
  absenceOf(state, { hash, byteSize, onMs: stateAtMs ?? 0 })

function stateOf(row: ServerRow): BodyState {
  return {
    hash: String(row["hash"]),
    version: Number(row["version"]),
    byteSize: Number(row["byte_size"]),
    mime: row["mime"] == null ? null : String(row["mime"]),
    state: Number(row["state"]),
    stateAtMs: row["state_at"] == null ? null : Number(row["state_at"]),
    seenAtMs: Number(row["seen_at"]),
    shelf: String(row["shelf"]),
    recipe: Buffer.from(String(row["recipe"]), "base64"),
  }
}

export function bodyRow(body: BodyState): ServerRow {
  return {
    hash: body.hash,
    version: body.version,
    byte_size: body.byteSize,
    mime: body.mime,
    state: body.state,
    state_at: body.stateAtMs,
    seen_at: body.seenAtMs,
    shelf: body.shelf,
    recipe: Buffer.from(body.recipe).toString("base64"),
  }
}

export const isHash = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text)
