/**
 * What the looks at one stream may cost: in the end no more than so much for each character that came, whatever the text is made of and however
 * small its pieces are. A stream begins with some credit, so that an ordinary answer is looked at word by word; one that has spent it waits until
 * enough has come. Costs are those that a search counts.
 */
export class SearchBudget {
  #credit = FIRST_CREDIT

  earn(characters: number): void {
    this.#credit = Math.min(FIRST_CREDIT, this.#credit + PER_CHARACTER * characters)
  }

  spend(cost: number): void {
    this.#credit = Math.max(-MOST_DEBT, this.#credit - cost)
  }

  get isSpent(): boolean {
    return this.#credit < 0
  }
}

/** Some 30 ms. */
const FIRST_CREDIT = 3_000_000
/** So that a stream which turned harmless is looked at again before long. */
const MOST_DEBT = 1_000_000
/** A quarter of a second a megabyte, as counted. */
const PER_CHARACTER = 25
