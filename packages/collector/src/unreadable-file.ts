import { OrangeboxError } from "@orangebox/contract"

/** A journal file, or the folder they are in, could not be read just now. The collector goes on with the others and comes back to it. */
export class UnreadableFileError extends OrangeboxError {
  readonly errno: string

  constructor(path: string, cause: unknown) {
    const errno = errnoOf(cause)
    super("JOURNAL_UNREADABLE", {
      what: cause instanceof OrangeboxError ? cause.what : `the journal cannot be read (${errno})`,
      where: path,
      next:
        (cause instanceof OrangeboxError ? cause.advice : undefined) ??
        "Check that you may read it; nothing of it is lost meanwhile",
      cause,
    })
    this.errno = errno
  }

  /** Nothing is wrong with the file: this process has too many others open. */
  get isOutOfDescriptors(): boolean {
    return isOutOfDescriptors(this.errno)
  }
}

export function isOutOfDescriptors(errno: string): boolean {
  return errno === "EMFILE" || errno === "ENFILE"
}

/** Runs something that only reads files, so that what goes wrong in it is known not to come from the store. */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UnreadableFileError(path, error)
  }
}

/** The errno name of a failure, or of what caused it. */
export function errnoOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string" && /^E[A-Z0-9]+$/.test(at.code)) return at.code
  }
  return "UNKNOWN"
}
