/**
 * Where a body is cut into chunks. Pure: the same bytes give the same cuts, and a cut depends only on bytes near it, so two
 * bodies that share a long stretch share the chunks inside it.
 *
 * Two kinds of cut, whichever comes first:
 *
 * - **between the members of a JSON array of objects**, right behind a `}` that is followed by `,{` or by the `],"` or `]}` that
 *   ends the array. A request is its predecessor plus two messages *in the middle*: the parameters behind the messages move.
 *   Cutting behind the brace, before the comma or bracket, makes everything before the new messages, and everything after them,
 *   the very chunks that are stored already. Quotes and braces inside JSON strings may match too; that costs a cut, nothing else.
 * - **where a gear hash of the last 32 bytes says so**, for long texts. Normalised as in FastCDC: a stricter mask before the
 *   wanted size and a laxer one behind it keep sizes close to it.
 *
 * Frames of an event stream get no cut of their own: a response is never sent again frame by frame. Measured on a session of 300
 * calls, cuts there doubled the chunk rows and saved no byte in the packs. The sizes below are a middle: members from 128 bytes to
 * 2 KiB and texts from 2 to 8 KiB came out within about a tenth of each other in settled packs, while in fresh ones members of
 * 2 KiB cost up to a fifth more.
 */

export const MAX_CHUNK_BYTES = 64 * 1024

const MIN_MEMBER_BYTES = 512
const MIN_TEXT_BYTES = 2048
const WANTED_TEXT_BYTES = 4096
const STRICT_MASK = 0xfff80000 | 0
const LAX_MASK = 0xffc00000 | 0

/** Blanks a pretty-printer may put between two members; a bound keeps the look-around, and so the streaming window, small. */
const MAX_BLANKS = 64

/** How many bytes behind a chunk's first byte can matter for where it ends. A window this long always holds a whole decision. */
export const CUT_WINDOW_BYTES = MAX_CHUNK_BYTES + 2 * MAX_BLANKS + 2

/** How far behind a chunk's end the bytes can matter for it. Bodies that are equal up to there are cut there alike. */
export const CUT_REACH_BYTES = 4 * MAX_BLANKS + 4

/** The ends of all chunks, ascending; the last one is the length of the bytes. No bytes, no chunks. */
export function cutChunks(bytes: Uint8Array): number[] {
  const ends: number[] = []
  for (let start = 0; start < bytes.length; ) {
    start = nextCut(bytes, start, bytes.length)
    ends.push(start)
  }
  return ends
}

/**
 * The end of the chunk that begins at `start`. `length` is how much of `bytes` is filled. The caller that streams passes a window
 * holding at least `CUT_WINDOW_BYTES` from `start`, or everything up to the end of the body; then it gets the same cuts as `cutChunks`.
 */
export function nextCut(bytes: Uint8Array, start: number, length: number): number {
  const furthest = Math.min(start + MAX_CHUNK_BYTES, length)
  const firstMember = start + MIN_MEMBER_BYTES
  const firstText = start + MIN_TEXT_BYTES
  const relaxed = Math.min(start + WANTED_TEXT_BYTES, furthest)

  let at = firstMember
  for (const quiet = Math.min(firstText - 32, furthest); at < quiet; at++) {
    const byte = bytes[at]!
    if ((byte === OPEN_BRACE || byte === CLOSE_BRACKET) && endsMember(bytes, at, length)) return memberEnd(bytes, at)
  }
  let hash = 0
  for (const warm = Math.min(firstText, furthest); at < warm; at++) {
    const byte = bytes[at]!
    hash = ((hash << 1) + GEAR[byte]!) | 0
    if ((byte === OPEN_BRACE || byte === CLOSE_BRACKET) && endsMember(bytes, at, length)) return memberEnd(bytes, at)
  }
  for (; at < relaxed; at++) {
    const byte = bytes[at]!
    hash = ((hash << 1) + GEAR[byte]!) | 0
    if ((hash & STRICT_MASK) === 0) return at + 1
    if ((byte === OPEN_BRACE || byte === CLOSE_BRACKET) && endsMember(bytes, at, length)) return memberEnd(bytes, at)
  }
  for (; at < furthest; at++) {
    const byte = bytes[at]!
    hash = ((hash << 1) + GEAR[byte]!) | 0
    if ((hash & LAX_MASK) === 0) return at + 1
    if ((byte === OPEN_BRACE || byte === CLOSE_BRACKET) && endsMember(bytes, at, length)) return memberEnd(bytes, at)
  }
  return furthest
}

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const QUOTE = 0x22

/** Whether the `{` at `at` opens the next member of an array, or the `]` there closes one that has more of the body behind it. */
function endsMember(bytes: Uint8Array, at: number, length: number): boolean {
  if (bytes[at] === OPEN_BRACE) {
    const comma = beforeBlanks(bytes, at)
    return bytes[comma] === COMMA && bytes[beforeBlanks(bytes, comma)] === CLOSE_BRACE
  }
  if (bytes[beforeBlanks(bytes, at)] !== CLOSE_BRACE) return false
  const behind = afterBlanks(bytes, at, length)
  if (bytes[behind] === COMMA) return bytes[afterBlanks(bytes, behind, length)] === QUOTE
  return bytes[behind] === CLOSE_BRACE && afterBlanks(bytes, behind, length) >= length
}

function memberEnd(bytes: Uint8Array, at: number): number {
  const before = beforeBlanks(bytes, at)
  return bytes[before] === COMMA ? beforeBlanks(bytes, before) + 1 : before + 1
}

function beforeBlanks(bytes: Uint8Array, at: number): number {
  let before = at - 1
  for (const stop = at - MAX_BLANKS; before > stop && isBlank(bytes[before]); before--);
  return before
}

function afterBlanks(bytes: Uint8Array, at: number, length: number): number {
  let after = at + 1
  for (const stop = Math.min(at + MAX_BLANKS, length); after < stop && isBlank(bytes[after]); after++);
  return after
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** 256 fixed random words. Stored cuts depend on them, so they never change: xorshift32 from a fixed seed, same on every machine. */
const GEAR = gearTable()

function gearTable(): Int32Array {
  const table = new Int32Array(256)
  let state = 0x9e3779b9
  for (let index = 0; index < 256; index++) {
    for (let round = 0; round < 4; round++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
    }
    table[index] = state
  }
  return table
}
