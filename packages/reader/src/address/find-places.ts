import { type Event, payloadOf, recordsIn } from "@orangebox/contract"
import type { PlacesView, PlaceView, RunView } from "@orangebox/query"
import type { Occurrence, Target, TraceReader } from "@orangebox/store"
import { loadRun } from "../run/load-run.js"

/** So many places are read at once: more than any budget shows. */
const MOST_AT_ONCE = 60
const PAGE = 1000

/** Every place of what an address stands for, with the runs they are in. */
export async function findPlaces(store: TraceReader, { kind, id }: Target, from = 0): Promise<PlacesView> {
  if (kind === "tool_call") {
    const rows = await placesOfToolCall(store, id)
    const places = await withRuns(store, rows.slice(from, from + MOST_AT_ONCE))
    return { title: `${kind} `, kind, id, from, places, total: rows.length }
  }
  const page = await store.occurrencesOf(kind, id, { from, limit: MOST_AT_ONCE })
  return { title: `${kind} `, kind, id, from, places: await withRuns(store, page.rows), total: page.total }
}

/** Where a tool call was asked for, carried out, and sent back with a prompt, which every later call of its talk does. */
async function placesOfToolCall(store: TraceReader, id: string): Promise<Occurrence[]> {
  const { rows } = await store.occurrencesOf("tool_call", id, { from: 0, limit: PAGE })
  const found = new Map(rows.map((row) => [`${row.runId} ${row.stepId}`, row]))
  for (const runId of new Set(rows.map((row) => row.runId))) {
    const run = runId === null ? undefined : (await loadRun(store, runId))?.view
    for (const { events, id: stepId, n } of run?.steps ?? []) {
      const carrying = events.filter((event) => carries(event, id))
      const [first] = carrying
      if (first === undefined || stepId === undefined || found.has(`${runId} ${stepId}`)) continue
      found.set(`${runId} ${stepId}`, {
        runId,
        stepId,
        no: n,
        eventId: first.event_id,
        eventType: first.event_type,
        events: carrying.length,
        atMs: Date.parse(first.timestamp_utc),
      })
    }
  }
  return [...found.values()].sort((a, b) => a.atMs - b.atMs || (a.no ?? 0) - (b.no ?? 0))
}

const carries = (event: Event, toolCallId: string): boolean =>
  event.event_type === "prompt_assembled" &&
  recordsIn(payloadOf(event), "segments").some((segment) => segment["tool_call_id"] === toolCallId)

/** Where a conversation is named by runs that are not among its own. */
export async function placesOutside(store: TraceReader, id: string, own: readonly RunView[]): Promise<PlacesView> {
  const ownIds = new Set<string | null | undefined>(own.map(({ runId }) => runId))
  const outside: Occurrence[] = []
  for (let from = 0, total = 1; from < total; from += PAGE) {
    const page = await store.occurrencesOf("conversation", id, { from, limit: PAGE })
    total = page.total
    for (const row of page.rows) if (!ownIds.has(row.runId)) outside.push(row)
  }
  const places = await withRuns(store, outside.slice(0, MOST_AT_ONCE))
  return { title: "named outside its runs: ", kind: "conversation", id, from: 0, places, total: outside.length }
}

async function withRuns(store: TraceReader, rows: readonly Occurrence[]): Promise<PlaceView[]> {
  const runs = new Map<string, PlaceView["run"]>()
  const places: PlaceView[] = []
  for (const row of rows) {
    const { runId } = row
    if (runId !== null && !runs.has(runId)) runs.set(runId, (await loadRun(store, runId))?.view)
    const run = runId === null ? undefined : runs.get(runId)
    places.push({ ...row, run, causedIn: await conversationsCaused(store, row, run) })
  }
  return places
}

async function conversationsCaused(
  store: TraceReader,
  { no }: Occurrence,
  run: PlaceView["run"],
): Promise<ReadonlyMap<string, string>> {
  const caused = new Map<string, string>()
  for (const { kind, run_id } of (no === null ? undefined : run?.steps[no - 1])?.links ?? []) {
    const conversation = kind === "caused" && run_id !== undefined ? (await store.getRun(run_id))?.conversationId : null
    if (conversation != null) caused.set(run_id!, conversation)
  }
  return caused
}
