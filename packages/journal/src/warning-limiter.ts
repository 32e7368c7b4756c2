import { type ErrorStory, OrangeboxError } from "@orangebox/contract"

/** A failure that comes back within this time is the same one: no second warning, and retries stay far apart. */
const SAME_FAILURE_MS = 10_000

export type WarningKind = "disk" | "slow" | "cap"

/** Hands the caller one warning for failures of one kind that follow each other. */
export class WarningLimiter {
  readonly #lastAt = new Map<WarningKind, number>()
  readonly #onWarning: (warning: OrangeboxError) => void

  constructor(onWarning: (warning: OrangeboxError) => void) {
    this.#onWarning = onWarning
  }

  isRepeated(kind: WarningKind, now: number): boolean {
    const lastAt = this.#lastAt.get(kind)
    return lastAt !== undefined && now - lastAt < SAME_FAILURE_MS
  }

  warn(kind: WarningKind, now: number, code: string, story: ErrorStory): void {
    const isRepeated = this.isRepeated(kind, now)
    this.#lastAt.set(kind, now)
    if (isRepeated) return
    try {
      this.#onWarning(new OrangeboxError(code, story))
    } catch {
      // A warning that cannot be delivered must not become a failure of the app.
    }
  }
}
