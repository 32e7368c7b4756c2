import { type Explanation, explain, type Ruleset } from "@orangebox/redaction"
import { byteLengthOf } from "./byte-text.js"

/** A place in the input that would be masked. */
export interface FoundSecret extends Omit<Explanation, "start" | "end"> {
  /** From 0, in the input as it came. */
  readonly byteOffset: number
  readonly byteLength: number
}

/**
 * Explains a text of any length with a window over it. Every rule promises to look at most 2,048 characters back and to find at most
 * 16,384, and to depend on nothing behind the word it found; so with more than that on both sides, what is found in the window is what
 * is found in the whole.
 */
export class StreamExplainer {
  readonly #ruleset: Ruleset
  #window = ""
  /** Up to here in the window everything has been told. */
  #told = 0
  #line = 1
  #column = 1
  #bytes = 0

  constructor(ruleset: Ruleset) {
    this.#ruleset = ruleset
  }

  push(text: string): FoundSecret[] {
    this.#window += text
    return this.#window.length - this.#told < STRIDE + AHEAD ? [] : this.#tell(this.#window.length - AHEAD)
  }

  finish(): FoundSecret[] {
    return this.#tell(this.#window.length)
  }

  #tell(until: number): FoundSecret[] {
    const secrets = explain(this.#window, this.#ruleset).filter(({ start }) => start >= this.#told)
    // Never inside a secret: what is explained is explained whole.
    const cut = secrets.find(({ start, end }) => start < until && until < end)
    const end = cut === undefined ? until : cut.start
    const found = secrets
      .filter((secret) => secret.start < end)
      .map((secret): FoundSecret => {
        const { start, end, ...explanation } = secret
        this.#advance(start)
        const [line, column, byteOffset] = [this.#line, this.#column, this.#bytes]
        this.#advance(end)
        return { ...explanation, line, column, byteOffset, byteLength: this.#bytes - byteOffset }
      })
    this.#advance(end)
    const keepFrom = Math.max(0, end - BEHIND)
    this.#window = this.#window.slice(keepFrom)
    this.#told = end - keepFrom
    return found
  }

  /** Counts the text up to a place in the window. */
  #advance(to: number): void {
    const text = this.#window.slice(this.#told, to)
    const lastBreak = text.lastIndexOf("\n")
    if (lastBreak === -1) this.#column += text.length
    else {
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#line++
      this.#column = text.length - lastBreak
    }
    this.#bytes += byteLengthOf(text)
    this.#told = to
  }
}

const LONGEST_SECRET = 16_384
const LEAD = 2_048
const STRIDE = 131_072
const AHEAD = 2 * LONGEST_SECRET
const BEHIND = LEAD + LONGEST_SECRET
