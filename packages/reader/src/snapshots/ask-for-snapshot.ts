import { setTimeout as sleep } from "node:timers/promises"
import {
  isSnapshotRequested,
  requestSnapshot,
  type SnapshotRequest,
  withdrawSnapshotRequest,
} from "@orangebox/recorder"
import type { RunStatus } from "@orangebox/runs"
import type { TraceReader } from "@orangebox/store"
import { findRun } from "../address/find-target.js"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { readStore } from "../open/open-reading.js"

/** How a run stands that a user wants to see the inside of. */
interface Standing {
  readonly status: RunStatus
  /** Of the process that writes the run; undefined where none is known. */
  readonly writer: "running" | "exited" | "crashed" | "silent" | undefined
  /** How many snapshots were taken because a user asked. */
  readonly taken: number
}

export type SnapshotAnswer =
  | { readonly outcome: "taken" }
  /** The request stays: it will be taken when the next step ends. */
  | { readonly outcome: "waiting"; readonly reason: string }
  /** It cannot be taken any more, or no process is there to take it. */
  | { readonly outcome: "impossible"; readonly reason: string }

export interface SnapshotQuestion {
  readonly runId: string
  readonly requestedBy: SnapshotRequest["requestedBy"]
  readonly waitMs: number
  readonly signal: AbortSignal
}

/**
 * Leaves word for the process that writes the run and waits for its answer. It looks when a step ends, so an agent in the middle of a long
 * call answers late; this never waits longer than it was told.
 */
export async function askForSnapshot(
  options: ReaderOptions,
  { runId, requestedBy, waitMs, signal }: SnapshotQuestion,
): Promise<SnapshotAnswer> {
  const dataFolder = dataPath(options.data)
  const look = (): Promise<Standing> => readStore(options, ({ store }) => standingOf(store, runId))
  const before = await look()
  const impossible = (reason: string): SnapshotAnswer => {
    // Also one that was left earlier: a file that no process will look at.
    withdrawSnapshotRequest(dataFolder, runId)
    return { outcome: "impossible", reason }
  }
  const refusal = whyNot(before)
  if (refusal !== undefined) return impossible(refusal)

  requestSnapshot(dataFolder, runId, { requestedBy })
  const deadline = performance.now() + waitMs
  for (let round = 0; ; round++) {
    // The store is caught up by looking, which costs more than asking whether a file is there.
    const isSeen = !isSnapshotRequested(dataFolder, runId)
    if (isSeen || round % ROUNDS_A_LOOK === ROUNDS_A_LOOK - 1 || performance.now() >= deadline) {
      const now = await look()
      if (now.taken > before.taken) return { outcome: "taken" }
      const why = whyNot(now)
      if (why !== undefined) return impossible(why)
    }
    if (performance.now() >= deadline) {
      const reason = isSeen
        ? "the process has seen the request, and its snapshot is not in the store yet"
        : "no step has ended since; it is taken when one does"
      return { outcome: "waiting", reason }
    }
    await sleep(ROUND_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function standingOf(store: TraceReader, runId: string): Promise<Standing> {
  const { row, events } = await findRun(store, runId)
  const writer = (await store.writers()).find(({ writerId }) => writerId === row.writerId)
  const taken = events.filter((event) => event.event_type === "fault" && event.payload.trigger === "debug_request")
  return { status: row.status, writer: writer?.state, taken: taken.length }
}

const ROUND_MS = 100
const ROUNDS_A_LOOK = 10

function whyNot({ status, writer }: Standing): string | undefined {
  if (status !== "running" && status !== "silent") return `the run is over: it ${status}`
  if (writer === "running") return undefined
  if (writer === "silent") return "its process runs on another machine or in another container, and cannot be asked"
  return "its process is gone"
}
