import { type Observability, observabilityOf } from "@orangebox/decisions"
import type { RunReader } from "../open/run-reader.js"
import type { LoadedRun } from "../run/load-run.js"
import { type LeftOut, withBodies } from "../run/recorded-run.js"

/** Where a run's trail has holes, as far as its bodies could be looked at. */
export interface Trail extends Observability {
  readonly leftOut: LeftOut
}

export async function trailOf(reader: RunReader, run: LoadedRun): Promise<Trail> {
  const { recorded, leftOut } = await withBodies(reader, run)
  return { ...observabilityOf(recorded), leftOut }
}
