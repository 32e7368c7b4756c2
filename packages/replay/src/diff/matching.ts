/** Places of two steps that stand for each other. */
export type Pair = readonly [a: number, b: number]

/** Which step of the one run stands for which of the other, by their places. Each at most once. */
export class Matching {
  readonly #ofA: Int32Array
  readonly #ofB: Int32Array
  count = 0

  constructor(lengthA: number, lengthB: number) {
    this.#ofA = new Int32Array(lengthA).fill(-1)
    this.#ofB = new Int32Array(lengthB).fill(-1)
  }

  pair(a: number, b: number): void {
    if (!this.isFreeA(a) || !this.isFreeB(b)) return
    this.#ofA[a] = b
    this.#ofB[b] = a
    this.count++
  }

  isFreeA(a: number): boolean {
    return this.#ofA[a] === -1
  }

  isFreeB(b: number): boolean {
    return this.#ofB[b] === -1
  }

  /** -1 for none. */
  ofA(a: number): number {
    return this.#ofA[a]!
  }

  ofB(b: number): number {
    return this.#ofB[b]!
  }

  /** In the order of the first run. */
  pairs(): Pair[] {
    const pairs: Pair[] = []
    for (let a = 0; a < this.#ofA.length; a++) if (!this.isFreeA(a)) pairs.push([a, this.#ofA[a]!])
    return pairs
  }

  swapped(): Matching {
    const swapped = new Matching(this.#ofB.length, this.#ofA.length)
    for (const [a, b] of this.pairs()) swapped.pair(b, a)
    return swapped
  }
}
