import type { Event } from "@orangebox/contract"
import type { MaskType } from "@orangebox/dialects"
import { diffStoredRuns, type Lineage, type RunDiff, type StoredRun } from "@orangebox/replay"
import { isAbsent, type TraceReader } from "@orangebox/store"
import { findRun } from "../address/find-target.js"
import type { RunReading } from "../open/run-at.js"
import { damaged } from "../open/run-file.js"
import { effectsHere } from "../replay/replay-source.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"
import { runsInside } from "../run/run-tree.js"

export interface DiffOptions {
  /** What differs only in these is noise. */
  readonly masks?: readonly MaskType[]
  /** How many items are compared down to their payloads. */
  readonly payloads?: number
}

/** What two runs differ in, with the runs they started. Bodies are read as the comparison asks for them. */
export async function diffRunsAt(a: RunReading, b: RunReading, options: DiffOptions): Promise<RunDiff> {
  const [runA, runB] = [await loadWhole(a), await loadWhole(b)]
  const effects = effectsHere()
  return diffStoredRuns(await storedRun(a, runA), await storedRun(b, runB), {
    ...options,
    lineage: await lineageOf([runA, runB], a.store ?? b.store),
    effectOf: (tool) => (Object.hasOwn(effects, tool) ? effects[tool] : undefined),
  })
}

/** A run to compare. A file that is only half there would differ in what it lost, so it is refused. */
async function loadWhole({ reader, address, file }: RunReading): Promise<LoadedRun> {
  if (file && file.problems.length > 0) throw damaged(file.path, file.problems)
  return findRun(reader, address)
}

async function storedRun(reading: RunReading, run: LoadedRun): Promise<StoredRun> {
  const { reader } = reading
  const family = [run, ...(await runsInside(reading, run))]
  return {
    isWriterAlive: run.row.status === "running",
    runId: run.row.runId,
    events: family.flatMap(({ events, annotations }) => [...events, ...annotations]),
    async body(hash) {
      const reading = await reader.readBody(hash)
      return isAbsent(reading) ? { absent: reading.absent } : reading.bytes
    },
  }
}

/** Replays of replays do not go this deep; a circle in a damaged store must end somewhere. */
const MAX_GENERATIONS = 64

/** Where replays come from, over as many generations as the store knows. Only replays of replays cost anything. */
async function lineageOf(runs: readonly LoadedRun[], store: TraceReader | undefined): Promise<Lineage> {
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
