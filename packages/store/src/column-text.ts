/** Columns of a row, not places for content: what breaks the contract by being longer is cut here and whole in its event. */
const MAX_COLUMN_TEXT = 512

export function column(text: string | null): string | null {
  return text !== null && text.length > MAX_COLUMN_TEXT ? text.slice(0, MAX_COLUMN_TEXT).toWellFormed() : text
}
