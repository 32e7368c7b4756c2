import type { Secret } from "./find-secrets.js"
import { endsInString, looksLikeJson, mayBecomeJson, sparingStructure } from "./json-structure.js"
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
  /** So much has to come before the next look is worth what the last one cost. */
  #patience = 0
  /** Undefined until the text has begun. */
  #isJson: boolean | undefined
  /** Whether the window begins inside a string of the JSON. */
  #startsInString = false

  constructor(ruleset: Ruleset) {
    this.#ruleset = ruleset
    // One more than the longest match: what follows it decides whether it ends there.
    this.#longestSweep = Math.max(0, ...ruleset.sweeps.map(({ longest }) => longest + 1))
  }

  /** What has come and not gone out. */
  get held(): string {
    return this.#window.slice(this.#given)
  }

  push(text: string): SearchedText {
    this.#window += text
    if (!this.#isWorthALook(text)) return NOTHING
    this.#looked = this.#window.length
    const { secrets, openAt } = this.#search()
    return this.#giveUpTo(this.#safeEnd(secrets, openAt), secrets)
  }

  /** Gives all there is, as if the text ended here. More may be pushed: what belongs to a secret that began before is masked then. */
  settle(): SearchedText {
    return this.#giveUpTo(this.#window.length, this.#search().secrets)
  }

  #search(): { readonly secrets: readonly Secret[]; readonly openAt: number } {
    if (this.#isJson === undefined && !mayBecomeJson(this.#window)) this.#isJson = looksLikeJson(this.#window)
    const { secrets, openAt, work } = searchText(this.#window, this.#ruleset)
    // Grows with the square: a text about passwords is looked at word by word, one that is made of nothing else is not.
    this.#patience = Math.min(LONGEST_PATIENCE, (work + 8 * secrets.length) ** 2 / 64)
    if (this.#isJson !== true) return { secrets, openAt }
    return { secrets: sparingStructure(this.#window, secrets, this.#ruleset, this.#startsInString), openAt }
  }

  /**
   * A word without an end gives nothing out, however often it is looked at: then it is left until it has grown by an eighth. Without this, a
   * megabyte that comes ten characters at a time and holds no space is searched a hundred thousand times. And a text that has a rule asked
   * at every word is left for longer: each look asks about all of the window again.
   */
  #isWorthALook(text: string): boolean {
    const held = this.#window.length - this.#given
    const fresh = this.#window.length - this.#looked
    return fresh >= this.#patience && (fresh >= held / 8 || SPACE.test(text))
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
      .map((secret) => this.#counted(secret, from))
    const keepFrom = Math.max(0, end - LEAD)
    if (this.#isJson) this.#startsInString = endsInString(this.#window.slice(0, keepFrom), this.#startsInString)
    this.#window = this.#window.slice(keepFrom)
    this.#given = end - keepFrom
    this.#looked = Math.max(0, this.#looked - keepFrom)
    return { text, secrets: inside }
  }

  /** Of a secret whose beginning has gone out the rest is masked, with the tag of the whole. */
  #counted(secret: Secret, from: number): Secret {
    const moved = { ...secret, start: secret.start - from, end: secret.end - from }
    if (secret.start >= from) return moved
    return { ...moved, start: 0, plain: secret.plain ?? this.#window.slice(secret.start, secret.end) }
  }
}

const SPACE = /\s/
const LONGEST_PATIENCE = 8192
const NOTHING: SearchedText = Object.freeze({ text: "", secrets: [] })
