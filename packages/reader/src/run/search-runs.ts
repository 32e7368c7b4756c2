import type { SearchHit, SearchPage, SearchQuery, TraceReader } from "@orangebox/store"

/** A hit with the number of its step, which is how people address it. */
export interface NumberedHit {
  readonly hit: SearchHit
  readonly n: number | undefined
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
  return { ...page, hits: page.hits.map((hit) => ({ hit, n: numbers.get(`${hit.runId} ${hit.stepId}`) })) }
}
