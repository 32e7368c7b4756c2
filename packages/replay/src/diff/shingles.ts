/**
 * A text as a small set of 2-token shingles, each a 32-bit hash, sorted. Of a long text the smallest hashes are kept: two texts then drop
 * and keep the same shingles, so that what is left still tells how much they share.
 */
export type Shingles = Uint32Array

export const MAX_SHINGLES = 64
export const NO_SHINGLES: Shingles = new Uint32Array(0)

/** Of anything longer only the head and the tail are read: a step is recognised by less. */
const LONGEST_READ = 16_384

export function shinglesOf(text: string): Shingles {
  const read = text.length > LONGEST_READ ? text.slice(0, LONGEST_READ / 2) + text.slice(-LONGEST_READ / 2) : text
  const hashes = new Set<number>()
  let before = -1
  let word = NO_WORD
  const take = (token: number): void => {
    if (before >= 0) hashes.add(mix(before, token))
    before = token
  }
  for (let i = 0; i < read.length; i++) {
    const code = read.charCodeAt(i)
    if (isWord(code)) {
      word = Math.imul(word ^ code, 0x01000193)
      continue
    }
    if (word !== NO_WORD) take(word >>> 0)
    word = NO_WORD
    if (code > 32) take(code)
  }
  if (word !== NO_WORD) take(word >>> 0)
  // One token has no pair; it stands for itself.
  if (hashes.size === 0 && before >= 0) hashes.add(before)
  const sorted = Uint32Array.from(hashes).sort()
  return sorted.length > MAX_SHINGLES ? sorted.slice(0, MAX_SHINGLES) : sorted
}

/** Dice: 1 for equal sets, 0 for disjoint ones. Two empty sets are equal. */
export function dice(a: Shingles, b: Shingles): number {
  const total = a.length + b.length
  if (total === 0) return 1
  let shared = 0
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const x = a[i]!
    const y = b[j]!
    if (x === y) {
      shared++
      i++
      j++
    } else if (x < y) i++
    else j++
  }
  return (2 * shared) / total
}

const NO_WORD = 0x811c9dc5

/** ASCII letters, digits and the underscore; of other scripts everything, which tells texts apart well enough. */
function isWord(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code > 127
  )
}

/** Spread over all bits, because the smallest are kept: plain FNV would keep short words. */
function mix(first: number, second: number): number {
  let hash = Math.imul(first ^ (first >>> 15), 0x85ebca6b) ^ second
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 16), 0x27d4eb2f)
  return (hash ^ (hash >>> 15)) >>> 0
}
