import type { KnownSteps, LookUpRun } from "@orangebox/exchange"
import { openStoreReader, type TraceReader } from "@orangebox/store"

/** How far the store has a run. Asked of a fresh reader each time: what was just collected counts. */
export function lookUpIn(storeFolder: string): LookUpRun {
  return (runId) =>
    asking(storeFolder, async (store) => {
      const row = await store.getRun(runId)
      if (row === undefined) return undefined
      const { events } = await store.eventsOf(runId, { from: Math.max(0, row.events - 1), limit: 1 })
      const last = events[0]
      const isEndDeduced = last?.event_type === "run_completed" && last.inferred_by !== undefined
      return { events: row.events, lastEventId: last?.event_id ?? "", isEndDeduced }
    })
}

/** The steps the store has of a trace. */
export function stepsKnownIn(storeFolder: string): KnownSteps {
  return async (traceId) => {
    const found = await asking(storeFolder, async (store) => {
      const { rows } = await store.listRuns({ traceId, limit: 1000 })
      const steps = await Promise.all(rows.map(({ runId }) => store.stepsOf(runId)))
      return new Set(steps.flat().map(({ stepId }) => stepId))
    })
    return found ?? new Set()
  }
}

async function asking<T>(storeFolder: string, ask: (store: TraceReader) => Promise<T>): Promise<T | undefined> {
  let store: TraceReader
  try {
    store = openStoreReader(storeFolder)
  } catch {
    // There is no store yet.
    return undefined
  }
  try {
    return await ask(store)
  } finally {
    await store.close()
  }
}
