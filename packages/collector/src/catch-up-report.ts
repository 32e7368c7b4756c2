import type { OrangeboxError } from "@orangebox/contract"
import type { LockHolder, OpenedStore, OpenStoreOptions, TraceStore } from "@orangebox/store"
import type { KeptWindow } from "./finished-journals.js"
import { emptyTally, type Tally } from "./tally.js"

export interface CatchUpOptions {
  readonly dataFolder: string
  /** A store the caller has open for writing, and whose lock it holds. */
  readonly store?: TraceStore
  /** How long to wait for another collector to come as far as the journals were when this was called. Default 2000. */
  readonly waitMs?: number
  readonly keep?: KeptWindow
  /** What the money in roll-ups is counted by; left out, the built-in table. */
  readonly prices?: NonNullable<OpenStoreOptions["prices"]>
  readonly onProgress?: (done: number, total: number) => void
}

export interface CatchUpReport extends Readonly<Tally> {
  readonly filesRead: number
  readonly filesRemoved: number
  readonly filesDeferred: number
  readonly crashedRuns: readonly string[]
  /** Bytes of journal that are not in the store: what a reader's answer is behind by. */
  readonly behindBytes: number
  /** Another collector is at work on the store. */
  readonly heldBy?: LockHolder | undefined
  /** Why the store could not take everything. The journals are kept. */
  readonly failure?: OrangeboxError
  /** Journals that could not be read, and why: they are not in this answer. */
  readonly unreadable?: readonly OrangeboxError[]
  /** The database was damaged and put aside; what the journals still hold was read into a fresh one. */
  readonly setAside?: NonNullable<OpenedStore["setAside"]>
  /** The store is on a disk that cannot be written: it stays as it is. */
  readonly isReadOnly?: true
}

export const NOTHING_TO_DO: CatchUpReport = Object.freeze({
  ...emptyTally(),
  filesRead: 0,
  filesRemoved: 0,
  filesDeferred: 0,
  crashedRuns: [],
  behindBytes: 0,
})
