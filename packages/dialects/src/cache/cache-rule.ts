/** How a provider caches prompts for some of its models, as far as its documents and measurements say. */
export interface CacheRule {
  /** Names of models; `*` at the end stands for the rest of a name. A dated snapshot of a model follows its rule. */
  readonly models: readonly string[]
  /** The first day this was known to hold (UTC). */
  readonly validFrom: string
  /**
   * `marked`: a prefix is kept where the request sets a mark. `automatic`: the longest prefix is kept whatever the request says.
   * `best_effort`: the same without any promise, so that a miss says nothing.
   */
  readonly keeps: "marked" | "automatic" | "best_effort"
  /** Shorter prefixes are not kept. */
  readonly minimumTokens: Bounds
  /** What is kept is a multiple of this. */
  readonly stepTokens: number
  /** So many segments before a mark are tried. */
  readonly lookbackSegments: number | null
  /** How long a prefix lives after its last use, in milliseconds. */
  readonly livesMs: Bounds
  /** The same for marks that name a time. */
  readonly livesByTtl?: Readonly<Record<string, number>>
}

/** Where sources disagree both bounds stay, and what lies between them is not known. */
export interface Bounds {
  readonly from: number
  readonly to: number
}

export interface CacheRules {
  /** The day they were last checked; an audit names the rules it went by. */
  readonly version: string
  readonly source: string
  readonly entries: readonly CacheRule[]
}

/**
 * For a model that no rule names, behind a server that says what it kept where a mark asked for it: its own figures tell what it could have
 * served, and nothing is known of what it needs or how long it keeps.
 */
export const MARKED_UNNAMED: CacheRule = {
  models: [],
  validFrom: "1970-01-01",
  keeps: "marked",
  minimumTokens: { from: 0, to: Number.POSITIVE_INFINITY },
  stepTokens: 1,
  lookbackSegments: null,
  livesMs: { from: 0, to: Number.POSITIVE_INFINITY },
}

export const exactly = (value: number): Bounds => ({ from: value, to: value })

/** A user's entries come before all built-in ones, and the version says so. */
export function withCacheRules(rules: CacheRules, own: readonly CacheRule[]): CacheRules {
  if (own.length === 0) return rules
  return {
    version: `${rules.version}+user`,
    source: `${rules.source}; and your configuration`,
    entries: [...own, ...rules.entries],
  }
}

/**
 * The rule in force for a model at a time: the first that names it, of those that had begun; a name in full before a pattern.
 *
 * @example
 * cacheRuleOf(BUILT_IN_CACHE_RULES, "claude-opus-5", Date.now())?.minimumTokens // { from: 512, to: 512 }
 */
export function cacheRuleOf({ entries }: CacheRules, model: string, atMs: number): CacheRule | undefined {
  const name = model.replace(VENDOR, "").replace(SNAPSHOT, "")
  const begun = entries.filter(({ validFrom }) => Date.parse(validFrom) <= atMs)
  return begun.find(({ models }) => models.includes(name)) ?? begun.find(({ models }) => models.some(covers(name)))
}

const covers =
  (name: string) =>
  (pattern: string): boolean =>
    pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1))

/** Gateways write the vendor in front of the name, clouds a region and a version around it. */
const VENDOR = /^(?:(?:[a-z]{2,6}\.)?anthropic[./]|openai\/|models\/|google\/|gemini\/)/
const SNAPSHOT = /(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest))?(?:-v\d+(?::\d+)?)?$/
