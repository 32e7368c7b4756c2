import type { Objective } from "@orangebox/contract"
import { type ObjectiveReading, readObjectives } from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"

const DAY_MS = 86_400_000

/** Objectives over the daily sums of a store, up to the day of `nowMs`. */
export async function loadObjectives(
  store: TraceReader,
  objectives: readonly Objective[],
  nowMs: number,
): Promise<readonly ObjectiveReading[]> {
  const longest = Math.max(...objectives.map(({ days }) => days))
  const since = Math.floor(nowMs / DAY_MS) * DAY_MS - (longest - 1) * DAY_MS
  const sums = await store.rollups({ by: "day", since })
  return readObjectives(sums, objectives, { today: dayOf(nowMs), running: await runningByDay(store, since) })
}

async function runningByDay(store: TraceReader, since: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  let cursor: string | undefined
  do {
    const page = await store.listRuns({
      status: "running",
      since,
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { startedAtMs } of page.rows) {
      const day = dayOf(startedAtMs)
      counts.set(day, (counts.get(day) ?? 0) + 1)
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return counts
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
