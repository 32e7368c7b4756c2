import type { Usage } from "../dialect.js"
import { countOf, type JsonValue, recordOf } from "../json/value.js"
import { sumIfKnown } from "../usage.js"

/** `input_tokens` already includes what came from the cache. */
export function responsesUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const inputDetails = recordOf(usage["input_tokens_details"])
  const prompt = countOf(usage["input_tokens"])
  const completion = countOf(usage["output_tokens"])
  return {
    tokens: {
      prompt,
      completion,
      total: countOf(usage["total_tokens"]) ?? sumIfKnown(prompt, completion),
      cache_read: countOf(inputDetails["cached_tokens"]),
      cache_write: countOf(inputDetails["cache_write_tokens"]),
      reasoning: countOf(recordOf(usage["output_tokens_details"])["reasoning_tokens"]),
    },
    cacheWrite5m: null,
    cacheWrite1h: null,
    serviceTier: null,
    billedExtras: {},
    raw,
  }
}
