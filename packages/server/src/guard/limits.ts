import { OrangeboxError } from "@orangebox/contract"

export const MOST_URL_BYTES = 8 * 1024
export const MOST_REQUESTS = 64
export const MOST_STREAMS = 16
export const MOST_MS = 30_000
/** Browsers open six to a host; what is more than this is nobody's browser. */
export const MOST_CONNECTIONS = 256

/** So many at once, and no more. */
export class Seats {
  #taken = 0
  readonly #most: number
  readonly #what: string

  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Hands out what gives the seat back. */
  take(): () => void {
    if (this.#taken >= this.#most)
      throw new OrangeboxError("BUSY", {
        what: `${this.#most} ${this.#what} are under way, and no more are taken`,
        next: "Ask again in a second",
      })
    this.#taken += 1
    let isTaken = true
    return () => {
      if (isTaken) this.#taken -= 1
      isTaken = false
    }
  }
}

/** The work, or a refusal once it has taken too long. */
export async function withinTime<T>(work: Promise<T>, ms = MOST_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const what = `the answer took more than ${ms / 1000} seconds`
      reject(new OrangeboxError("TOO_LONG", { what, next: "Ask for less of it" }))
    }, ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
