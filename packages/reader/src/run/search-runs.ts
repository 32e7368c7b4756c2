import type { SearchHit, SearchPage, SearchPlace, SearchQuery, TraceReader } from "@orangebox/store"

/** A place with the number of its step, which is how people address it. */
export interface NumberedPlace<Place extends SearchPlace = SearchPlace> {
  readonly hit: Place
  readonly n: number | undefined
}

export interface NumberedHit extends NumberedPlace<SearchHit> {
  /** The other places of the run that hold the passage. */
  readonly also: readonly NumberedPlace[]
}

/** Everything recorded that holds some words, page by page. */
export async function searchRuns(
  store: TraceReader,
  query: SearchQuery,
): Promise<Omit<SearchPage, "hits"> & { readonly hits: readonly NumberedHit[] }> {
  const page = await store.search(query)
  const numbers = new Map<string, number>()
  for (const runId of new Set(page.hits.map((hit) => hit.runId))) {
    if (runId === null) continue
    for (const { stepId, no } of await store.stepsOf(runId)) numbers.set(`${runId} ${stepId}`, no)
  }
  const numbered = <Place extends SearchPlace>(hit: Place): NumberedPlace<Place> => ({
    hit,
    n: numbers.get(`${hit.runId} ${hit.stepId}`),
  })
  const hits = page.hits.map((hit) => ({
    ...numbered(hit),
    also: hit.places.filter(({ eventId }) => eventId !== hit.eventId).map(numbered),
  }))
  return { ...page, hits }
}
