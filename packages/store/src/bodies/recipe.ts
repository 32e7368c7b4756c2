/**
 * A body as a list of parts. A part is a run of consecutive chunks, or a group: one chunk that holds a list of parts itself.
 *
 * Chunk ids are handed out in the order chunks are first seen, so text that came in together is one run. A session's history
 * came in call by call, with responses and tool results between, so its runs grow by one a call; kept flat, recipes would grow
 * with the square of the calls. Therefore long lists are folded: stretches of parts, cut where their own content says so, become
 * groups, which are chunks like any other and are shared by all later recipes. A recipe stays around a hundred bytes, however
 * long the session and however large the body, and never comes near the 64 KiB a row may hold.
 */
import { pushSignedVarint, pushVarint, VarintReader } from "./varint.js"

export interface Part {
  /** 0 for a run of chunks with the body's bytes; n for a group that holds parts of level n − 1. */
  readonly level: number
  /** The first chunk of the run, or the chunk that holds the group. */
  readonly first: number
  /** How many chunks the run has; 1 for a group. */
  readonly count: number
  /** How many of the body's bytes the part makes. Written for groups only, so that a slice can pass by; read back as 0 for runs. */
  readonly bytes: number
}

export const MAX_LEVEL = 15

/** Each part is written relative to the end of the one before. A list says everything itself, so equal lists are equal bytes. */
export function encodeParts(parts: readonly Part[]): Buffer {
  const bytes: number[] = []
  let expected = 0
  for (const part of parts) {
    pushVarint(bytes, part.count * (MAX_LEVEL + 1) + part.level)
    pushSignedVarint(bytes, part.first - expected)
    if (part.level > 0) pushVarint(bytes, part.bytes)
    expected = part.first + part.count
  }
  return Buffer.from(bytes)
}

/** The inverse of `encodeParts`; `undefined` when the bytes are not a list of parts. */
export function decodeParts(bytes: Uint8Array): Part[] | undefined {
  const reader = new VarintReader(bytes)
  const parts: Part[] = []
  let expected = 0
  while (!reader.isAtEnd) {
    const head = reader.next()
    const distance = reader.nextSigned()
    if (head === undefined || distance === undefined) return undefined
    const level = head % (MAX_LEVEL + 1)
    const count = Math.floor(head / (MAX_LEVEL + 1))
    const first = expected + distance
    const length = level > 0 ? reader.next() : 0
    if (length === undefined || count === 0 || (level > 0 && count > 1)) return undefined
    if (first < 0 || !Number.isSafeInteger(first + count)) return undefined
    parts.push({ level, first, count, bytes: length })
    expected = first + count
  }
  return parts
}
