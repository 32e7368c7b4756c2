import { CELL_STATES, type Cell } from "./strata-cells.js"

/** A picture as memory of a canvas: one number a pixel. */
export interface Raster {
  readonly width: number
  readonly height: number
  readonly pixels: Uint32Array<ArrayBuffer>
}

/**
 * Columns too narrow for gaps and hatches, as many thousand cells as there are: each is a few words of memory, where a canvas takes a call
 * with a style for every one of them.
 *
 * @param cells in the order in which they are drawn: of those that share a pixel the last is seen
 * @param edges where each call begins, in pixels, and behind the last of them where it ends
 * @param rowOf the pixel of a token offset
 * @param colours of the pieces, one for each of `CELL_STATES`
 */
export function rasterCells(
  { width, height, pixels }: Raster,
  cells: readonly Cell[],
  edges: Int32Array,
  rowOf: (tokens: number) => number,
  colours: Uint32Array,
): void {
  for (const { piece, state, from, to, top, bottom } of cells) {
    const left = edges[from]!
    const right = edges[to + 1]!
    if (right <= left) continue
    const upper = Math.max(0, Math.round(rowOf(top)))
    // However thin, it is there.
    const lower = Math.min(height, Math.max(upper + 1, Math.round(rowOf(bottom))))
    const colour = colours[piece * CELL_STATES.length + CELL_STATES.indexOf(state)]!
    for (let row = upper; row < lower; row += 1) {
      const start = row * width
      if (right - left > 16) pixels.fill(colour, start + left, start + right)
      else for (let at = start + left; at < start + right; at += 1) pixels[at] = colour
    }
  }
}
