import type { Problem } from "@orangebox/contract"
import type { Progress, TraceReader } from "@orangebox/store"
import { type RunVerdict, verifyRun } from "./verify-run.js"

export interface StoreVerdict {
  readonly runs: readonly RunVerdict[]
  /** What is wrong with the database, the bodies or the journals they came from, beyond any one run. */
  readonly findings: readonly Problem[]
}

/** Every run, the database's own check, every body hashed, and what journals had to be read around. */
export async function verifyStore(store: TraceReader, { onProgress }: Progress): Promise<StoreVerdict> {
  const integrity = await store.integrity({ bodies: "all", ...(onProgress ? { onProgress } : {}) })
  const journals = await store.problems()
  const runs: RunVerdict[] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await store.listRuns({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const { runId } of page.rows) {
      const verdict = await verifyRun(store, runId, { readBodies: false })
      if (verdict) runs.push(verdict)
      onProgress?.(runs.length, page.total, "runs")
    }
    cursor = page.cursor
  }
  return { runs, findings: [...integrity, ...journals].filter(({ severity }) => severity === "error") }
}

const PAGE = 200
