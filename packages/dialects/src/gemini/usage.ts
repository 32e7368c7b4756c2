import type { Usage } from "../dialect.js"
import { countOf, type JsonValue, recordOf } from "../json/value.js"
import { sumFrom, sumIfKnown } from "../usage.js"

/** `promptTokenCount` includes cached tokens; thoughts are counted beside the candidates, tool-use prompts beside the prompt. */
export function geminiUsage(raw: JsonValue): Usage {
  const usage = recordOf(raw)
  const prompt = sumFrom(countOf(usage["promptTokenCount"]), countOf(usage["toolUsePromptTokenCount"]))
  const reasoning = countOf(usage["thoughtsTokenCount"])
  const candidates = countOf(usage["candidatesTokenCount"])
  const completion = candidates === null ? null : sumFrom(candidates, reasoning)
  return {
    tokens: {
      prompt,
      completion,
      total: countOf(usage["totalTokenCount"]) ?? sumIfKnown(prompt, completion),
      cache_read: countOf(usage["cachedContentTokenCount"]),
      cache_write: null,
      reasoning,
    },
    cacheWrite5m: null,
    cacheWrite1h: null,
    serviceTier: null,
    billedExtras: {},
    raw,
  }
}
