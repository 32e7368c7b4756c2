import { OrangeboxError } from "@orangebox/contract"

/** How a context window is divided. The form that stands in the bundle; `tokenBudget` makes one. */
export interface TokenBudget {
  /** The whole window: prompt and answer. */
  readonly ctx_max_tokens: number
  /** Held free for tier 0 whatever it needs; tier 0 may take more, and then the other tiers shrink. */
  readonly tier0_reserved: number
  readonly tier1_cap: number
  /** First part of tier 2. */
  readonly history_cap: number
  /** Second part of tier 2. */
  readonly telemetry_cap: number
  /** Never touched by the prompt. */
  readonly generation_reserve_tokens: number
}

export interface TokenBudgetOptions {
  readonly ctxMaxTokens?: number
  readonly tier0Reserved?: number
  readonly tier1Cap?: number
  readonly historyCap?: number
  readonly telemetryCap?: number
  readonly generationReserveTokens?: number
}

const DEFAULTS: Required<TokenBudgetOptions> = {
  ctxMaxTokens: 32_768,
  tier0Reserved: 1_200,
  tier1Cap: 3_000,
  historyCap: 6_000,
  telemetryCap: 3_000,
  generationReserveTokens: 2_000,
}

/** Both spellings of a budget: the options, and the form that stands in a bundle and that `tokenBudget` itself gives. */
const SPELLINGS: ReadonlyMap<string, keyof TokenBudgetOptions> = new Map<keyof TokenBudget, keyof TokenBudgetOptions>([
  ["ctx_max_tokens", "ctxMaxTokens"],
  ["tier0_reserved", "tier0Reserved"],
  ["tier1_cap", "tier1Cap"],
  ["history_cap", "historyCap"],
  ["telemetry_cap", "telemetryCap"],
  ["generation_reserve_tokens", "generationReserveTokens"],
])

/** The default budget of a 32K window, with overrides. Throws where the numbers cannot hold together. */
export function tokenBudget(options: TokenBudgetOptions | TokenBudget = {}): TokenBudget {
  const all = { ...DEFAULTS, ...definedOnly(options) }
  for (const [name, value] of Object.entries(all)) {
    if (!Object.hasOwn(DEFAULTS, name)) throw impossible(name, "is not part of a token budget")
    if (!Number.isSafeInteger(value) || value < 0) throw impossible(name, `is ${String(value)}`)
  }
  const { ctxMaxTokens, tier0Reserved, generationReserveTokens } = all
  if (generationReserveTokens >= ctxMaxTokens) {
    throw impossible(
      "generationReserveTokens",
      `is ${generationReserveTokens} and leaves no room for a prompt in a window of ${ctxMaxTokens}`,
    )
  }
  if (tier0Reserved + generationReserveTokens > ctxMaxTokens) {
    throw impossible(
      "tier0Reserved",
      `is ${tier0Reserved} and with a generation reserve of ${generationReserveTokens} exceeds the window of ${ctxMaxTokens}`,
    )
  }
  return Object.freeze({
    ctx_max_tokens: ctxMaxTokens,
    tier0_reserved: tier0Reserved,
    tier1_cap: all.tier1Cap,
    history_cap: all.historyCap,
    telemetry_cap: all.telemetryCap,
    generation_reserve_tokens: generationReserveTokens,
  })
}

/** What no tier and no reserve lays claim to: 17,568 with the defaults. Zero where the caps together overbook the window. */
export function headroomTokens(budget: TokenBudget): number {
  const { ctx_max_tokens, tier0_reserved, tier1_cap, history_cap, telemetry_cap, generation_reserve_tokens } = budget
  return Math.max(
    0,
    ctx_max_tokens - tier0_reserved - tier1_cap - history_cap - telemetry_cap - generation_reserve_tokens,
  )
}

const definedOnly = (options: TokenBudgetOptions | TokenBudget): TokenBudgetOptions =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [SPELLINGS.get(name) ?? name, value]),
  )

const impossible = (field: string, why: string): OrangeboxError =>
  new OrangeboxError("CONTEXT_BUDGET", {
    what: `budgets.${field} ${why}`,
    where: `budgets.${field}`,
    next: "Give whole numbers of tokens, with room for tier 0 beside the generation reserve",
  })
