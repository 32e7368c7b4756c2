import { type CacheRule, exactly } from "../cache/cache-rule.js"

const MINUTE_MS = 60_000

const KEPT_AUTOMATICALLY = {
  validFrom: "2024-10-01",
  keeps: "automatic",
  minimumTokens: exactly(1024),
  stepTokens: 128,
  lookbackSegments: null,
  // Five to ten minutes without use, never more than an hour; longer where the request asks for it.
  livesMs: { from: 5 * MINUTE_MS, to: 60 * MINUTE_MS },
} as const

const SINCE_BREAKPOINTS = ["gpt-5.6*", "gpt-6*", "gpt-7*"]

/** Until 5.6 the longest prefix, found by its first 256 tokens and the cache key; since then at breakpoints, of which the last 80 are tried. */
export const OPENAI_CACHE_RULES: readonly CacheRule[] = [
  {
    models: SINCE_BREAKPOINTS,
    validFrom: "2026-09-01",
    keeps: "automatic",
    minimumTokens: exactly(1024),
    stepTokens: 1,
    lookbackSegments: 80,
    livesMs: { from: 30 * MINUTE_MS, to: 24 * 60 * MINUTE_MS },
  },
  { models: ["gpt-*", "o1*", "o3*", "o4*", "codex-*", "chatgpt-*"], ...KEPT_AUTOMATICALLY },
]
