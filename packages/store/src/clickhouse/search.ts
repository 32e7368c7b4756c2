import { OrangeboxError, payloadRefs } from "@orangebox/contract"
import { HELD } from "../codes.js"
import { eventTexts } from "../event-texts.js"
import { textDigest } from "../indexed-text.js"
import { matchTerms, passageAround, searchTerms, snippetAround, type TermMatch, trigramsOf } from "../search-terms.js"
import type { SearchHit, SearchPage, SearchPlace, SearchQuery } from "../trace-store.js"
import { usableRef } from "../usable-ref.js"
import { type Connection, listOf, quote } from "./connection.js"
import { text as textOrNull } from "./read-runs.js"
import type { StoredEvent, StoredEvents } from "./stored-events.js"

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 200
/** Texts that are read to count what matches. Beyond, a count says that it is not exact. */
const MAX_READ_TEXTS = 50_000
const MAX_TOLD_PLACES = 20
const NOTHING: SearchPage = { hits: [], total: 0, places: 0, isTotalExact: true }

/** An event that has a matching text, itself or in a body that it names. */
interface TextPlace {
  readonly runId: string
  readonly place: number
  readonly name: string
  readonly eventType: string
  readonly digest: string
  /** The body that holds the text; null where it stands in the event itself. */
  readonly hash: string | null
}

interface Passage {
  first: TextPlace
  readonly places: Map<string, TextPlace>
}

/**
 * The server's index gives the texts that have all trigrams of all terms; each is read and checked here, by the same comparison as everywhere. A hit is
 * one passage in one run, with all the places that hold it there.
 */
export async function search(connection: Connection, events: StoredEvents, query: SearchQuery): Promise<SearchPage> {
  const terms = searchTerms(query.text)
  if (terms.length === 0) return NOTHING
  const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
  const { matches, isExact } = await matchingTexts(connection, terms, query.runId)
  const places = await placesOf(connection, [...matches.keys()], query)
  const passages = new Map<string, Passage>()
  for (const place of places) {
    const found = matches.get(place.digest)!
    const name = `${place.runId}\n${passageAround(found.text, found.match)}`
    const passage = passages.get(name)
    if (passage === undefined) passages.set(name, { first: place, places: new Map([[place.name, place]]) })
    else {
      if (!passage.places.has(place.name)) passage.places.set(place.name, place)
      if (order(place, passage.first) < 0) passage.first = place
    }
  }
  const sorted = [...passages.values()].sort((one, other) => order(other.first, one.first))
  const start = before === undefined ? 0 : sorted.findIndex(({ first }) => order(first, before) < 0)
  const limit = Math.max(1, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT))
  const page = start === -1 ? [] : sorted.slice(start, start + limit)
  const last = page.at(-1)
  return {
    hits: await toHits(events, page, matches),
    total: sorted.length,
    places: sorted.reduce((sum, one) => sum + one.places.size, 0),
    isTotalExact: isExact,
    ...(last !== undefined && start + limit < sorted.length ? { cursor: cursorOf(last.first) } : {}),
  }
}

/** Newest first is the reverse of this: ids of runs begin with their time. What was said outside runs comes before all of them. */
function order(one: Omit<TextPlace, "name" | "eventType" | "hash">, other: typeof one): number {
  const [a, b] = [one.runId.startsWith("~") ? "" : one.runId, other.runId.startsWith("~") ? "" : other.runId]
  if (a !== b) return a < b ? -1 : 1
  return one.place - other.place || (one.digest < other.digest ? -1 : one.digest > other.digest ? 1 : 0)
}

const cursorOf = ({ runId, place, digest }: TextPlace): string => `${place}.${digest}.${runId}`

function readCursor(cursor: string): { runId: string; place: number; digest: string } {
  const match = /^(\d+)\.([0-9a-f]+)\.(.*)$/s.exec(cursor)
  if (match) return { place: Number(match[1]), digest: match[2]!, runId: match[3]! }
  throw new OrangeboxError("STORE_CURSOR", {
    what: "this cursor does not come from a search",
    next: "Start again without one",
  })
}

interface Match {
  readonly text: string
  readonly match: TermMatch
}

