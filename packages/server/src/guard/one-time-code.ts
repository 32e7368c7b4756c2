import { freshKey } from "./key.js"

const LIVES_MS = 60_000
const MOST = 16

/**
 * Codes that a browser swaps for the key, once and within a minute. A code travels in the fragment of a URL, which no server is sent and which
 * the page wipes; so what stays in a history is worth nothing.
 */
export class OneTimeCodes {
  readonly #until = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  issue(): string {
    for (const [code, until] of this.#until) {
      if (until > this.#now() && this.#until.size < MOST) break
      this.#until.delete(code)
    }
    const code = freshKey()
    this.#until.set(code, this.#now() + LIVES_MS)
    return code
  }

  redeem(code: string): boolean {
    const until = this.#until.get(code)
    this.#until.delete(code)
    return until !== undefined && until > this.#now()
  }
}
