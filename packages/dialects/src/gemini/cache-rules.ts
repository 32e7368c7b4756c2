import { type Bounds, type CacheRule, exactly } from "../cache/cache-rule.js"

const implicit = (minimumTokens: Bounds, ...models: string[]): CacheRule => ({
  models,
  validFrom: "2025-05-08",
  keeps: "best_effort",
  minimumTokens,
  stepTokens: 1,
  lookbackSegments: null,
  livesMs: { from: 0, to: Number.POSITIVE_INFINITY },
})

/** Implicit caching is not promised: what it serves is counted, what it does not is no finding. */
export const GEMINI_CACHE_RULES: readonly CacheRule[] = [
  // 1,024, 2,048 or 4,096, by the day of the document.
  implicit({ from: 1024, to: 4096 }, "gemini-2.5*"),
  implicit(exactly(4096), "gemini-3*"),
  implicit({ from: 1024, to: 4096 }, "gemini-*"),
]
