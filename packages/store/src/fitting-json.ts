/** No value in a row is over 64 KiB; the rest is room for the row's other columns. */
export const MAX_ROW_TEXT = 63 * 1024
const KEPT_TEXT = 4096
const KEPT_ITEMS = 256

/** JSON that fits a row. What does not is cut, text by text and list by list, and says so. */
export function fitting(value: object): string {
  const json = JSON.stringify(value)
  if (Buffer.byteLength(json) <= MAX_ROW_TEXT) return json
  const cut: Record<string, unknown> = { isCut: true }
  for (const [name, field] of Object.entries(value).slice(0, KEPT_ITEMS)) cut[name] = cutDown(field)
  const text = JSON.stringify(cut)
  return Buffer.byteLength(text) <= MAX_ROW_TEXT ? text : JSON.stringify({ isCut: true })
}

function cutDown(field: unknown): unknown {
  if (typeof field === "string") return field.slice(0, KEPT_TEXT).toWellFormed()
  if (Array.isArray(field))
    return field.slice(0, KEPT_ITEMS).map((item) => (typeof item === "string" ? item.slice(0, 100) : null))
  return typeof field === "object" ? null : field
}
