import type { Search, Secret } from "./find-secrets.js"
import { cutOfJson, looksLikeJson, mayBecomeJson, type OpenStrings, sparingStructure } from "./json-structure.js"
import { LEAD, LONGEST_SECRET } from "./rule.js"
import type { Ruleset } from "./ruleset.js"
import type { SearchBudget } from "./search-budget.js"
import { searchText } from "./search-text.js"
import { isSpace, isUnspaced } from "./text-edges.js"

/** A stretch of text that has been searched, with the secrets that stand in it, counted from its start. */
export interface SearchedText {
  readonly text: string
  readonly secrets: readonly Secret[]
}

/**
 * Searches a text that arrives in pieces. What `push` gives out will not be judged differently by anything that follows, and all of it
 * together is what a search of the whole text finds, wherever the pieces were cut. Held back is the word still being written, the quoted
 * value or private key that has begun and not ended, or what may be the beginning of a pattern's match. Throws what a rule throws.
 */
export class StreamSearch {
  readonly #ruleset: Ruleset
  readonly #budget: SearchBudget
  /** What went before, as much as a rule may look back, and what has not gone out yet. */
  #window = ""
  #given = 0
  #heldBytes = 0
  /** So much of the window has been searched. */
  #looked = 0
  /** Nothing in the window had a rule asked. */
  #isQuiet = true
  /** Undefined until the text has begun. */
  #isJson: boolean | undefined
  /** The strings of the JSON that are open where the window begins. */
  #open: OpenStrings = []

  constructor(ruleset: Ruleset, budget: SearchBudget) {
    this.#ruleset = ruleset
    this.#budget = budget
  }

  /** What has come and not gone out. */
  get held(): string {
    return this.#window.slice(this.#given)
  }

  get heldLength(): number {
    return this.#window.length - this.#given
  }

  /** The same in UTF-8. Counted as it comes and goes: a stream is asked for it with every piece. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  push(text: string): SearchedText {
    this.#window += text
    this.#heldBytes += Buffer.byteLength(text)
    this.#budget.earn(text.length)
    if (!this.#isWorthALook(text)) return NOTHING
    this.#looked = this.#window.length
    const { secrets, openAt, asked } = this.#search()
    return this.#giveUpTo(this.#safeEnd(secrets, Math.min(openAt, this.#startOfLastWord(asked === 0))), secrets)
  }

  /** Gives all there is, as if the text ended here. More may be pushed: what belongs to a secret that began before is masked then. */
  settle(): SearchedText {
    return this.#giveUpTo(this.#window.length, this.#search().secrets)
  }

  #search(): Pick<Search, "secrets" | "openAt" | "asked"> {
    const quiet = this.#isQuiet ? this.#searchFresh() : undefined
    if (quiet !== undefined) return quiet
    if (this.#isJson === undefined && !mayBecomeJson(this.#window)) this.#isJson = looksLikeJson(this.#window)
    const search = searchText(this.#window, this.#ruleset)
    const { secrets, openAt, asked } = search
    this.#isQuiet = isQuiet(search)
    this.#budget.spend(search.cost)
    if (this.#isJson !== true) return { secrets, openAt, asked }
    return { secrets: sparingStructure(this.#window, secrets, this.#ruleset, this.#open), openAt, asked }
  }

  /** Where nothing before had a rule asked, what is new has to have one asked before anything can be found. */
  #searchFresh(): Search | undefined {
    const from = Math.max(0, this.#given - QUIET_LEAD)
    const search = searchText(this.#window.slice(from), this.#ruleset)
    this.#budget.spend(this.#window.length - from)
    return isQuiet(search) ? { ...search, openAt: search.openAt + from } : undefined
  }

  /**
   * A word without an end gives nothing out, however often it is looked at: then it is left until it has grown by an eighth. Without this, a
   * megabyte that comes ten characters at a time and holds no space is searched a hundred thousand times. And each look asks about all of
   * the window again: a text that makes looks dear is looked at when enough of it has come to pay for the last one.
   */
  #isWorthALook(text: string): boolean {
    const fresh = this.#window.length - this.#looked
    if (this.#budget.isSpent && fresh < MOST_FRESH) return false
    return fresh >= this.heldLength / 8 || SPACE.test(text)
  }

  #safeEnd(secrets: readonly Secret[], openAt: number): number {
    let end = openAt
    for (const secret of secrets) {
      // Tokens without end, each overlapping the next, are one secret; but a stream does not wait for the end of that.
      if (this.#window.length - secret.start > LONGEST_JOINED) continue
      if (secret.start < end && end < secret.end) end = secret.start
    }
    return Math.max(end, this.#given)
  }

  /**
   * A script without spaces would be one word from beginning to end. Where no keyword stands, none of its characters can belong to a secret:
   * then each of them ends the word before it.
   */
  #startOfLastWord(hasNoKeyword: boolean): number {
    const earliest = Math.max(this.#given, this.#window.length - LONGEST_SECRET)
    let start = this.#window.length
    while (start > earliest && !this.#endsWord(start, hasNoKeyword)) start--
    return start
  }

  #endsWord(at: number, hasNoKeyword: boolean): boolean {
    const code = this.#window.charCodeAt(at - 1)
    return isSpace(code) || (hasNoKeyword && isUnspaced(code))
  }

  #giveUpTo(end: number, secrets: readonly Secret[]): SearchedText {
    const from = this.#given
    const text = this.#window.slice(from, end)
    // What has gone out is gone; of a secret that begins there the rest is masked all the same.
    const inside = secrets
      .filter((secret) => secret.end > from && secret.start < end)
      .map((secret) => this.#counted(secret.end <= end ? secret : { ...secret, end }, from))
    const { at: keepFrom, open } = this.#cutAt(Math.max(0, end - LEAD))
    this.#open = open
    this.#window = this.#window.slice(keepFrom)
    this.#heldBytes -= Buffer.byteLength(text)
    this.#given = end - keepFrom
    this.#looked = Math.max(0, this.#looked - keepFrom)
    return { text, secrets: inside }
  }

  #cutAt(place: number): { at: number; open: OpenStrings } {
    return this.#isJson ? cutOfJson(this.#window, place, this.#open) : { at: place, open: [] }
  }

  /** Of a secret whose beginning has gone out the rest is masked, with the tag of the whole. */
  #counted(secret: Secret, from: number): Secret {
    const moved = { ...secret, start: secret.start - from, end: secret.end - from }
    if (secret.start >= from) return moved
    return { ...moved, start: 0, plain: secret.plain ?? this.#window.slice(secret.start, secret.end) }
  }
}

const SPACE = /\s/
const LONGEST_JOINED = 4 * LONGEST_SECRET
/** So much pays for any look: what is searched again beside it is less. */
const MOST_FRESH = 65_536
/** The longest dress, and a line of a terminal with its escapes. */
const QUIET_LEAD = 512
const isQuiet = ({ secrets, asked, views }: Search): boolean =>
  asked === 0 && secrets.length === 0 && views.length === 0
const NOTHING: SearchedText = Object.freeze({ text: "", secrets: [] })
