import { cutToWidth, displayWidth, padToWidth } from "./display-width.js"
import { safeLine } from "./safe-text.js"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** Cells wider than this are cut and end in `…`. */
  readonly maxWidth?: number
  /** Where the table is too wide its cells may be cut down to this. Default: they are not. */
  readonly minWidth?: number
  /** Where that is not enough the column with the highest number goes. Default: it stays. */
  readonly dropRank?: number
}

export interface TableOptions {
  /** Columns of the reader's terminal. Default: nothing limits a row. */
  readonly width?: number
  /** Colours a cell of a row, which is laid out already. */
  readonly paint?: (cell: string, row: number, title: string) => string
}

/** Aligned columns by display width, two spaces between them. Cells are made safe here, so recorded text may be passed as it is. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, paint = (cell) => cell }: TableOptions = {},
): string {
  const cells = [columns.map((column) => column.title), ...rows].map((row) =>
    columns.map((column, index) => cutToWidth(safeLine(row[index] ?? ""), column.maxWidth ?? Number.POSITIVE_INFINITY)),
  )
  const natural = columns.map((_, index) =>
    cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index]!)), 0),
  )
  const widths = fittedWidths(columns, natural, width)
  return cells
    .map((row, rowIndex) => {
      const shown = widths.flatMap((columnWidth, index) => {
        if (columnWidth === undefined) return []
        const { align, title } = columns[index]!
        const cell = padToWidth(cutToWidth(row[index]!, columnWidth), columnWidth, align === "right" ? "left" : "right")
        return [rowIndex === 0 ? cell : paint(cell, rowIndex - 1, title)]
      })
      return shown.join(GAP).trimEnd()
    })
    .join("\n")
}

const GAP = "  "

/** Widths that fit; a column that had to go has none. */
function fittedWidths(columns: readonly Column[], natural: readonly number[], width: number): (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural]
  for (;;) {
    const shown = widths.filter((columnWidth) => columnWidth !== undefined)
    let over = shown.reduce((sum, columnWidth) => sum + columnWidth, (shown.length - 1) * GAP.length) - width
    if (over <= 0) return widths
    const least = (index: number): number => Math.min(natural[index]!, columns[index]!.minWidth ?? natural[index]!)
    const slack = widths.reduce<number>((sum, w, index) => (w === undefined ? sum : sum + w - least(index)), 0)
    const leaving = columns.reduce(
      (found, { dropRank = -1 }, index) =>
        widths[index] !== undefined && dropRank > (columns[found]?.dropRank ?? -1) ? index : found,
      -1,
    )
    if (slack < over && leaving !== -1) {
      widths[leaving] = undefined
      continue
    }
    // The last columns give first: a reader finds a row by its first ones.
    for (let index = columns.length - 1; index >= 0 && over > 0; index--) {
      if (widths[index] === undefined) continue
      const given = Math.min(over, widths[index]! - least(index))
      widths[index]! -= given
      over -= given
    }
    return widths
  }
}
