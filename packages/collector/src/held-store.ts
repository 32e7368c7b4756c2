import { OrangeboxError } from "@orangebox/contract"
import {
  acquireStoreLock,
  type LockAttempt,
  type LockHolder,
  type OpenedStore,
  type OpenStoreOptions,
  openStore,
} from "@orangebox/store"
import { notOpened } from "./store-failure.js"

export interface HeldStore extends OpenedStore {
  release(): Promise<void>
}

/** The store, open for writing, with its lock; or who has the lock. */
export function tryToHold(
  storeFolder: string,
  { prices }: Pick<OpenStoreOptions, "prices"> = {},
): HeldStore | { readonly heldBy: LockHolder | undefined } {
  const lock = takeLock(storeFolder)
  if (!lock.isHeld) return { heldBy: lock.holder }
  try {
    const opened = openStore(storeFolder, prices === undefined ? {} : { prices })
    return {
      ...opened,
      release: async () => {
        try {
          await opened.store.close()
        } finally {
          lock.release()
        }
      },
    }
  } catch (error) {
    lock.release()
    throw notOpened(storeFolder, error)
  }
}

function takeLock(storeFolder: string): LockAttempt {
  try {
    return acquireStoreLock(storeFolder)
  } catch (error) {
    throw notOpened(storeFolder, error)
  }
}

function holderInWords(holder: LockHolder | undefined): string {
  if (holder === undefined) return "another process"
  return `process ${holder.pid} on ${holder.host}, since ${new Date(holder.sinceMs).toISOString()}`
}

export function heldElsewhere(storeFolder: string, holder: LockHolder | undefined): OrangeboxError {
  return new OrangeboxError("COLLECTOR_RUNNING", {
    what: `a collector is at work on this store already: ${holderInWords(holder)}`,
    where: storeFolder,
    next: "Let it do the work, or stop it first",
  })
}
