import { noTokens, type TokenCounts } from "@orangebox/runs"

/** What a column of either engine may hold. */
export type RowValue = number | bigint | string | Uint8Array | null

export type Row = Record<string, RowValue>

export function tokensOf(row: Row): TokenCounts {
  const tokens = noTokens()
  tokens.prompt = numberOrNull(row["prompt_tokens"])
  tokens.completion = numberOrNull(row["completion_tokens"])
  tokens.cacheRead = numberOrNull(row["cache_read_tokens"])
  tokens.cacheWrite = numberOrNull(row["cache_write_tokens"])
  tokens.reasoning = numberOrNull(row["reasoning_tokens"])
  return tokens
}

export function numberOrNull(value: RowValue | undefined): number | null {
  return value == null ? null : Number(value)
}

export function textOrNull(value: RowValue | undefined): string | null {
  return value == null ? null : String(value)
}
