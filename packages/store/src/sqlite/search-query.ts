import { OrangeboxError, payloadRefs } from "@orangebox/contract"
import { eventTexts } from "../event-texts.js"
import { matchTerms, type Snippet, searchTerms, snippetAround } from "../search-terms.js"
import type { SearchHit, SearchPage, SearchQuery } from "../trace-store.js"
import type { ReadConnection } from "./connection.js"
import type { SqliteDatabase } from "./driver.js"
import { packHash, unpackHash } from "./keys.js"
import { runKeyOfId } from "./read-runs.js"
import { bodySegments, MAX_INDEXED_BYTES, textDigest } from "./text-index.js"
import { usableRef } from "./usable-ref.js"

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 200
/** More terms or longer ones select nothing more; the texts that are left are read anyway. */
const MAX_TRIGRAMS = 64
/** A one-letter query matches so many trigrams that a part of them must do. */
const MAX_SHORT_ENDINGS = 400
const KEPT_BODIES = 32

/**
 * Words and substrings alike: the index gives the texts that contain all trigrams of all terms, newest first; each is then read where
 * it was recorded and checked. So a hit is always a text that is there, and a pruned or redacted one is never shown.
 */
export function search(connection: ReadConnection, query: SearchQuery): SearchPage {
  const { database } = connection
  const terms = searchTerms(query.text)
  const expression = matchExpression(database, terms)
  if (expression === undefined) return { hits: [], candidates: 0 }
  const runKey = query.runId === undefined ? undefined : runKeyOfId(database, query.runId)
  if (query.runId !== undefined && runKey === undefined) return { hits: [], candidates: 0 }

  const limit = Math.max(1, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT))
  const before = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(query.cursor)
  const places = new TextPlaces(connection)
  const inRun =
    runKey === undefined ? "" : "AND EXISTS (SELECT 1 FROM text_runs WHERE text = search_index.rowid AND run = ?)"
  const runValues = runKey === undefined ? [] : [runKey]
  const candidates = Number(
    database
      .prepare(`SELECT count(*) AS total FROM search_index WHERE search_index MATCH ? ${inRun}`)
      .get(expression, ...runValues)?.["total"],
  )
  const rows = database
    .prepare(`SELECT rowid FROM search_index WHERE search_index MATCH ? AND rowid < ? ${inRun} ORDER BY rowid DESC`)
    .iterate(expression, before, ...runValues)
  const hits: SearchHit[] = []
  let last = before
  for (const row of rows) {
    const text = Number(row["rowid"])
    if (hits.length === limit) return { hits, candidates, cursor: String(last) }
    last = text
    const hit = places.find(text, terms, runKey, query.kind)
    if (hit !== undefined) hits.push(hit)
  }
  return { hits, candidates }
}

/** The terms' trigrams, each quoted, joined by AND. Shorter terms have none: for them the index's own vocabulary is asked. */
function matchExpression(database: SqliteDatabase, terms: readonly string[]): string | undefined {
  const trigrams = new Set<string>()
  const short: string[] = []
  for (const term of terms) {
    const characters = [...term]
    if (characters.length < 3) short.push(term)
    for (let at = 0; at + 3 <= characters.length; at++) trigrams.add(characters.slice(at, at + 3).join(""))
  }
  if (trigrams.size > 0) return [...trigrams].slice(0, MAX_TRIGRAMS).map(quote).join(" AND ")
  const first = short[0]
  if (first === undefined) return undefined
  const endings = database
    .prepare("SELECT term FROM search_terms WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?")
    .all(first, `${first}\u{10ffff}`, MAX_SHORT_ENDINGS)
  return endings.length === 0 ? undefined : endings.map((row) => quote(String(row["term"]))).join(" OR ")
}

