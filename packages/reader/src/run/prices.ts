import type { PriceOverride } from "@orangebox/contract"
import { BUILT_IN_PRICES, type PriceEntry, type PriceTable, withOverrides } from "@orangebox/dialects"
import { findConfig } from "@orangebox/recorder"

/** The built-in price table with what `orangebox.config.json` says instead. */
export function pricesFor(cwd: string): PriceTable {
  return withOverrides(BUILT_IN_PRICES, (findConfig(cwd)?.config.prices ?? []).map(entryOf))
}

function entryOf({
  model,
  validFrom,
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
}: PriceOverride): PriceEntry {
  return {
    model,
    validFrom: validFrom ?? "1970-01-01",
    rates: {
      input,
      output,
      cacheRead: cacheRead ?? null,
      cacheWrite5m: cacheWrite5m ?? null,
      cacheWrite1h: cacheWrite1h ?? null,
    },
  }
}
