import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { bytesBehind, journalSizes, type WatchStatus, watch } from "@orangebox/collector"
import { catchUpStore, locateData, pricesFor, standingRetention } from "@orangebox/reader"
import { openStoreReader } from "@orangebox/store"

export interface KeepingUp {
  behindBytes(): number
  /** Settles when the last pass is done. */
  readonly done: Promise<void>
}

/**
 * Collects until the signal comes, as `collect --watch` does: one process holds the store, and prunes now and then. A data folder that is
 * gone is waited for, and never made again.
 */
export function collectMeanwhile(
  dataFolder: string,
  signal: AbortSignal,
  { onStatus, onWarning }: { onStatus(status: WatchStatus): void; onWarning(message: string): void },
): KeepingUp {
  let behind = 0
  const sayOnce = onlyOnce(onWarning)
  const { policy: retention, keep } = standingRetention(dataFolder)
  const options = { dataFolder, retention, keep, prices: pricesFor(dirname(dataFolder)), signal, onStatus }
  const collect = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        locateData(dataFolder)
        await watch(options)
      } catch (error) {
        sayOnce(messageOf(error))
      }
      await pause(AT_LEAST_EVERY_MS, signal)
    }
  }
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      // A store that cannot be read is told by the answers to questions.
      behind = await bytesBehindNow(dataFolder).catch(() => behind)
      await pause(AT_LEAST_EVERY_MS, signal)
    }
  }
  return { behindBytes: () => behind, done: Promise.all([collect(), look()]).then(() => {}) }
}

async function bytesBehindNow(dataFolder: string): Promise<number> {
  const { journalFolder, storeFolder } = locateData(dataFolder)
  const store = openStoreReader(storeFolder)
  try {
    return await bytesBehind(journalSizes(journalFolder), store)
  } finally {
    await store.close()
  }
}

const LOOK_MS = 250
/** Also where no journal grows: that a process is gone is found out by looking for it. */
const AT_LEAST_EVERY_MS = 2000

/**
 * Catches the store up whenever a journal has grown, and lets go of it in between: whoever only looks must not keep `import`, `prune` or
 * `redact` out.
 */
export function catchUpMeanwhile(
  dataFolder: string,
  signal: AbortSignal,
  onWarning: (message: string) => void,
): KeepingUp {
  let behind = 0
  const sayOnce = onlyOnce(onWarning)
  const loop = async (): Promise<void> => {
    let seen = ""
    let lastAt = 0
    while (!signal.aborted) {
      try {
        const { journalFolder, path } = locateData(dataFolder)
        const now = journalSizes(journalFolder)
          .map(({ name, size }) => `${name}:${size}`)
          .join("\n")
        if (now !== seen || behind > 0 || performance.now() - lastAt > AT_LEAST_EVERY_MS) {
          behind = (await catchUpStore(path, { onWarning: sayOnce })).behindBytes
          seen = now
          lastAt = performance.now()
        }
      } catch (error) {
        sayOnce(messageOf(error))
      }
      await pause(LOOK_MS, signal)
    }
  }
  return { behindBytes: () => behind, done: loop() }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What is wrong for hours is said once. */
function onlyOnce(say: (message: string) => void): (message: string) => void {
  const said = new Set<string>()
  return (message) => {
    if (said.size < 100 && !said.has(message)) say(message)
    said.add(message)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The abort is no error here: it only ends the pause.
  await sleep(ms, undefined, { signal }).catch(() => {})
}
