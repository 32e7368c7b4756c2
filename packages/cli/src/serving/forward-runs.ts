import { createHash } from "node:crypto"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { OtlpTarget } from "@orangebox/exchange"
import { type DataFolder, readPrivateFile, replacePrivateFile } from "@orangebox/journal"
import { findTarget, readRunsAt, runOf } from "@orangebox/reader"
import { openStoreReader } from "@orangebox/store"
import { sendWhole } from "../export/send-otlp.js"

const LOOK_EVERY_MS = 2000
const AFTER_FAILURE_MS = 30_000
const MOST_REMEMBERED = 10_000

/**
 * Sends every run that ends from now on to an OTLP receiver, and those that ended while nobody sent: what was sent is remembered in the data
 * folder, per target. A target that is away is tried again; nothing is given up.
 */
export async function forwardRuns(
  folder: DataFolder,
  target: OtlpTarget,
  {
    hasContent,
    signal,
    onWarning,
  }: { readonly hasContent: boolean; readonly signal: AbortSignal; readonly onWarning: (message: string) => void },
): Promise<void> {
  const path = join(folder.path, `otlp-sent-${createHash("sha256").update(target.url).digest("hex").slice(0, 16)}`)
  const sent = readSent(path)
  const save = (): void =>
    replacePrivateFile(path, JSON.stringify({ ...sent, runs: [...sent.runs].slice(-MOST_REMEMBERED) }))
  while (!signal.aborted) {
    let waitMs = LOOK_EVERY_MS
    try {
      for (const runId of await endedRuns(folder.storeFolder, sent)) {
        await readRunsAt({ data: folder.path }, [runId], async (reading) => {
          const run = await runOf(reading!.reader, await findTarget(reading!.reader, reading!.address))
          const { rejected, messages } = await sendWhole(reading!, run, target, hasContent, () => {})
          if (rejected > 0) onWarning(`${target.url} did not accept ${rejected} of ${runId}: ${messages.join("; ")}`)
        })
        sent.runs.add(runId)
        save()
      }
    } catch (error) {
      onWarning(`not sent, and tried again: ${error instanceof Error ? error.message : String(error)}`)
      waitMs = AFTER_FAILURE_MS
    }
    await sleep(waitMs, undefined, { signal }).catch(() => {})
  }
}

interface Sent {
  /** Runs that ended before nobody asked to send. */
  readonly sinceMs: number
  readonly runs: Set<string>
}

function readSent(path: string): Sent {
  try {
    const { sinceMs, runs } = JSON.parse(readPrivateFile(path, 1024 * 1024).toString("utf8")) as {
      sinceMs: number
      runs: string[]
    }
    return { sinceMs, runs: new Set(runs) }
  } catch {
    return { sinceMs: Date.now(), runs: new Set() }
  }
}

/** Oldest first, sub-agents' runs aside: they go along with the run that started them. */
async function endedRuns(storeFolder: string, { sinceMs, runs }: Sent): Promise<string[]> {
  const store = openStoreReader(storeFolder)
  try {
    const { rows } = await store.listRuns({ limit: 200, isFirstOfTrace: true })
    return rows
      .filter(
        ({ runId, endedAtMs, status }) =>
          endedAtMs !== null &&
          (status === "completed" || status === "failed") &&
          endedAtMs >= sinceMs &&
          !runs.has(runId),
      )
      .map(({ runId }) => runId)
      .reverse()
  } finally {
    await store.close()
  }
}
