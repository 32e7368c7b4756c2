import type { Band } from "./bands.js"
import type { Piece } from "./pieces.js"

/** More than a page can draw in a frame, or a person can tell apart. */
export const MOST_BANDS = 20_000

/** Bands of which some stand for several pieces of one kind, one below the other over the same calls. */
export interface MergedBands {
  readonly bands: readonly Band[]
  /** How many bands there were. */
  readonly total: number
  readonly isMerged: boolean
}

/** Where there are too many, neighbours of one kind and one life become one band, named after the first of them. */
export function mergeBands(bands: readonly Band[], pieces: readonly Piece[], most = MOST_BANDS): MergedBands {
  if (bands.length <= most) return { bands, total: bands.length, isMerged: false }
  const merged: Band[] = []
  for (const band of bands) {
    const last = merged.at(-1)
    const isNeighbour =
      last !== undefined &&
      last.from === band.from &&
      last.to === band.to &&
      last.offset + last.tokens === band.offset &&
      pieces[last.piece]!.kind === pieces[band.piece]!.kind &&
      pieces[last.piece]!.isError === pieces[band.piece]!.isError
    if (isNeighbour) merged[merged.length - 1] = { ...last, tokens: last.tokens + band.tokens }
    else merged.push(band)
  }
  return { bands: merged, total: bands.length, isMerged: true }
}
