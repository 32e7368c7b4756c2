import type { Event } from "@orangebox/contract"
import type { Lineage } from "@orangebox/replay"
import type { TraceReader } from "@orangebox/store"
import { type LoadedRun, loadRun } from "../run/load-run.js"

/** Nobody replays a replay this often; a circle in a damaged store must end somewhere. */
const MAX_GENERATIONS = 64

/** Where replays come from, over as many generations as the store knows. Only replays of replays cost anything. */
export async function lineageOf(runs: readonly LoadedRun[], store: TraceReader | undefined): Promise<Lineage> {
  const sources = new Map<string, string>()
  const steps = new Map<string, ReadonlyMap<string, string>>()
  const note = ({ row, view, events }: LoadedRun): string | undefined => {
    if (!view.replay) return undefined
    sources.set(row.runId, view.replay.sourceRunId)
    steps.set(row.runId, sourceSteps(events))
    return view.replay.sourceRunId
  }
  for (const run of runs) {
    let next = note(run)
    for (let generation = 0; next !== undefined && generation < MAX_GENERATIONS; generation++) {
      if (sources.has(next)) break
      const ancestor: LoadedRun | undefined = store && (await loadAncestor(store, next))
      next = ancestor && note(ancestor)
    }
  }
  return {
    sourceOfRun: (runId) => sources.get(runId),
    sourceOfStep: (runId, stepId) => steps.get(runId)?.get(stepId),
  }
}

/** A run that is no replay ends the line, and its events need not be read. */
async function loadAncestor(store: TraceReader, runId: string): Promise<LoadedRun | undefined> {
  return (await store.getRun(runId))?.sourceRunId ? loadRun(store, runId) : undefined
}

function sourceSteps(events: readonly Event[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { step_id, replay } of events) {
    if (step_id !== null && replay?.source_step_id && !found.has(step_id)) found.set(step_id, replay.source_step_id)
  }
  return found
}
