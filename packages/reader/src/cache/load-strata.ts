import { type Strata, strataJson } from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"
import { bytesIn } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"
import { auditRun } from "./load-cache-audit.js"

/** What the model saw in one lane of a run, call by call, with what broke its prefix. */
export async function loadStrata(
  reader: RunReader,
  store: TraceReader | undefined,
  run: LoadedRun,
  lane: string | undefined,
): Promise<Strata> {
  const { calls } = await auditRun(bytesIn(reader), store, run.view)
  return strataJson(run.view, calls, lane === undefined ? {} : { lane })
}
