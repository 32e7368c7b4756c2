import { type RunRow, worseStatus } from "./run-rows.js"

/** A row as it is shown: itself, or with what it hides. */
export interface ShownRow {
  readonly row: RunRow
  readonly isFolded: boolean
  readonly hidden: number
  /** Of the row and all it hides. */
  readonly worst: string
}

/** The rows that are left when those in `folded` hide what is below them. A fold carries the worst status and the count of what it hides. */
export function foldRows(rows: readonly RunRow[], folded: ReadonlySet<number>): ShownRow[] {
  const shown: ShownRow[] = []
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at]!
    const isFolded = row.below > 0 && folded.has(row.n)
    if (!isFolded) {
      shown.push({ row, isFolded, hidden: 0, worst: row.status })
      continue
    }
    let worst = row.status
    for (let inside = at + 1; inside <= at + row.below; inside += 1)
      worst = worseStatus(worst, rows[inside]?.status ?? "")
    shown.push({ row, isFolded, hidden: row.below, worst })
    at += row.below
  }
  return shown
}

/** The steps that have to be unfolded for one to be seen. */
export function foldsAround(rows: readonly RunRow[], n: number): number[] {
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  const around: number[] = []
  for (let row = byNumber.get(n); row && row.parent !== null; row = byNumber.get(row.parent)) around.push(row.parent)
  return around
}
