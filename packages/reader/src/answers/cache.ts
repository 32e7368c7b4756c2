import { randomBytes } from "node:crypto"
import { cacheJson, cacheText } from "@orangebox/query"
import { findTarget, runOf } from "../address/find-target.js"
import { loadCacheAudit } from "../cache/load-cache-audit.js"
import type { Answer, Shown } from "./answer.js"
import type { PlacedReading } from "./placed.js"

/** What the provider's cache served of each prompt of a run, or of one call, and what broke it. */
export async function answerCache(reading: PlacedReading, looks: Shown): Promise<Answer> {
  const { reader, store, freshness } = reading
  const target = await findTarget(reader, reading.address)
  const run = await runOf(reader, target)
  const n = run.view.steps.find(({ id }) => id === target.stepId)?.n
  const audit = await loadCacheAudit(reader, store, run, { n })
  const { runId } = run.row
  const shown = { ...looks, runId, address: reading.place(runId), nonce: randomBytes(2).toString("hex") }
  return {
    text: () => cacheText(audit, shown),
    json: () => ({ run_id: runId, ...cacheJson(audit, shown), ...freshness }),
  }
}
