import type { Secret } from "./find-secrets.js"
import { LEAD, LONGEST_SECRET } from "./rule.js"
import type { Ruleset } from "./ruleset.js"
import { searchText } from "./search-text.js"
import { isSpace } from "./text-edges.js"

/** A stretch of text that has been searched, with the secrets that stand in it, counted from its start. */
export interface SearchedText {
  readonly text: string
  readonly secrets: readonly Secret[]
}

/**
 * Searches a text that arrives in pieces. What `push` gives out will not be judged differently by anything that follows, and all of it
 * together is what a search of the whole text finds, wherever the pieces were cut. Held back is the word still being written, or the quoted
 * value or private key that has begun and not ended. Throws what a rule throws.
 */
export class StreamSearch {
  readonly #ruleset: Ruleset
  readonly #longestSweep: number
  /** What went before, as much as a rule may look back, and what has not gone out yet. */
  #window = ""
  #given = 0
  /** So much of the window has been searched. */
  #looked = 0

  constructor(ruleset: Ruleset) {
    this.#ruleset = ruleset
    // One more than the longest match: what follows it decides whether it ends there.
    this.#longestSweep = Math.max(0, ...ruleset.sweeps.map(({ longest }) => longest + 1))
  }

  push(text: string): SearchedText {
    this.#window += text
    if (!this.#isWorthALook(text)) return NOTHING
    this.#looked = this.#window.length
    const { secrets, openAt } = searchText(this.#window, this.#ruleset)
    return this.#giveUpTo(this.#safeEnd(secrets, openAt), secrets)
  }

  /** Gives the rest. */
  finish(): SearchedText {
    return this.#giveUpTo(this.#window.length, searchText(this.#window, this.#ruleset).secrets)
  }

  /**
   * A word without an end gives nothing out, however often it is looked at: then it is left until it has grown by an eighth. Without this, a
   * megabyte that comes ten characters at a time and holds no space is searched a hundred thousand times.
   */
  #isWorthALook(text: string): boolean {
    const held = this.#window.length - this.#given
    return this.#window.length - this.#looked >= held / 8 || SPACE.test(text)
  }

  #safeEnd(secrets: readonly Secret[], openAt: number): number {
    const window = this.#window
    let end = Math.min(this.#startOfLastWord(), openAt, window.length - this.#longestSweep)
    for (const secret of secrets) if (secret.start < end && end < secret.end) end = secret.start
    return Math.max(end, this.#given)
  }

  #startOfLastWord(): number {
    const earliest = Math.max(this.#given, this.#window.length - LONGEST_SECRET)
    let start = this.#window.length
    while (start > earliest && !isSpace(this.#window.charCodeAt(start - 1))) start--
    return start
  }

  #giveUpTo(end: number, secrets: readonly Secret[]): SearchedText {
    const from = this.#given
    const text = this.#window.slice(from, end)
    // What has gone out is gone; of a secret that begins there the rest is masked all the same.
    const inside = secrets
      .filter((secret) => secret.end > from && secret.end <= end)
      .map((secret) => ({ ...secret, start: Math.max(0, secret.start - from), end: secret.end - from }))
    const keepFrom = Math.max(0, end - LEAD)
    this.#window = this.#window.slice(keepFrom)
    this.#given = end - keepFrom
    this.#looked = Math.max(0, this.#looked - keepFrom)
    return { text, secrets: inside }
  }
}

const SPACE = /\s/
const NOTHING: SearchedText = Object.freeze({ text: "", secrets: [] })
