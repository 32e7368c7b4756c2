import { type Bounds, type CacheRule, exactly } from "../cache/cache-rule.js"

const MINUTE_MS = 60_000

const marked = (minimumTokens: Bounds, ...models: string[]): CacheRule => ({
  models,
  validFrom: "2024-08-14",
  keeps: "marked",
  minimumTokens,
  stepTokens: 1,
  lookbackSegments: 20,
  livesMs: exactly(5 * MINUTE_MS),
  livesByTtl: { "5m": 5 * MINUTE_MS, "1h": 60 * MINUTE_MS },
})

/** At most four marks, each of which looks back twenty blocks; what is read lives on. */
export const ANTHROPIC_CACHE_RULES: readonly CacheRule[] = [
  marked(exactly(512), "claude-opus-5", "claude-fable-5", "claude-mythos-5"),
  marked(
    exactly(1024),
    "claude-sonnet-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4",
    "claude-3-7-sonnet",
    "claude-3-5-sonnet",
    "claude-opus-4-8",
    "claude-opus-4-1",
    "claude-opus-4-0",
    "claude-opus-4",
  ),
  // The documents say 1,024; calls with fewer than 2,048 were seen to write nothing.
  marked({ from: 1024, to: 2048 }, "claude-sonnet-4-6"),
  // On Bedrock it is 4,096.
  marked({ from: 2048, to: 4096 }, "claude-opus-4-7"),
  marked(exactly(2048), "claude-3-5-haiku", "claude-3-haiku"),
  marked(exactly(4096), "claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5"),
  marked({ from: 512, to: 4096 }, "claude-*"),
]
