import type { BodyHash, JsonNode } from "@orangebox/contract"
import type { OutlineFound } from "../request/read-request.js"

/**
 * What was found out about a body under one dialect: anatomy, signature and lanes of a request ask for much the same, and the next request
 * repeats most of it. Only things that follow from the text of a value alone, or that say what else they depend on, are noted.
 */
export interface BodyNotes {
  /** The text of the body. */
  readonly text: string
  /** By where the value starts; no two values start at one character. */
  readonly pieces: Map<number, Piece>
  outline: { readonly path: string | undefined; readonly found: OutlineFound } | undefined
}

/** One value of a body: a message, a part of one, a tool. */
export interface Piece {
  readonly length: number
  hash: BodyHash | undefined
  /** The hash of the prompt up to here, behind what came before. */
  prefix: { readonly before: BodyHash; readonly role: string | null; readonly after: BodyHash } | undefined
  /** The hash of the conversation up to here, behind what came before. */
  link:
    | { readonly before: BodyHash; readonly kind: string; readonly role: string | null; readonly after: BodyHash }
    | undefined
  canonical: CanonicalPiece | undefined
}

export interface CanonicalPiece {
  readonly text: string
  /** The call ids in it and the names they were given, in order: in another place they may get others. */
  readonly calls: readonly (readonly [id: string, name: string])[]
  /** Where something was taken out, from here. */
  readonly dropped: readonly string[]
}

export const newNotes = (text: string, pieces = new Map<number, Piece>()): BodyNotes => ({
  text,
  pieces,
  outline: undefined,
})

export function pieceOf({ pieces }: BodyNotes, node: JsonNode): Piece {
  const length = node.end - node.start
  const known = pieces.get(node.start)
  if (known?.length === length) return known
  const piece: Piece = { length, hash: undefined, prefix: undefined, link: undefined, canonical: undefined }
  pieces.set(node.start, piece)
  return piece
}

/** The pieces that stand in the first `head` and in the last `tail` characters, at their new places. */
export function carriedPieces(
  pieces: ReadonlyMap<number, Piece>,
  { head, tail, oldLength, newLength }: { head: number; tail: number; oldLength: number; newLength: number },
): Map<number, Piece> {
  const carried = new Map<number, Piece>()
  for (const [start, piece] of pieces) {
    if (start + piece.length <= head) carried.set(start, piece)
    else if (start >= oldLength - tail) carried.set(start + newLength - oldLength, piece)
  }
  return carried
}
