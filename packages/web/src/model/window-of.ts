/** Which rows of fixed height have to exist for a part of a scrolled list to be full. */
export interface RowWindow {
  readonly from: number
  /** One past the last. */
  readonly to: number
}

export function windowOf(scrollTop: number, height: number, rowHeight: number, total: number, beyond = 8): RowWindow {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight)
  const count = Math.ceil(height / rowHeight) + 1
  const from = Math.max(0, Math.min(first, total - count) - beyond)
  return { from, to: Math.min(total, Math.max(first, 0) + count + beyond) }
}

/** Where to scroll so that a row is wholly seen, or null where it is already. */
export function scrollToShow(row: number, scrollTop: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight
  if (top < scrollTop) return top
  if (top + rowHeight > scrollTop + height) return Math.max(0, top + rowHeight - height)
  return null
}
