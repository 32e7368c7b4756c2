export const GAP_OPEN = 0.6
export const GAP_EXTEND = 0.3

/**
 * The cheapest way to read two sequences side by side, where leaving out a stretch costs more to begin than to go on: a retry or a detour
 * is one event, however many steps it has. (Gotoh's three states; one byte of memory for each cell.)
 *
 * @param weightOfA what leaving out one element costs, 1 for an ordinary one
 */
export function alignAffine(
  lengthA: number,
  lengthB: number,
  cost: (i: number, j: number) => number,
  weightOfA: (i: number) => number,
  weightOfB: (j: number) => number,
): readonly (readonly [number, number])[] {
  const width = lengthB + 1
  const from = new Uint8Array((lengthA + 1) * width)
  const skipB = Float64Array.from({ length: lengthB }, (_, j) => weightOfB(j))
  let pair = new Float64Array(width).fill(Number.POSITIVE_INFINITY)
  let gapA = new Float64Array(width).fill(Number.POSITIVE_INFINITY)
  let gapB = new Float64Array(width).fill(Number.POSITIVE_INFINITY)
  let nextPair = new Float64Array(width)
  let nextGapA = new Float64Array(width)
  let nextGapB = new Float64Array(width)

  pair[0] = 0
  for (let j = 1; j < width; j++) {
    const open = pair[j - 1]! + GAP_OPEN * skipB[j - 1]!
    const extend = gapB[j - 1]! + GAP_EXTEND * skipB[j - 1]!
    gapB[j] = Math.min(open, extend)
    from[j] = (open <= extend ? PAIR : GAP_B) << SHIFT_B
  }
  for (let i = 1; i <= lengthA; i++) {
    const skipA = weightOfA(i - 1)
    const openA = GAP_OPEN * skipA
    const extendA = GAP_EXTEND * skipA
    const row = i * width
    nextPair[0] = Number.POSITIVE_INFINITY
    nextGapB[0] = Number.POSITIVE_INFINITY
    for (let j = 0; j < width; j++) {
      // A left out: from the cell above.
      const fromPair = pair[j]! + openA
      const fromGapA = gapA[j]! + extendA
      const fromGapB = gapB[j]! + openA
      let best = fromPair
      let state = PAIR
      if (fromGapA < best) {
        best = fromGapA
        state = GAP_A
      }
      if (fromGapB < best) {
        best = fromGapB
        state = GAP_B
      }
      nextGapA[j] = best
      let code = state << SHIFT_A
      if (j > 0) {
        // Paired: from the cell above and to the left.
        best = pair[j - 1]!
        state = PAIR
        if (gapA[j - 1]! < best) {
          best = gapA[j - 1]!
          state = GAP_A
        }
        if (gapB[j - 1]! < best) {
          best = gapB[j - 1]!
          state = GAP_B
        }
        nextPair[j] = best + cost(i - 1, j - 1)
        code |= state
        // B left out: from the cell to the left.
        const openB = GAP_OPEN * skipB[j - 1]!
        best = nextPair[j - 1]! + openB
        state = PAIR
        if (nextGapB[j - 1]! + GAP_EXTEND * skipB[j - 1]! < best) {
          best = nextGapB[j - 1]! + GAP_EXTEND * skipB[j - 1]!
          state = GAP_B
        }
        if (nextGapA[j - 1]! + openB < best) {
          best = nextGapA[j - 1]! + openB
          state = GAP_A
        }
        nextGapB[j] = best
        code |= state << SHIFT_B
      }
      from[row + j] = code
    }
    ;[pair, nextPair] = [nextPair, pair]
    ;[gapA, nextGapA] = [nextGapA, gapA]
    ;[gapB, nextGapB] = [nextGapB, gapB]
  }
  return traceBack(from, width, lengthA, lengthB, cheapest(pair[lengthB]!, gapA[lengthB]!, gapB[lengthB]!))
}

const PAIR = 0
const GAP_A = 1
const GAP_B = 2
const SHIFT_A = 2
const SHIFT_B = 4

function cheapest(pair: number, gapA: number, gapB: number): number {
  if (pair <= gapA && pair <= gapB) return PAIR
  return gapA <= gapB ? GAP_A : GAP_B
}

function traceBack(from: Uint8Array, width: number, lengthA: number, lengthB: number, end: number): [number, number][] {
  const pairs: [number, number][] = []
  let i = lengthA
  let j = lengthB
  let state = end
  while (i > 0 || j > 0) {
    const code = from[i * width + j]!
    if (state === PAIR) {
      pairs.push([--i, --j])
      state = code & 3
    } else if (state === GAP_A) {
      i--
      state = (code >> SHIFT_A) & 3
    } else {
      j--
      state = (code >> SHIFT_B) & 3
    }
  }
  return pairs.reverse()
}
