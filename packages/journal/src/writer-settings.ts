import { randomBytes } from "node:crypto"
import type { FsyncPolicy } from "@orangebox/contract"
import { cpuWaitMs } from "./cpu-wait.js"
import type { JournalOptions } from "./journal.js"
import { type JournalFs, realFs } from "./journal-fs.js"
import { writerStem } from "./journal-name.js"
import { type ProcessIdentity, thisProcess } from "./process-identity.js"

const MIB = 1024 * 1024

/** Wall time is for people and may jump; durations and deadlines use the monotonic clock only. */
export interface Clock {
  wallMs(): number
  monoMs(): number
  /** How long this thread was ready to run and was not let, since it began. */
  cpuWaitMs(): number
}

/** What stays the same for the life of one writer: its options with their defaults, and who it is. */
export interface WriterSettings {
  readonly fs: JournalFs
  readonly clock: Clock
  readonly folder: string
  readonly writerId: string
  readonly stem: string
  readonly identity: ProcessIdentity
  readonly appId: string
  readonly recorderVersion: string
  readonly fsync: FsyncPolicy
  readonly maxFileBytes: number
  readonly maxFileAgeMs: number
  readonly maxTotalBytes: number
  readonly slowWriteMs: number
}

export function settingsOf(options: JournalOptions): WriterSettings {
  const clock = clockOf(options.now)
  const writerId = randomBytes(16).toString("hex")
  return {
    fs: options.fs ?? realFs,
    clock,
    folder: options.folder,
    writerId,
    stem: writerStem(clock.wallMs(), process.pid, writerId),
    identity: thisProcess(),
    appId: options.appId,
    recorderVersion: options.recorderVersion,
    fsync: options.fsync ?? "interval",
    maxFileBytes: options.maxFileBytes ?? 64 * MIB,
    maxFileAgeMs: options.maxFileAgeMs ?? 60 * 60 * 1000,
    maxTotalBytes: options.maxTotalBytes ?? 2048 * MIB,
    slowWriteMs: options.slowWriteMs ?? 250,
  }
}

function clockOf(now: JournalOptions["now"]): Clock {
  return now === undefined
    ? { wallMs: () => Date.now(), monoMs: () => performance.now(), cpuWaitMs }
    : { wallMs: () => now().wallMs, monoMs: () => now().monoUs / 1000, cpuWaitMs: () => 0 }
}
