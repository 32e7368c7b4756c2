/** How many characters two texts have in common at the beginning. */
export function sharedHead(a: string, b: string): number {
  return longest(Math.min(a.length, b.length), (from, to) => a.slice(from, to) === b.slice(from, to))
}

/** And at the end, looking at no more than `most` characters. */
export function sharedTail(a: string, b: string, most: number): number {
  const { length: ends } = a
  const { length: stops } = b
  return longest(most, (from, to) => a.slice(ends - to, ends - from) === b.slice(stops - to, stops - from))
}

// The engine compares slices many times faster than a loop here compares characters; each one is compared about once.
function longest(most: number, isSame: (from: number, to: number) => boolean): number {
  let same = 0
  let limit = most
  for (let size = FIRST_STEP; same < limit; size *= 4) {
    const to = Math.min(same + size, most)
    if (!isSame(same, to)) limit = to
    else same = to
    if (limit < most || to === most) break
  }
  while (same < limit) {
    const middle = (same + limit + 1) >> 1
    if (isSame(same, middle)) same = middle
    else limit = middle - 1
  }
  return same
}

const FIRST_STEP = 1024
