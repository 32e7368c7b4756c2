import { findSecrets, type Secret } from "./find-secrets.js"
import { applyMasks, failedText, type RedactedText } from "./redact-text.js"
import { LEAD, LONGEST_SECRET } from "./rule.js"
import type { Ruleset } from "./ruleset.js"
import { isSpace } from "./text-edges.js"

/**
 * Redacts a text that arrives in pieces: the decoded text of one content block. What `push` gives out never changes any more, and all of
 * it together is what `redactText` makes of the whole, wherever the pieces were cut. Held back is the word still being written, or the
 * quoted value or private key that has begun and not ended.
 *
 * ```ts
 * const redactor = new StreamRedactor(ruleset)
 * redactor.push("the key is ghp_")      // { text: "the key is ", … }
 * redactor.push("…36 characters… ok")   // { text: "ghp…redacted…x1z ", … }
 * redactor.finish()                     // { text: "ok", … }
 * ```
 */
export class StreamRedactor {
  readonly #ruleset: Ruleset
  readonly #longestSweep: number
  /** What went before, as much as a rule may look back, and what has not gone out yet. */
  #window = ""
  #given = 0
  #offset = 0
  #failed: string | undefined

  constructor(ruleset: Ruleset) {
    this.#ruleset = ruleset
    // One more than the longest match: what follows it decides whether it ends there.
    this.#longestSweep = Math.max(0, ...ruleset.sweeps.map(({ longest }) => longest + 1))
  }

  /** Takes the next piece; gives the text that is safe by now, with the masks in it, their offsets counted from the start of the block. */
  push(text: string): RedactedText {
    if (this.#failed !== undefined) return NOTHING
    this.#window += text
    return this.#give(false)
  }

  /** Gives the rest. */
  finish(): RedactedText {
    return this.#failed === undefined ? this.#give(true) : NOTHING
  }

  #give(isEnd: boolean): RedactedText {
    try {
      const { secrets, openAt } = findSecrets(this.#window, this.#ruleset)
      const end = isEnd ? this.#window.length : this.#safeEnd(secrets, openAt)
      return this.#giveUpTo(end, secrets)
    } catch (error) {
      // The rest of the block goes with it: nobody has looked at it.
      const failed = failedText(error)
      this.#failed = failed.failed
      this.#window = ""
      return failed
    }
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

  #giveUpTo(end: number, secrets: readonly Secret[]): RedactedText {
    const from = this.#given
    const inside = secrets
      .filter((secret) => secret.start >= from && secret.end <= end)
      .map((secret) => ({ ...secret, start: secret.start - from, end: secret.end - from }))
    const { text, masks } = applyMasks(this.#window.slice(from, end), inside, this.#ruleset.key)
    const given = { text, masks: masks.map((mask) => ({ ...mask, offset: mask.offset + this.#offset })) }
    this.#offset += text.length
    const keepFrom = Math.max(0, end - LEAD)
    this.#window = this.#window.slice(keepFrom)
    this.#given = end - keepFrom
    return given
  }
}

const NOTHING: RedactedText = Object.freeze({ text: "", masks: [] })
