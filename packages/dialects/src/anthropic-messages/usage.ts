import type { Usage } from "../dialect.js"
import { countOf, type JsonValue, recordOf, recordsOf, textOf } from "../json/value.js"
import { positiveCounts, sumFrom, sumIfKnown } from "../usage.js"

/** Anthropic counts additively: `input_tokens` is only what was neither read from the cache nor written to it. */
export function anthropicUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const cacheRead = countOf(usage["cache_read_input_tokens"])
  const byTtl = recordOf(usage["cache_creation"])
  const cacheWrite5m = countOf(byTtl["ephemeral_5m_input_tokens"])
  const cacheWrite1h = countOf(byTtl["ephemeral_1h_input_tokens"])
  const cacheWrite = countOf(usage["cache_creation_input_tokens"]) ?? sumIfKnown(cacheWrite5m, cacheWrite1h)
  const prompt = sumFrom(countOf(usage["input_tokens"]), cacheRead, cacheWrite)
  const completion = countOf(usage["output_tokens"])
  return {
    tokens: {
      prompt,
      completion,
      total: sumIfKnown(prompt, completion),
      cache_read: cacheRead,
      cache_write: cacheWrite,
      reasoning: countOf(recordOf(usage["output_tokens_details"])["thinking_tokens"]),
    },
    cacheWrite5m,
    cacheWrite1h,
    serviceTier: textOf(usage["service_tier"]),
    billedExtras: { ...positiveCounts(usage["server_tool_use"]), ...compactionTokens(usage["iterations"]) },
    raw,
  }
}

// A compaction on the provider's side is billed, but not counted in the totals of the message it was made for.
function compactionTokens(iterations: JsonValue | undefined): Record<string, number> {
  let count = 0
  for (const iteration of recordsOf(iterations)) {
    if (iteration["type"] === "compaction") count += anthropicUsage(iteration).tokens.total ?? 0
  }
  return count === 0 ? {} : { compaction_tokens: count }
}
