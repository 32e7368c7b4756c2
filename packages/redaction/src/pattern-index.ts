/** A text to look for, and what it stands for. */
export interface Pattern<T> {
  readonly text: string
  readonly about: T
}

/**
 * Finds any of thousands of texts in one pass (Wu and Manber 1994). Of each text one window of a fixed width is known by its last three
 * bytes; a table says for every three bytes how far the search may jump, so that most of what is searched is never looked at. Where it may not
 * jump, one bit says whether the six bytes before can be the end of a window, so that a crowded table costs little.
 *
 * The window is taken from the end of a text: beginnings are what keys of one vendor have in common. Where too many share an end, it is taken
 * elsewhere; a text that shares every part with too many others, or says the same over and over, is not kept, so that no choice of texts can make
 * the search slow.
 */
export class PatternIndex<T> {
  readonly #width: number
  readonly #shifts: Uint8Array
  readonly #ends = new Uint32Array(1 << END_BITS)
  readonly #buckets = new Map<number, Entry<T>[]>()
  size = 0

  /** @param width at least six, and no text may be shorter */
  constructor(width: number, tableBits: number) {
    this.#width = width
    this.#shifts = new Uint8Array(1 << tableBits).fill(width - BLOCK + 1)
  }

  add(pattern: Pattern<T>): void {
    const bytes = Buffer.from(pattern.text)
    this.#addWindow(pattern, bytes, false)
    // A string is searched by the low byte of each character, which for letters beyond ASCII are other bytes.
    if (bytes.length !== pattern.text.length) this.#addWindow(pattern, Buffer.from(pattern.text, "latin1"), true)
    this.size++
  }

  #addWindow({ text, about }: Pattern<T>, bytes: Buffer, isOfText: boolean): void {
    const width = this.#width
    const last = bytes.length
    let end = 0
    let bucket: Entry<T>[] | undefined
    for (const other of [last, (last + width) >> 1, width]) {
      if (other < width || repeats(bytes, other - width, other)) continue
      const entries = this.#buckets.get(endCode(bytes, other))
      if (end === 0 || entries === undefined || entries.length < bucket!.length) {
        end = other
        bucket = entries
      }
      if (entries === undefined || entries.length <= FEW) break
    }
    if (end === 0 || (bucket !== undefined && bucket.length >= MOST_ALIKE)) return
    const entry: Entry<T> = { text, bytes, end, about, isOfText }
    if (bucket === undefined) this.#buckets.set(endCode(bytes, end), [entry])
    else bucket.push(entry)
    const code = endCode(bytes, end)
    this.#ends[code >>> (32 - END_BITS)]! |= 1 << (code & 31)
    const mask = this.#shifts.length - 1
    for (let back = 0; back <= width - BLOCK; back++) {
      const block = blockCode(bytes, end - back) & mask
      if (back < this.#shifts[block]!) this.#shifts[block] = back
    }
  }

  /** Calls `found` for every place at which a text stands in these bytes. */
  scanBytes(bytes: Uint8Array, found: (start: number, end: number, about: T, text: string) => void): void {
    this.#scan(bytes, bytes.length, (end, { bytes: wanted, end: windowEnd, text, about, isOfText }) => {
      const start = end - windowEnd
      if (isOfText || start < 0 || !isAt(bytes, start, wanted)) return end
      found(start, start + wanted.length, about, text)
      return start + wanted.length
    })
  }

  scanText(text: string, found: (start: number, end: number, about: T, text: string) => void): void {
    const overlap = this.#width - 1
    for (let at = 0; at + overlap < text.length; at += SCRATCH - overlap) {
      const length = scratch.write(at === 0 && text.length <= SCRATCH ? text : text.slice(at, at + SCRATCH), "latin1")
      this.#scan(scratch, length, (end, { text: wanted, end: windowEnd, about }) => {
        const start = at + end - windowEnd
        // A window that was cut out of bytes may be counted differently than one of characters; then it is not this one.
        if (start < 0 || !text.startsWith(wanted, start)) return end
        found(start, start + wanted.length, about, wanted)
        return Math.min(length, start - at + wanted.length)
      })
    }
  }

  /**
   * Goes on behind the end of what was found, which `candidate` returns: in a text that repeats a value, every place of it holds a window of
   * another, and what overlaps is masked as one anyhow.
   */
  #scan(bytes: Uint8Array, length: number, candidate: (end: number, entry: Entry<T>) => number): void {
    const next = (from: number): number => nextWindow(bytes, from, length, this.#shifts, this.#ends)
    for (let end = next(this.#width); end <= length; ) {
      let done = end
      for (const entry of this.#buckets.get(endCode(bytes, end)) ?? []) done = Math.max(done, candidate(end, entry))
      end = next(done + 1)
    }
  }
}

/** Whether a window stands in its text once more: then a text that repeats it would have the whole compared at every turn. */
function repeats(bytes: Buffer, start: number, end: number): boolean {
  const window = bytes.subarray(start, end)
  return bytes.length > REPEATING && (bytes.indexOf(window) < start || bytes.indexOf(window, start + 1) >= 0)
}
const REPEATING = 64

interface Entry<T> {
  readonly text: string
  readonly bytes: Buffer
  /** Where in it the window ends. */
  readonly end: number
  readonly about: T
  /** Only to be looked for in strings. */
  readonly isOfText: boolean
}

const BLOCK = 3
const END_BITS = 16
const FEW = 2
const MOST_ALIKE = 4
const SCRATCH = 65_536
// One for all: nothing that runs between two finds searches another text.
const scratch = Buffer.allocUnsafeSlow(SCRATCH)

/** Of the three bytes before `end`: 18 bits. */
const blockCode = (bytes: Uint8Array, end: number): number =>
  (bytes[end - 3]! << 10) ^ (bytes[end - 2]! << 5) ^ bytes[end - 1]!

/** Of the six bytes before it. */
const endCode = (bytes: Uint8Array, end: number): number =>
  Math.imul(
    (bytes[end - 1]! | (bytes[end - 2]! << 8) | (bytes[end - 3]! << 16) | (bytes[end - 4]! << 24)) ^
      Math.imul(bytes[end - 5]! | (bytes[end - 6]! << 8), 0x9e3779b1),
    0x85ebca6b,
  ) >>> 0

/** The end of the next window that may be one of those looked for. The loop that everything goes through: nothing else may live in it. */
function nextWindow(bytes: Uint8Array, from: number, length: number, shifts: Uint8Array, ends: Uint32Array): number {
  const mask = shifts.length - 1
  let end = from
  while (end <= length) {
    const shift = shifts[blockCode(bytes, end) & mask]!
    if (shift !== 0) {
      end += shift
      continue
    }
    const code = endCode(bytes, end)
    if (((ends[code >>> (32 - END_BITS)]! >>> (code & 31)) & 1) !== 0) return end
    end++
  }
  return length + 1
}

function isAt(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  if (start + wanted.length > bytes.length) return false
  return bytes[start] === wanted[0] && Buffer.compare(bytes.subarray(start, start + wanted.length), wanted) === 0
}
