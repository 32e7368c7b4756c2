import type { Column, PlacedPiece } from "./pieces.js"

/** A piece over a maximal row of calls in which it keeps its place. */
export interface Band {
  readonly piece: number
  /** Positions of its first and last call in the lane. */
  readonly from: number
  readonly to: number
  readonly offset: number
  readonly tokens: number
}

/** Columns as bands: what stays where it was is said once, so the list grows with new text and not with calls. */
export function bandsOf(columns: readonly Pick<Column, "pieces">[]): readonly Band[] {
  const bands: Band[] = []
  let open = new Map<number, Band>()
  columns.forEach(({ pieces }, at) => {
    const now = new Map<number, Band>()
    for (const { piece, offset, tokens } of pieces) {
      const before = open.get(piece)
      const goesOn = before !== undefined && before.offset === offset && before.to === at - 1
      const band = goesOn ? { ...before, to: at } : { piece, from: at, to: at, offset, tokens }
      now.set(piece, band)
    }
    for (const [piece, band] of open) if (now.get(piece)?.from !== band.from) bands.push(band)
    open = now
  })
  bands.push(...open.values())
  return bands.sort((a, b) => a.from - b.from || a.offset - b.offset || a.piece - b.piece)
}

/** The inverse: what each of so many calls held, from the top of its prompt. */
export function columnsOfBands(bands: readonly Band[], calls: number): readonly (readonly PlacedPiece[])[] {
  const columns: PlacedPiece[][] = Array.from({ length: calls }, () => [])
  for (const { piece, from, to, offset, tokens } of bands)
    for (let at = from; at <= to; at++) columns[at]!.push({ piece, offset, tokens })
  // A piece of no tokens shares its offset with the next; the order in which pieces were first seen tells them apart.
  for (const column of columns) column.sort((a, b) => a.offset - b.offset || a.tokens - b.tokens || a.piece - b.piece)
  return columns
}
