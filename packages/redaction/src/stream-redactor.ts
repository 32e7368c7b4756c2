import { applyMasks, failedText, type RedactedText } from "./redact-text.js"
import type { Ruleset } from "./ruleset.js"
import { SearchBudget } from "./search-budget.js"
import { type SearchedText, StreamSearch } from "./stream-search.js"

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
  readonly #key: Uint8Array
  readonly #search: StreamSearch
  #offset = 0
  #hasFailed = false

  constructor(ruleset: Ruleset) {
    this.#key = ruleset.key
    this.#search = new StreamSearch(ruleset, new SearchBudget())
  }

  /** Takes the next piece; gives the text that is safe by now, with the masks in it, their offsets counted from the start of the block. */
  push(text: string): RedactedText {
    return this.#give(() => this.#search.push(text))
  }

  /** How much has come and not been given out, in characters and in bytes of UTF-8. */
  get held(): { readonly length: number; readonly bytes: number } {
    if (this.#hasFailed) return { length: 0, bytes: 0 }
    return { length: this.#search.heldLength, bytes: this.#search.heldBytes }
  }

  /** Gives the rest. */
  finish(): RedactedText {
    return this.#give(() => this.#search.settle())
  }

  #give(search: () => SearchedText): RedactedText {
    if (this.#hasFailed) return NOTHING
    try {
      const searched = search()
      const { text, masks } = applyMasks(searched.text, searched.secrets, this.#key)
      const given = { text, masks: masks.map((mask) => ({ ...mask, offset: mask.offset + this.#offset })) }
      this.#offset += text.length
      return given
    } catch (error) {
      // The rest of the block goes with it: it has not been searched.
      this.#hasFailed = true
      return failedText(error)
    }
  }
}

const NOTHING: RedactedText = Object.freeze({ text: "", masks: [] })
