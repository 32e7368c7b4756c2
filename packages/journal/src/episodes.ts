import { type ErrorStory, OrangeboxError } from "@orangebox/contract"

/** Trouble that comes back within this time is the same episode: no second warning, and retries stay far apart. */
const EPISODE_MS = 10_000

export type TroubleSort = "disk" | "slow" | "cap"

/** One warning per episode: trouble that follows trouble of the same sort is the same story. */
export class Episodes {
  readonly #lastAt = new Map<TroubleSort, number>()
  readonly #onWarning: (warning: OrangeboxError) => void

  constructor(onWarning: (warning: OrangeboxError) => void) {
    this.#onWarning = onWarning
  }

  isRunning(sort: TroubleSort, now: number): boolean {
    const lastAt = this.#lastAt.get(sort)
    return lastAt !== undefined && now - lastAt < EPISODE_MS
  }

  warn(sort: TroubleSort, now: number, code: string, story: ErrorStory): void {
    const isKnown = this.isRunning(sort, now)
    this.#lastAt.set(sort, now)
    if (isKnown) return
    try {
      this.#onWarning(new OrangeboxError(code, story))
    } catch {
      // A warning that cannot be delivered must not become a failure of the app.
    }
  }
}
