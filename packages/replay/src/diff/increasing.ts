/** Positions of a longest strictly increasing subsequence (patience sorting). */
export function longestIncreasing(values: ArrayLike<number>): number[] {
  const tops: number[] = []
  const before = new Int32Array(values.length).fill(-1)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    let low = 0
    let high = tops.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (values[tops[middle]!]! < value) low = middle + 1
      else high = middle
    }
    if (low > 0) before[i] = tops[low - 1]!
    tops[low] = i
  }
  const positions: number[] = []
  for (let i = tops.at(-1) ?? -1; i >= 0; i = before[i]!) positions.push(i)
  return positions.reverse()
}
