import { cutToWidth, displayWidth, padToWidth } from "./display-width.js"
import { safeLine } from "./safe-text.js"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** Cells wider than this are cut and end in `…`. */
  readonly maxWidth?: number
}

/** Aligned columns by display width, two spaces between them. Cells are made safe here, so recorded text may be passed as it is. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = [columns.map((column) => column.title), ...rows].map((row) =>
    columns.map((column, index) => cutToWidth(safeLine(row[index] ?? ""), column.maxWidth ?? Number.POSITIVE_INFINITY)),
  )
  const widths = columns.map((_, index) =>
    cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index]!)), 0),
  )
  return cells
    .map((row) =>
      row
        .map((cell, index) => padToWidth(cell, widths[index]!, columns[index]!.align === "right" ? "left" : "right"))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}
