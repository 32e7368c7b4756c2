/**
 * A longest common subsequence by Myers' greedy walk: the time is that of the differences, not of the lengths.
 * Undefined when there are more than `maxEdits` of them.
 */
export function commonSubsequence(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  maxEdits: number,
): readonly (readonly [number, number])[] | undefined {
  const most = Math.min(a.length + b.length, maxEdits)
  const offset = most + 1
  const furthest = new Int32Array(2 * most + 3)
  const trail: Int32Array[] = []
  for (let edits = 0; edits <= most; edits++) {
    trail.push(furthest.slice(offset - edits - 1, offset + edits + 2))
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && furthest[offset + k - 1]! < furthest[offset + k + 1]!)
      let x = isDown ? furthest[offset + k + 1]! : furthest[offset + k - 1]! + 1
      let y = x - k
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++
        y++
      }
      furthest[offset + k] = x
      if (x >= a.length && y >= b.length) return walkBack(trail, a.length, b.length)
    }
  }
  return undefined
}

function walkBack(trail: readonly Int32Array[], lengthA: number, lengthB: number): [number, number][] {
  const pairs: [number, number][] = []
  let x = lengthA
  let y = lengthB
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const before = trail[edits]!
    const at = (k: number): number => before[k + edits + 1]!
    const k = x - y
    const previousK = k === -edits || (k !== edits && at(k - 1) < at(k + 1)) ? k + 1 : k - 1
    const previousX = at(previousK)
    const previousY = previousX - previousK
    while (x > previousX && y > previousY) pairs.push([--x, --y])
    x = previousX
    y = previousY
  }
  return pairs.reverse()
}

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