function quote(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

function readCursor(cursor: string): number {
  if (/^\d+$/.test(cursor)) return Number(cursor)
  throw new OrangeboxError("STORE_CURSOR", {
    what: "this cursor does not come from a search",
    next: "Start again without one",
  })
}

/** Finds where a text stands: in an event itself, or in a body the event names. */
class TextPlaces {
  readonly #connection: ReadConnection
  readonly #bodies = new Map<string, { digest: Buffer; text: string }[]>()

  constructor(connection: ReadConnection) {
    this.#connection = connection
  }

  find(
    text: number,
    terms: readonly string[],
    runKey: number | undefined,
    kind: string | undefined,
  ): SearchHit | undefined {
    const digest = this.#connection.database.prepare("SELECT digest FROM text_rows WHERE key = ?").get(text)?.["digest"]
    if (!(digest instanceof Uint8Array)) return undefined
    const inRun = runKey === undefined ? "" : "AND run = ?"
    const places = this.#connection.database
      .prepare(`SELECT event FROM text_runs WHERE text = ? ${inRun} ORDER BY run LIMIT 8`)
      .all(text, ...(runKey === undefined ? [] : [runKey]))
    for (const place of places) {
      const hit = this.#inEvent(Number(place["event"]), digest, terms, kind)
      if (hit !== undefined) return hit
    }
    return undefined
  }

  #inEvent(key: number, digest: Uint8Array, terms: readonly string[], kind: string | undefined): SearchHit | undefined {
    const { reader } = this.#connection
    const row = reader.rowByKey(key)
    const event = row && reader.decode(row, reader.placeOfEvent(row))
    // A run that is being removed is not there any more, although some of its rows still are.
    if (event === undefined || (key >= 0 && event.run_id === null) || (kind !== undefined && event.event_type !== kind))
      return undefined
    const hit = (field: string, hash: string | null, snippet: Snippet): SearchHit => ({
      runId: event.run_id,
      stepId: event.step_id,
      eventId: event.event_id,
      eventType: event.event_type,
      mode: event.determinism_mode,
      sequenceNo: event.sequence_no,
      atMs: Number(row?.["at"]),
      field,
      hash,
      ...snippet,
    })
    for (const { field, text } of eventTexts(event)) {
      const match = matchTerms(text, terms)
      if (match !== undefined && textDigest(text).equals(digest)) return hit(field, null, snippetAround(text, match))
    }
    const named = new Map<string, string>()
    for (const { hash, field } of payloadRefs(event.event_type, event.payload)) named.set(hash, field)
    for (const given of event.artifact_refs) {
      const ref = usableRef(given)
      if (ref !== undefined && !named.has(ref.artifact_hash)) named.set(ref.artifact_hash, ref.artifact_type)
    }
    for (const hash of this.#streamsOf(key)) if (!named.has(hash)) named.set(hash, "stream")
    for (const [hash, field] of named) {
      for (const segment of this.#segmentsOf(hash)) {
        if (!segment.digest.equals(digest)) continue
        const match = matchTerms(segment.text, terms)
        return match && hit(field, hash, snippetAround(segment.text, match))
      }
    }
    return undefined
  }

  /** Bodies that an event does not name but holds: what a dead writer had received of its step's stream. */
  #streamsOf(event: number): string[] {
    return this.#connection.database
      .prepare(
        `SELECT body_rows.hash FROM stream_rows JOIN body_rows ON body_rows.key = stream_rows.body
         JOIN body_refs ON body_refs.body = body_rows.key WHERE body_refs.event = ?`,
      )
      .all(event)
      .map((row) => unpackHash(row["hash"]))
  }

  #segmentsOf(hash: string): { digest: Buffer; text: string }[] {
    const known = this.#bodies.get(hash)
    if (known !== undefined) return known
    const packed = packHash(hash)
    const row =
      packed && this.#connection.database.prepare("SELECT recipe, mime FROM body_rows WHERE hash = ?").get(packed)
    const recipe = row?.["recipe"]
    const reading =
      recipe instanceof Uint8Array ? this.#connection.storage.slice(recipe, 0, MAX_INDEXED_BYTES) : undefined
    const segments =
      reading?.bytes === undefined
        ? []
        : bodySegments(reading.bytes, row?.["mime"] == null ? null : String(row["mime"])).map((text) => ({
            digest: textDigest(text),
            text,
          }))
    if (this.#bodies.size >= KEPT_BODIES) this.#bodies.clear()
    this.#bodies.set(hash, segments)
    return segments
  }
}
