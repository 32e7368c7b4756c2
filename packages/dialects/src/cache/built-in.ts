import { DIALECTS } from "../dialects.js"
import type { CacheRules } from "./cache-rule.js"

/** What every dialect here knows about its provider's cache. */
export const BUILT_IN_CACHE_RULES: CacheRules = {
  version: "2026-11-18",
  source: "the providers' documents, and recorded calls where these disagree",
  entries: [...new Set(DIALECTS.flatMap(({ cacheRules }) => cacheRules))],
}
