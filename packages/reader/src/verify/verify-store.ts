import type { CatchUpReport } from "@orangebox/collector"
import type { Problem } from "@orangebox/contract"
import type { Progress, TraceReader } from "@orangebox/store"
import { everyRun, loadRun } from "../run/load-run.js"
import { type RunVerdict, verifyRun } from "./verify-run.js"

export interface StoreVerdict {
  readonly runs: readonly RunVerdict[]
  /** What is wrong with the database, the bodies or the journals they came from, beyond any one run. */
  readonly findings: readonly Problem[]
  /** How many bodies the store holds, all of them read; absent when only one run was asked about. */
  readonly bodiesHashed?: number
}

/** Every run and its trail, the database's own check, every body hashed, and what journals had to be read around. One run is held at a time. */
export async function verifyStore(
  store: TraceReader,
  { setAside }: Pick<CatchUpReport, "setAside">,
  { onProgress }: Progress,
): Promise<StoreVerdict> {
  const integrity = await store.integrity({ bodies: "all", ...(onProgress ? { onProgress } : {}) })
  const journals = await store.problems()
  const runs: RunVerdict[] = []
  for await (const { runId, total } of everyRun(store, {})) {
    const run = await loadRun(store, runId)
    // Its bodies are hashed with all the others above.
    if (run) runs.push(await verifyRun(store, run, { readBodies: false }))
    onProgress?.(runs.length, total, "runs")
  }
  const told = new Set(runs.flatMap(({ findings, declared }) => [...findings, ...declared]).map(identityOf))
  // What a journal's reader had against an event is found again in the event itself.
  const untold = journals.filter((problem) => !told.has(identityOf(problem)))
  const problems = [...(setAside ? [damage(setAside)] : []), ...integrity, ...untold]
  const { bodies } = await store.status()
  return { runs, findings: problems.filter(({ severity }) => severity === "error"), bodiesHashed: bodies }
}

const identityOf = ({ code, subject, field, reason }: Problem): string => [code, subject, field, reason].join("\0")

/** Catching up has mended the store before we could look at it; that it had to is a finding all the same. */
function damage({ path, reason }: NonNullable<CatchUpReport["setAside"]>): Problem {
  return {
    code: "database_damaged",
    severity: "error",
    subject: "trace.db",
    field: "",
    reason: `${reason}; the damaged database is now ${path}, and what the journals still hold was read into a new one`,
  }
}