async function matchingTexts(
  connection: Connection,
  terms: readonly string[],
  runId: string | undefined,
): Promise<{ matches: Map<string, Match>; isExact: boolean }> {
  const trigrams = trigramsOf(terms)
  const conditions = terms.map((term) => `position(folded, ${quote(term)}) > 0`)
  if (trigrams.length > 0) conditions.unshift(`hasAllTokens(folded, [${listOf(trigrams)}])`)
  if (runId !== undefined)
    conditions.unshift(`digest IN (SELECT digest FROM text_runs FINAL WHERE run_id = ${quote(runId)})`)
  const rows = await connection.rows(
    `SELECT digest, any(text) AS text FROM text_rows WHERE ${conditions.join(" AND ")} GROUP BY digest LIMIT ${MAX_READ_TEXTS + 1}`,
  )
  const matches = new Map<string, Match>()
  for (const row of rows.slice(0, MAX_READ_TEXTS)) {
    const text = String(row["text"])
    const match = matchTerms(text, terms)
    if (match !== undefined) matches.set(String(row["digest"]), { text, match })
  }
  return { matches, isExact: rows.length <= MAX_READ_TEXTS }
}

const AT_ONCE = 5000

/** Where texts stand: at the events they are linked with, and at every other event of the run that names the same body. */
async function placesOf(
  connection: Connection,
  digests: readonly string[],
  { runId, kind }: SearchQuery,
): Promise<TextPlace[]> {
  const found: TextPlace[] = []
  const inRun = runId === undefined ? "1" : `run_id = ${quote(runId)}`
  for (let from = 0; from < digests.length; from += AT_ONCE) {
    const rows = await connection.rows(
      `SELECT digest, run_id, event_type, place, event_id, hash FROM text_runs FINAL WHERE digest IN (${listOf(digests.slice(from, from + AT_ONCE))}) AND ${inRun}`,
    )
    const linked = rows.map((row) => ({
      runId: String(row["run_id"]),
      place: Number(row["place"]),
      name: String(row["event_id"]),
      eventType: String(row["event_type"]),
      digest: String(row["digest"]),
      hash: textOrNull(row["hash"]),
    }))
    found.push(...linked, ...(await naming(connection, linked, inRun)))
  }
  return kind === undefined ? found : found.filter(({ eventType }) => eventType === kind)
}

async function naming(connection: Connection, linked: readonly TextPlace[], inRun: string): Promise<TextPlace[]> {
  const byBody = new Map<string, TextPlace[]>()
  for (const place of linked) {
    if (place.hash === null) continue
    const key = `${place.hash} ${place.runId}`
    byBody.set(key, [...(byBody.get(key) ?? []), place])
  }
  if (byBody.size === 0) return []
  const hashes = new Set(linked.flatMap(({ hash }) => hash ?? []))
  const refs = await connection.rows(
    `SELECT hash, run_id, event_id, event_type, place FROM ref_rows FINAL WHERE hash IN (${listOf(hashes)}) AND class != ${HELD.event} AND ${inRun}`,
  )
  return refs.flatMap((row) =>
    (byBody.get(`${String(row["hash"])} ${String(row["run_id"])}`) ?? []).map((place) => ({
      ...place,
      place: Number(row["place"]),
      name: String(row["event_id"]),
      eventType: String(row["event_type"]),
    })),
  )
}

async function toHits(
  events: StoredEvents,
  page: readonly Passage[],
  matches: ReadonlyMap<string, Match>,
): Promise<SearchHit[]> {
  const told = page.map(({ first, places }) => ({
    first,
    total: places.size,
    shown: [...places.values()].sort((one, other) => order(one, other)).slice(0, MAX_TOLD_PLACES),
  }))
  const stored = await events.named(told.flatMap(({ first, shown }) => [first, ...shown]))
  const placeAt = (place: TextPlace): SearchPlace | undefined => {
    const event = stored.get(`${place.runId}\n${place.name}`)
    return event && toPlace(event, place)
  }
  return told.flatMap(({ first, shown, total }) => {
    const place = placeAt(first)
    const { text, match } = matches.get(first.digest)!
    if (place === undefined) return []
    const places = shown.flatMap((one) => placeAt(one) ?? [])
    return [{ ...place, ...snippetAround(text, match), places, placesTotal: total }]
  })
}

function toPlace({ event, atMs }: StoredEvent, { hash, digest }: TextPlace): SearchPlace {
  return {
    runId: event.run_id,
    stepId: event.step_id,
    eventId: event.event_id,
    eventType: event.event_type,
    mode: event.determinism_mode,
    sequenceNo: event.sequence_no,
    atMs,
    field: fieldOf(event, hash, digest),
    hash,
  }
}

/** The payload field that holds a text or names the body that does. */
function fieldOf(event: StoredEvent["event"], hash: string | null, digest: string): string {
  if (hash === null) {
    return eventTexts(event).find(({ text }) => textDigest(text).toString("hex") === digest)?.field ?? ""
  }
  const named = payloadRefs(event.event_type, event.payload).filter((ref) => ref.hash === hash)
  const ref = event.artifact_refs.map(usableRef).find((one) => one?.artifact_hash === hash)
  return named.at(-1)?.field ?? ref?.artifact_type ?? "stream"
}
