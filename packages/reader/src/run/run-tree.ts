import type { Event } from "@orangebox/contract"
import type { RunReading } from "../open/run-at.js"
import { allEvents, everyRun, type LoadedRun, loadRun } from "./load-run.js"

/**
 * The events of a run and of every run that was started from inside it, in this process or in another. A run tells which ones it started
 * where it started them itself; one in another process is only known by saying who started it, so the whole trace is looked through.
 */
export async function eventsOfTree(reading: RunReading, events: readonly Event[]): Promise<readonly Event[]> {
  const [first] = events
  if (first?.run_id == null || first.trace_id === null) return events
  const candidates = new Map<string, readonly Event[]>()
  for (const runId of await runsBeside(reading, first.run_id, first.trace_id)) {
    candidates.set(runId, await allEvents(reading.reader, runId))
  }
  const tree = new Set([first.run_id])
  const found = [...events]
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false
    for (const [runId, own] of candidates) {
      const starter = starterOf(own)
      if (tree.has(runId) || starter === undefined || !tree.has(starter)) continue
      tree.add(runId)
      isGrowing = true
      for (const event of own) found.push(event)
    }
  }
  return found
}

/** The runs that were started from inside a run, each with what is known about it. */
export async function runsInside(reading: RunReading, run: LoadedRun): Promise<readonly LoadedRun[]> {
  const runIds = new Set((await eventsOfTree(reading, run.events)).map(({ run_id }) => run_id!))
  runIds.delete(run.row.runId)
  const runs = await Promise.all([...runIds].map((runId) => loadRun(reading.reader, runId)))
  return runs.filter((found) => found !== undefined)
}

async function runsBeside({ store, file }: RunReading, runId: string, traceId: string): Promise<string[]> {
  if (file) return file.header.runs.filter((other) => other !== runId)
  const runIds: string[] = []
  for await (const run of everyRun(store!, { traceId })) if (run.runId !== runId) runIds.push(run.runId)
  return runIds
}

function starterOf(events: readonly Event[]): string | undefined {
  const started = events.find(({ event_type }) => event_type === "run_started")
  return started?.links?.find(({ kind }) => kind === "spawned_by")?.run_id
}
