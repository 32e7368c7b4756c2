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
  /** Where its prices were taken from. */
  readonly source: string
  readonly entries: readonly PriceEntry[]
}

/** A user's entries take the place of all built-in ones for the same model, and the version says so. */
export function withOverrides(table: PriceTable, overrides: readonly PriceEntry[]): PriceTable {
  if (overrides.length === 0) return table
  const overridden = new Set(overrides.map((entry) => entry.model))
  const kept = table.entries.filter((entry) => !overridden.has(entry.model))
  const source = `${table.source}; and your configuration`
  return { version: `${table.version}+user`, source, entries: [...overrides, ...kept] }
}

/**
 * The entry in force for a model at a time: the latest that had begun. The name as it is wins over the name without the vendor in front
 * (`anthropic/…`, as gateways spell it; `models/…`), and that over the name without its date. Every other variant, a region, a speed, a
 * preview, may have a price of its own and stays unknown.
 */
export function findPrice(table: PriceTable, model: string, atMs: number): PriceEntry | undefined {
  const entries = entriesByModel(table)
  const plain = model.replace(VENDOR, "")
  for (const name of new Set([model, plain, withoutSnapshot(model), withoutSnapshot(plain)])) {
    const found = inForce(entries.get(name), atMs)
    if (found) return found
  }
  return undefined
}

interface DatedEntry {
  readonly entry: PriceEntry
  readonly fromMs: number
}

const known = new WeakMap<PriceTable, Map<string, DatedEntry[]>>()

/** Every call that is counted asks for its price. */
function entriesByModel(table: PriceTable): Map<string, DatedEntry[]> {
  let entries = known.get(table)
  if (entries !== undefined) return entries
  entries = new Map()
  for (const entry of table.entries) {
    const dated = { entry, fromMs: Date.parse(entry.validFrom) }
    entries.set(entry.model, [...(entries.get(entry.model) ?? []), dated])
  }
  known.set(table, entries)
  return entries
}

function inForce(entries: readonly DatedEntry[] = [], atMs: number): PriceEntry | undefined {
  let found: DatedEntry | undefined
  for (const dated of entries) {
    if (dated.fromMs <= atMs && (found === undefined || dated.fromMs > found.fromMs)) found = dated
  }
  return found?.entry
}

const VENDOR = /^(?:anthropic\/(?=claude-)|openai\/(?=gpt-|o\d)|(?:models|google|gemini)\/(?=gemini-))/

const withoutSnapshot = (model: string): string => model.replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "")
