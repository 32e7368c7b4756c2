import type { Usage } from "../dialect.js"
import { countOf, type JsonValue, recordOf } from "../json/value.js"
import { sumIfKnown } from "../usage.js"

/** `prompt_tokens` already includes what came from the cache. */
export function chatUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const promptDetails = recordOf(usage["prompt_tokens_details"])
  const prompt = countOf(usage["prompt_tokens"])
  const completion = countOf(usage["completion_tokens"])
  return {
    tokens: {
      prompt,
      completion,
      total: countOf(usage["total_tokens"]) ?? sumIfKnown(prompt, completion),
      // DeepSeek speaks this dialect, but reports its cache under a name of its own.
      cache_read: countOf(promptDetails["cached_tokens"]) ?? countOf(usage["prompt_cache_hit_tokens"]),
      cache_write: countOf(promptDetails["cache_write_tokens"]),
      reasoning: countOf(recordOf(usage["completion_tokens_details"])["reasoning_tokens"]),
    },
    cacheWrite5m: null,
    cacheWrite1h: null,
    serviceTier: null,
    billedExtras: {},
    raw,
  }
}
