import { setTimeout as sleep } from "node:timers/promises"
import type { OrangeboxError } from "@orangebox/contract"
import { acquireStoreLock, type LockAttempt } from "@orangebox/store"
import { holderWords } from "./holder-words.js"

const PATIENCE_MS = 3000
const POLL_MS = 50

/** Another command holds a lock for moments, a collector that watches for ever. */
export async function waitForLock(
  folder: string,
  isBusy: (holder: string) => OrangeboxError,
): Promise<Extract<LockAttempt, { isHeld: true }>> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const lock = acquireStoreLock(folder)
    if (lock.isHeld) return lock
    if (performance.now() >= deadline) throw isBusy(lock.holder ? holderWords(lock.holder) : "another process")
    await sleep(POLL_MS)
  }
}
