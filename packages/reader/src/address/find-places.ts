import type { PlacesView, PlaceView, RunView } from "@orangebox/query"
import type { Occurrence, Target, TraceReader } from "@orangebox/store"
import { loadRun } from "../run/load-run.js"

/** So many places are read at once: more than any budget shows. */
const MOST_AT_ONCE = 60
const PAGE = 1000

/** Every place of what an address stands for, with the runs they are in. */
export async function findPlaces(store: TraceReader, { kind, id }: Target, from = 0): Promise<PlacesView> {
  const page = await store.occurrencesOf(kind, id, { from, limit: MOST_AT_ONCE })
  return { title: `${kind} `, kind, id, from, places: await withRuns(store, page.rows), total: page.total }
}

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
