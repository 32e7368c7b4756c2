import { setTimeout as sleep } from "node:timers/promises"
import type { OrangeboxError } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import {
  DEFAULT_RETENTION,
  type LockHolder,
  type OpenedStore,
  type OpenStoreOptions,
  type PruneReport,
  type RetentionPolicy,
} from "@orangebox/store"
import { Collection, type PassReport } from "./collection.js"
import { DEFAULT_KEPT_WINDOW, type KeptWindow } from "./finished-journals.js"
import { type HeldStore, tryToHold } from "./held-store.js"
import { passingFailure } from "./store-failure.js"

export interface WatchOptions {
  readonly dataFolder: string
  /** Ends the watch after one last pass: what was written before the signal is in the store when `watch` returns. */
  readonly signal: AbortSignal
  readonly intervalMs?: number
  readonly retention?: RetentionPolicy
  readonly pruneEveryMs?: number
  readonly keep?: KeptWindow
  /** What the money in roll-ups is counted by; left out, the built-in table. */
  readonly prices?: NonNullable<OpenStoreOptions["prices"]>
  readonly onStatus?: (status: WatchStatus) => void
}

/** What a watching collector says about itself, as it happens. */
export type WatchStatus =
  /** Another collector has the store; this one takes over when it goes. */
  | { readonly kind: "waiting"; readonly heldBy: LockHolder | undefined }
  /** The store is open. Where it was damaged, `setAside` says where the old database is now. */
  | { readonly kind: "opened"; readonly isFresh: boolean; readonly setAside?: NonNullable<OpenedStore["setAside"]> }
  /** A pass that brought something. */
  | { readonly kind: "collected"; readonly report: PassReport }
  /** The store could not take a batch, or could not be opened. The journals are kept and the batch is tried again. */
  | { readonly kind: "failing"; readonly failure: OrangeboxError; readonly retryInMs: number }
  | { readonly kind: "pruned"; readonly report: PruneReport }

const LONGEST_RETRY_MS = 30_000

/** Keeps the store up with the journals until the signal comes: what `collect --watch` and `serve` run. One per store. */
export async function watch(options: WatchOptions): Promise<void> {
  const { storeFolder, journalFolder } = openDataFolder(options.dataFolder)
  const { signal, intervalMs = 250, onStatus = () => {} } = options
  let retryInMs = intervalMs
  while (!signal.aborted) {
    let held: HeldStore | undefined
    try {
      held = await waitForStore(storeFolder, options)
      if (held === undefined) return
      const { isFresh, setAside } = held
      onStatus({ kind: "opened", isFresh, ...(setAside === undefined ? {} : { setAside }) })
      await watchStore(held, journalFolder, options, () => {
        retryInMs = intervalMs
      })
      return
    } catch (error) {
      const failure = passingFailure(error)
      if (failure === undefined) throw error
      onStatus({ kind: "failing", failure, retryInMs })
    } finally {
      await held?.release()
    }
    await pause(retryInMs, signal)
    retryInMs = Math.min(retryInMs * 2, LONGEST_RETRY_MS)
  }
}

async function waitForStore(storeFolder: string, options: WatchOptions): Promise<HeldStore | undefined> {
  let saidSo = false
  while (!options.signal.aborted) {
    const held = tryToHold(storeFolder, options)
    if ("store" in held) return held
    // Said once: it may take hours until the other one goes.
    if (!saidSo) options.onStatus?.({ kind: "waiting", heldBy: held.heldBy })
    saidSo = true
    await pause(options.intervalMs ?? 250, options.signal)
  }
  return undefined
}

async function watchStore(
  { store }: HeldStore,
  journalFolder: string,
  options: WatchOptions,
  onWorking: () => void,
): Promise<void> {
  const { signal, intervalMs = 250, retention = DEFAULT_RETENTION, pruneEveryMs = 3_600_000 } = options
  const { keep = DEFAULT_KEPT_WINDOW, onStatus = () => {} } = options
  const collection = await Collection.open({ store, journalFolder, keep })
  const say = (report: PassReport) => {
    if (report.commits > 0 || report.filesRemoved > 0) onStatus({ kind: "collected", report })
  }
  let pruneAt = 0
  let among = await lookAround(store, intervalMs)
  while (!signal.aborted) {
    const report = await collection.pass()
    onWorking()
    say(report)
    if (performance.now() >= among.nextAt) {
      if (among.isShared) await store.commit({ collector: { behindBytes: collection.behindBytes() } })
      among = await lookAround(store, intervalMs)
    }
    if (performance.now() >= pruneAt) {
      pruneAt = performance.now() + pruneEveryMs
      collection.sweep()
      if (among.keepsHouse) onStatus({ kind: "pruned", report: await store.prune(retention) })
    }
    if (report.isSettled || report.filesDeferred > 0) await pause(among.intervalMs, signal)
  }
  for await (const report of collection.settle()) say(report)
}

/** How a collector stands among others that write to the same store. */
interface Among {
  readonly isShared: boolean
  /** How long to wait between two passes: a cluster is killed by many small writes. */
  readonly intervalMs: number
  /** One of all collectors prunes; should two think it is theirs, that does no harm. */
  readonly keepsHouse: boolean
  readonly nextAt: number
}

const LOOK_AROUND_MS = 30_000
const SILENT_MS = 5 * 60_000
const SHARED_INTERVAL_MS = 2000
const INTERVAL_A_HOST_MS = 200

async function lookAround(store: HeldStore["store"], intervalMs: number): Promise<Among> {
  const nextAt = performance.now() + LOOK_AROUND_MS
  const hosts = await store.hosts()
  if (hosts.length === 0 && !store.isShared) return { isShared: false, intervalMs, keepsHouse: true, nextAt }
  const live = hosts.filter(({ isSelf, lastSeenAtMs }) => isSelf || Date.now() - lastSeenAtMs < SILENT_MS)
  const first = live.map(({ collectorId }) => collectorId).sort()[0]
  return {
    isShared: true,
    intervalMs: Math.max(intervalMs, SHARED_INTERVAL_MS, INTERVAL_A_HOST_MS * live.length),
    keepsHouse: first === undefined || hosts.some(({ isSelf, collectorId }) => isSelf && collectorId === first),
    nextAt,
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The abort is no error here: it only ends the pause.
  await sleep(ms, undefined, { signal }).catch(() => {})
}
