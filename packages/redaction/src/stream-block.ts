import type { Secret } from "./find-secrets.js"
import type { Ruleset } from "./ruleset.js"
import type { SearchBudget } from "./search-budget.js"
import { StreamSearch } from "./stream-search.js"

/** A secret in a block, counted from the block's start. */
export interface BlockSecret extends Pick<Secret, "start" | "end" | "rule"> {
  readonly secret: string
  readonly plain: string
}

/** The text of one content block as far as it has come, and the secrets found in it. */
export class StreamBlock {
  readonly #search: StreamSearch
  readonly isGuess: boolean
  received = 0
  /** Up to here nothing that follows can change what was found. */
  judged = 0
  /** When its last piece came, as the owner counts. */
  touched = 0
  isFinished = false
  hasFailed = false
  #last = ""
  #secrets: BlockSecret[] = []

  constructor(ruleset: Ruleset, budget: SearchBudget, isGuess: boolean) {
    this.#search = new StreamSearch(ruleset, budget)
    this.isGuess = isGuess
  }

  push(text: string): void {
    this.received += text.length
    this.#last = text
    if (this.judged !== Number.POSITIVE_INFINITY) this.#take(() => this.#search.push(text))
  }

  /** No more will come of it. */
  finish(): void {
    if (this.isFinished) return
    this.isFinished = true
    this.settle()
  }

  /** All there is, judged as if it ended here. More may come. */
  settle(): void {
    if (this.judged < this.received) this.#take(() => this.#search.settle())
  }

  /** It cannot be known what this becomes: what is held and all that follows is masked. */
  withhold(): void {
    const held = this.#search.held
    this.#secrets.push({
      start: this.judged,
      end: Number.POSITIVE_INFINITY,
      rule: WITHHELD,
      secret: held,
      plain: held,
    })
    this.judged = Number.POSITIVE_INFINITY
  }

  /** A guess that the same long text comes with every frame, and so is no piece of another. */
  repeats(text: string): boolean {
    return this.isGuess && text.length >= SHORTEST_REPEATED && text === this.#last
  }

  /** Whether what is held is a word of ordinary text: not what a secret ends in the middle of. */
  get holdsPlainWord(): boolean {
    return this.#search.heldLength <= LONGEST_PLAIN_WORD && PLAIN_WORD.test(this.#search.held)
  }

  /** Those that reach into a stretch of the text. Stretches are asked for in order. */
  secretsIn(from: number, to: number): BlockSecret[] {
    const first = this.#secrets.findIndex(({ end }) => end > from)
    if (first > 0) this.#secrets = this.#secrets.slice(first)
    if (first < 0) this.#secrets = []
    const found: BlockSecret[] = []
    for (const secret of this.#secrets) {
      if (secret.start >= to) break
      found.push(secret)
    }
    return found
  }

  #take(search: () => ReturnType<StreamSearch["push"]>): void {
    if (this.hasFailed) return
    try {
      const { text, secrets } = search()
      for (const { start, end, rule, plain } of secrets) {
        const secret = text.slice(start, end)
        this.#secrets.push({ start: this.judged + start, end: this.judged + end, rule, secret, plain: plain ?? secret })
      }
      this.judged += text.length
    } catch {
      this.hasFailed = true
      this.judged = Number.POSITIVE_INFINITY
    }
  }
}

/** The rule that masks of what could not be followed name. */
const WITHHELD = "withheld"
const SHORTEST_REPEATED = 8
const LONGEST_PLAIN_WORD = 46
const PLAIN_WORD = /^(?:\p{Lu}?\p{Ll}{0,15}|\p{Lu}{1,5}|\p{Lo}{0,40})[.,:;!?…)\]}"'`*>-]{0,6}$/u
