import type { TokenUsage } from "@orangebox/contract"
import type { Usage } from "./dialect.js"
import { countOf, type JsonRecord, type JsonValue, recordOf } from "./json/value.js"

/** The usage of an answer; what its provider does not tell apart is left out. */
export const usageWith = (raw: JsonValue, tokens: TokenUsage, more: Partial<Usage> = {}): Usage => ({
  tokens,
  cacheWrite5m: null,
  cacheWrite1h: null,
  serviceTier: null,
  billedExtras: {},
  raw,
  ...more,
})

export const UNKNOWN_USAGE = usageWith(null, { prompt: null, completion: null, total: null })

/** The sum of what is known, as long as the first part is: a count the provider left out adds nothing, but no count at all is unknown. */
export function sumFrom(first: number | null, ...rest: readonly (number | null)[]): number | null {
  return first === null ? null : rest.reduce<number>((sum, part) => sum + (part ?? 0), first)
}

export const sumIfKnown = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b

/** Counts of an object such as `server_tool_use`, without those that are zero. */
export function positiveCounts(value: JsonValue | undefined): Record<string, number> {
  const source: JsonRecord = recordOf(value)
  const counts: Record<string, number> = {}
  for (const key of Object.keys(source)) {
    const count = countOf(source[key])
    if (count !== null && count > 0) counts[key] = count
  }
  return counts
}
