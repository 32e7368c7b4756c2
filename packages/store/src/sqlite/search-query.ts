import { type Event, OrangeboxError, payloadRefs } from "@orangebox/contract"
import { HELD } from "../codes.js"
import { eventTexts } from "../event-texts.js"
import { bodySegments, MAX_INDEXED_BYTES, textDigest } from "../indexed-text.js"
import { matchTerms, passageAround, searchTerms, snippetAround, trigramsOf } from "../search-terms.js"
import type { SearchHit, SearchPage, SearchPlace, SearchQuery } from "../trace-store.js"
import { usableRef } from "../usable-ref.js"
import type { ReadConnection } from "./connection.js"
import { type Prepared, prepareAll, type SqliteDatabase, type SqliteRow, type SqliteValue } from "./driver.js"
import { PLACES, packHash, runKeyOf, unpackHash } from "./keys.js"
import { runKeyOfId } from "./read-runs.js"

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 200
/** A one-letter query matches so many trigrams that a part of them must do. */
const MAX_SHORT_ENDINGS = 400
/** Texts that are read to count what matches. Beyond, a count says that it is not exact. */
const MAX_READ_TEXTS = 50_000
const MAX_TOLD_PLACES = 20
const KEPT_BODIES = 32

/**
 * Words and substrings alike: the index gives the texts that contain all trigrams of all terms; each is then read where it was recorded and
 * checked. So a hit is always a text that is there, and a pruned or redacted one is never shown. A hit is one passage in one run, with all
 * the places that hold it there: what a request, its prompt and a snapshot of both say is said once.
 */
export function search(connection: ReadConnection, query: SearchQuery): SearchPage {
  const { database } = connection
  const terms = searchTerms(query.text)
  const expression = matchExpression(database, terms)
  const runKey = query.runId === undefined ? undefined : runKeyOfId(database, query.runId)
  if (expression === undefined || (query.runId !== undefined && runKey === undefined)) return NOTHING

  const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
  const places = new TextPlaces(connection, runKey, query.kind)
  const { passages, isExact } = findPassages(database, expression, terms, places)
  const sorted = [...passages.values()].sort((one, other) => order(other, one))
  const total = sorted.length
  const start = before === undefined ? 0 : sorted.findIndex((passage) => order(passage, before) < 0)
  const limit = Math.max(1, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT))
  const page = start === -1 ? [] : sorted.slice(start, start + limit)
  const last = page.at(-1)
  return {
    hits: page.flatMap((passage) => places.hitOf(passage, terms) ?? []),
    total,
    places: sorted.reduce((sum, { texts }) => sum + texts.size, 0),
    isTotalExact: isExact,
    ...(last !== undefined && start + limit < total ? { cursor: `${last.event}.${last.text}` } : {}),
  }
}

const NOTHING: SearchPage = { hits: [], total: 0, places: 0, isTotalExact: true }

/** Where it was first recorded in the run, and by which text. */
interface FirstPlace {
  event: number
  text: number
}

/** A passage of one run: the events that hold it, each with the text that does. */
interface Passage extends FirstPlace {
  readonly texts: Map<number, number>
}

/** Newest first is the reverse of this. What was said outside runs has negative keys, the later the lower. */
const order = (one: FirstPlace, other: FirstPlace): number => one.event - other.event || one.text - other.text

function findPassages(
  database: SqliteDatabase,
  expression: string,
  terms: readonly string[],
  places: TextPlaces,
): { passages: Map<string, Passage>; isExact: boolean } {
  const passages = new Map<string, Passage>()
  let isExact = true
  const rows = database.prepare("SELECT rowid FROM search_index WHERE search_index MATCH ? ORDER BY rowid DESC LIMIT ?")
  for (const [index, row] of rows.all(expression, MAX_READ_TEXTS + 1).entries()) {
    if (index === MAX_READ_TEXTS) isExact = false
    if (!isExact) break
    const text = Number(row["rowid"])
    const found = places.read(text)
    const match = found && matchTerms(found.text, terms)
    if (found === undefined || match === undefined) continue
    const words = passageAround(found.text, match)
    for (const { run, event } of places.eventsOf(text)) {
      const name = `${run}\n${words}`
      const passage = passages.get(name)
      if (passage === undefined) passages.set(name, { event, text, texts: new Map([[event, text]]) })
      else {
        passage.texts.set(event, text)
        if (event < passage.event) Object.assign(passage, { event, text })
      }
    }
  }
  return { passages, isExact }
}

