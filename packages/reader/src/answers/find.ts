import { findRun } from "../address/find-target.js"
import { searchRuns } from "../run/search-runs.js"
import type { PlacedReading } from "./placed.js"

/** Pages of hits that are looked through for the steps they stand in. */
const MOST_PAGES = 50
const PAGE = 200

/** The steps of a run in which a text stands: all of them, as far as the search can tell. */
export async function answerFind({ reader, store, address, freshness }: PlacedReading, text: string): Promise<object> {
  const { runId } = (await findRun(reader, address)).row
  const steps = new Set<number>()
  let isWhole = true
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES && (page === 0 || cursor !== undefined); page++) {
    const found = await searchRuns(store!, { text, runId, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const { n, also } of found.hits)
      for (const at of [n, ...also.map((place) => place.n)]) if (at !== undefined) steps.add(at)
    isWhole = found.isTotalExact
    cursor = found.cursor
  }
  const list = [...steps].sort((a, b) => a - b)
  return {
    run_id: runId,
    total: list.length,
    steps: list,
    is_total_exact: isWhole && cursor === undefined,
    ...freshness,
  }
}
