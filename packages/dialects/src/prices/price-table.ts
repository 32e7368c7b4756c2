/** What a model costs, in US dollars per million tokens. Null is unknown: a call that used it has an unknown price. */
export interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead: number | null
  readonly cacheWrite5m: number | null
  readonly cacheWrite1h: number | null
}

export interface PriceEntry {
  /** The model's name. A dated snapshot (`-20250929`, `-2025-08-07`) or `-latest` of it costs the same unless it has its own entry. */
  readonly model: string
  /** The first day these rates were in force (UTC). */
  readonly validFrom: string
  readonly rates: Rates
  /** Other rates for calls whose prompt is longer than this. */
  readonly above?: { readonly promptTokens: number; readonly rates: Rates }
}

export interface PriceTable {
  /** The day the table was last checked; a price always names the table it came from. */
  readonly version: string
  readonly entries: readonly PriceEntry[]
}

/** A user's entries take the place of all built-in ones for the same model, and the version says so. */
export function withOverrides(table: PriceTable, overrides: readonly PriceEntry[]): PriceTable {
  if (overrides.length === 0) return table
  const overridden = new Set(overrides.map((entry) => entry.model))
  const kept = table.entries.filter((entry) => !overridden.has(entry.model))
  return { version: `${table.version}+user`, entries: [...overrides, ...kept] }
}

/**
 * The entry in force for a model at a time: the latest that had begun. A name that matches exactly wins over one that matches without its
 * date.
 */
export function findPrice(table: PriceTable, model: string, atMs: number): PriceEntry | undefined {
  return inForce(table.entries, model, atMs) ?? inForce(table.entries, withoutSnapshot(model), atMs)
}

function inForce(entries: readonly PriceEntry[], model: string, atMs: number): PriceEntry | undefined {
  let found: PriceEntry | undefined
  for (const entry of entries) {
    const from = Date.parse(entry.validFrom)
    if (entry.model !== model || Number.isNaN(from) || from > atMs) continue
    if (found === undefined || from > Date.parse(found.validFrom)) found = entry
  }
  return found
}

const withoutSnapshot = (model: string): string => model.replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "")
