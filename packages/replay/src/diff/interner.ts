/** One number for every text, the same on both sides. */
export class Interner {
  readonly #numbers = new Map<string, number>()

  of(text: string): number {
    let number = this.#numbers.get(text)
    if (number === undefined) {
      number = this.#numbers.size
      this.#numbers.set(text, number)
    }
    return number
  }
}
