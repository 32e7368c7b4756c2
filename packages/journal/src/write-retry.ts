import { failureCode } from "./journal-fs.js"
import type { WarningLimiter } from "./warning-limiter.js"

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2000

/** Retries while the disk does not take writes: ever more rarely, on a timer where the application appends nothing. */
export class WriteRetry {
  readonly #warnings: WarningLimiter
  readonly #retry: () => void
  #current: { readonly failure: string; readonly delayMs: number; readonly retryAt: number } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(warnings: WarningLimiter, retry: () => void) {
    this.#warnings = warnings
    this.#retry = retry
  }

  /** The errno name of the latest failure, null when all is well. */
  get failure(): string | null {
    return this.#current?.failure ?? null
  }

  /** The last write failed, and it is too early to try again. */
  isWaiting(now: number): boolean {
    return this.#current !== undefined && now < this.#current.retryAt
  }

  begin(error: unknown, now: number, where: string): void {
    const failure = failureCode(error)
    const isRepeated = this.#warnings.isRepeated("disk", now)
    this.#warnings.warn("disk", now, "JOURNAL_WRITE", {
      what: `records are being dropped: the journal cannot be written (${failure})`,
      where,
      next: "The app goes on without them; recording resumes by itself once the disk takes writes again",
      cause: error,
    })
    const delayMs = isRepeated
      ? Math.min((this.#current?.delayMs ?? FIRST_RETRY_MS) * 2, LAST_RETRY_MS)
      : FIRST_RETRY_MS
    this.#current = { failure, delayMs, retryAt: now + delayMs }
    this.stopRetrying()
    this.#timer = setTimeout(this.#retry, delayMs).unref()
  }

  end(): void {
    this.#current = undefined
    this.stopRetrying()
  }

  stopRetrying(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
