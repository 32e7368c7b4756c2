import type { Episodes } from "./episodes.js"
import { failureCode } from "./journal-fs.js"

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2000

/** A disk that does not take writes: one warning, and attempts that come ever more rarely, by themselves if nobody appends. */
export class Trouble {
  readonly #episodes: Episodes
  readonly #retry: () => void
  #current: { readonly failure: string; readonly delayMs: number; readonly retryAt: number } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(episodes: Episodes, retry: () => void) {
    this.#episodes = episodes
    this.#retry = retry
  }

  /** The errno name of the latest failure, null when all is well. */
  get failure(): string | null {
    return this.#current?.failure ?? null
  }

  /** In trouble, and too early to try again. */
  isWaiting(now: number): boolean {
    return this.#current !== undefined && now < this.#current.retryAt
  }

  enter(error: unknown, now: number, where: string): void {
    const failure = failureCode(error)
    const isSameEpisode = this.#episodes.isRunning("disk", now)
    this.#episodes.warn("disk", now, "JOURNAL_WRITE", {
      what: `records are being dropped: the journal cannot be written (${failure})`,
      where,
      next: "The app goes on without them; recording resumes by itself once the disk takes writes again",
      cause: error,
    })
    const delayMs = isSameEpisode
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
