/** A journal file could not be read just now. The collector goes on with the others and comes back to it. */
export class UnreadableFileError extends Error {
  readonly code: string

  constructor(path: string, cause: unknown) {
    const code = errnoOf(cause)
    super(`${path} cannot be read (${code})`, { cause })
    this.code = code
  }

  /** Nothing is wrong with the file: this process has too many others open. */
  get isOutOfDescriptors(): boolean {
    return this.code === "EMFILE" || this.code === "ENFILE"
  }
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