/** The terms' trigrams, each quoted, joined by AND. Shorter terms have none: for them the index's own vocabulary is asked. */
function matchExpression(database: SqliteDatabase, terms: readonly string[]): string | undefined {
  const trigrams = trigramsOf(terms)
  if (trigrams.length > 0) return trigrams.map(quote).join(" AND ")
  const first = terms[0]
  if (first === undefined) return undefined
  const endings = database
    .prepare("SELECT term FROM search_terms WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?")
    .all(first, `${first}\u{10ffff}`, MAX_SHORT_ENDINGS)
  return endings.length === 0 ? undefined : endings.map((row) => quote(String(row["term"]))).join(" OR ")
}

function quote(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

function readCursor(cursor: string): FirstPlace {
  const match = /^(-?\d+)\.(\d+)$/.exec(cursor)
  if (match) return { event: Number(match[1]), text: Number(match[2]) }
  throw new OrangeboxError("STORE_CURSOR", {
    what: "this cursor does not come from a search",
    next: "Start again without one",
  })
}

interface ReadText {
  readonly text: string
  /** The payload field that holds the text or names the body, and the body. */
  readonly field: string
  readonly hash: string | null
}

/** Finds where texts stand: in events themselves, or in bodies that events name. */
class TextPlaces {
  readonly #connection: ReadConnection
  readonly #bodies = new Map<string, { digest: Buffer; text: string }[]>()
  readonly #run: number | undefined
  readonly #sql: Prepared<ReturnType<typeof placesSql>>
  readonly #wanted: readonly SqliteValue[]

  constructor(connection: ReadConnection, run: number | undefined, kind: string | undefined) {
    this.#connection = connection
    this.#run = run
    this.#wanted = kind === undefined ? [] : [kind]
    this.#sql = prepareAll(connection.database, placesSql(kind !== undefined))
  }

  /** A text as it stands in the first place that still has it. */
  read(text: number): ReadText | undefined {
    for (const row of this.#sql.anyPlace.all(text, this.#run ?? null, this.#run ?? null)) {
      const event = this.#eventAt(Number(row["event"]))
      const found = event && this.#inEvent(Number(row["event"]), event, this.#digestOf(text))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The events of the kind and run asked for that hold a text, themselves or by naming the body that does. */
  *eventsOf(text: number): Generator<{ run: number; event: number }> {
    const events = new Set<number>()
    const add = (rows: readonly SqliteRow[], run: number | undefined): void => {
      for (const row of rows) {
        const event = Number(row["event"])
        if (run === undefined || run === runOf(event)) events.add(event)
      }
    }
    add(this.#sql.linked.all(text, ...this.#wanted), this.#run)
    const digest = this.#digestOf(text)
    for (const row of this.#sql.sharedBodies.all(text)) {
      const run = Number(row["run"])
      if (this.#run !== undefined && this.#run !== run) continue
      const hash = unpackHash(row["hash"])
      if (this.#segmentsOf(hash).some((segment) => segment.digest.equals(digest)))
        add(this.#sql.naming.all(packHash(hash)!, ...this.#wanted), run)
    }
    for (const event of events) yield { run: runOf(event), event }
  }

  hitOf({ event: first, texts }: Passage, terms: readonly string[]): SearchHit | undefined {
    const event = this.#eventAt(first)
    const found = event && this.#inEvent(first, event, this.#digestOf(texts.get(first)!))
    const match = found && matchTerms(found.text, terms)
    if (event === undefined || found === undefined || match === undefined) return undefined
    const told = [...texts].sort(([one], [other]) => one - other).slice(0, MAX_TOLD_PLACES)
    return {
      ...this.#placeOf(first, event, found),
      ...snippetAround(found.text, match),
      places: told.flatMap(([key, text]) => {
        const at = this.#eventAt(key)
        const read = at && this.#inEvent(key, at, this.#digestOf(text))
        return at && read ? [this.#placeOf(key, at, read)] : []
      }),
      placesTotal: texts.size,
    }
  }

  #placeOf(key: number, event: Event, { field, hash }: ReadText): SearchPlace {
    return {
      runId: event.run_id,
      stepId: event.step_id,
      eventId: event.event_id,
      eventType: event.event_type,
      mode: event.determinism_mode,
      sequenceNo: event.sequence_no,
      atMs: Number(this.#connection.reader.rowByKey(key)?.["at"]),
      field,
      hash,
    }
  }

  #digestOf(text: number): Uint8Array {
    return this.#sql.digest.get(text)?.["digest"] as Uint8Array
  }

  #eventAt(key: number): Event | undefined {
    const { reader } = this.#connection
    const row = reader.rowByKey(key)
    return row && reader.decode(row, reader.placeOfEvent(row))
  }

  #inEvent(key: number, event: Event, digest: Uint8Array): ReadText | undefined {
    for (const { field, text } of eventTexts(event)) {
      if (textDigest(text).equals(digest)) return { text, field, hash: null }
    }
    const named = new Map<string, string>()
    for (const { hash, field } of payloadRefs(event.event_type, event.payload)) named.set(hash, field)
    for (const given of event.artifact_refs) {
      const ref = usableRef(given)
      if (ref !== undefined && !named.has(ref.artifact_hash)) named.set(ref.artifact_hash, ref.artifact_type)
    }
    for (const row of this.#sql.streams.all(key)) {
      const hash = unpackHash(row["hash"])
      if (!named.has(hash)) named.set(hash, "stream")
    }
    for (const [hash, field] of named) {
      for (const segment of this.#segmentsOf(hash)) {
        if (segment.digest.equals(digest)) return { text: segment.text, field, hash }
      }
    }
    return undefined
  }

  #segmentsOf(hash: string): { digest: Buffer; text: string }[] {
    const known = this.#bodies.get(hash)
    if (known !== undefined) return known
    const packed = packHash(hash)
    const row = packed && this.#sql.body.get(packed)
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

const runOf = (event: number): number => (event < 0 ? 0 : runKeyOf(event))

/** A run that is being removed is not there any more, although some of its rows still are. */
const placesSql = (isOfKind: boolean) => {
  const ofKind = isOfKind ? "AND event_rows.type = (SELECT key FROM event_types WHERE name = ?)" : ""
  const isHere = `(event_rows.key < 0 OR EXISTS (SELECT 1 FROM run_rows WHERE run_rows.key = event_rows.key / ${PLACES}))`
  return {
    digest: "SELECT digest FROM text_rows WHERE key = ?",
    anyPlace: "SELECT event FROM text_runs WHERE text = ? AND (? IS NULL OR run = ?) ORDER BY run LIMIT 8",
    linked: `SELECT event FROM text_runs JOIN event_rows ON event_rows.key = event WHERE text = ? ${ofKind} AND ${isHere}`,
    // Bodies of the events a text is linked with that other events name as well: those were not linked once more.
    sharedBodies: `SELECT DISTINCT run, hash FROM text_runs JOIN body_refs ON body_refs.event = text_runs.event JOIN body_rows ON body_rows.key = body
      WHERE text = ? AND EXISTS (SELECT 1 FROM body_refs AS others WHERE others.body = body_refs.body AND others.event <> body_refs.event)`,
    naming: `SELECT event FROM body_rows JOIN body_refs ON body = body_rows.key JOIN event_rows ON event_rows.key = event
      WHERE hash = ? AND class <> ${HELD.event} ${ofKind} AND ${isHere}`,
    body: "SELECT recipe, mime FROM body_rows WHERE hash = ?",
    // What an event does not name but holds: what a dead writer had received of its step's stream.
    streams: `SELECT body_rows.hash FROM stream_rows JOIN body_rows ON body_rows.key = stream_rows.body
      JOIN body_refs ON body_refs.body = body_rows.key WHERE body_refs.event = ?`,
  }
}
