import type { BackupManifest } from "@orangebox/contract"
import type { TraceReader } from "@orangebox/store"
import { everyRun, loadRun } from "../run/load-run.js"

/** Every run of a store with the digest of its events, in the order of their ids. One run is held at a time. */
export async function runsOf(store: TraceReader): Promise<BackupManifest["runs"]> {
  const runs: BackupManifest["runs"][number][] = []
  for await (const { runId } of everyRun(store, {})) {
    const run = await loadRun(store, runId)
    if (run) runs.push({ run_id: runId, status: run.row.status, digest: run.row.lacksEvents ? null : run.digest })
  }
  return runs.sort((one, other) => (one.run_id < other.run_id ? -1 : 1))
}
