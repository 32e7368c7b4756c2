import { OrangeboxError } from "@orangebox/contract"
import { errnoOf, isOutOfDescriptors } from "./unreadable-file.js"

/** The store could not take a batch. Nothing is lost: it was rolled back whole, the journals are there, and it is read again. */
const PASSING = new Set([
  ...["STORE_FULL", "STORE_BUSY", "STORE_IO", "STORE_CORRUPT", "STORE_NOT_OPENED", "STORE_STARVED"],
  // Of a cluster: it comes back, or somebody corrects what it is asked with.
  ...[
    "STORE_AWAY",
    "STORE_SLOW",
    "STORE_QUOTA",
    "STORE_DENIED",
    "STORE_TLS",
    "STORE_NO_DATABASE",
    "STORE_SERVER",
    "STORE_READ_ONLY",
  ],
])

/** The failure as a story where it is one that passes; undefined where it is a mistake of ours. */
export function passingFailure(error: unknown): OrangeboxError | undefined {
  if (error instanceof OrangeboxError) return PASSING.has(error.code) ? error : undefined
  const errno = errnoOf(error)
  if (!isOutOfDescriptors(errno)) return undefined
  return new OrangeboxError("STORE_STARVED", {
    what: `too many files are open in this process (${errno}), so the batch was not taken`,
    next: "Raise the limit on open files; the journals are kept and read again",
    cause: error,
  })
}

/** Opening the store again puts a damaged database aside; the journals that are left are then read from their beginning. */
export function isDamage(error: unknown): boolean {
  return error instanceof OrangeboxError && error.code === "STORE_CORRUPT"
}

/** What went wrong while opening the store, as a story. One that tells it already is passed on. */
export function notOpened(storeFolder: string, error: unknown): OrangeboxError {
  if (error instanceof OrangeboxError) return error
  return new OrangeboxError("STORE_NOT_OPENED", {
    what: `the store cannot be opened (${error instanceof Error ? error.message : String(error)})`,
    where: storeFolder,
    next: "The journals are kept; free some space, or check the folder",
    cause: error,
  })
}
