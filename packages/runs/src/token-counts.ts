import { countIn, type LoosePayload, recordIn } from "@orangebox/contract"
import type { FoldedStep } from "./folded-step.js"

/** Null is unknown; a sum is null until something was known. */
export interface TokenCounts {
  prompt: number | null
  completion: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
}

const TOKEN_FIELDS = ["prompt", "completion", "cacheRead", "cacheWrite", "reasoning"] as const

export const noTokens = (): TokenCounts => ({
  prompt: null,
  completion: null,
  cacheRead: null,
  cacheWrite: null,
  reasoning: null,
})

/** Unknown is not zero: a sum is null until something was known. */
function addTokens(sum: TokenCounts, tokens: TokenCounts): void {
  for (const field of TOKEN_FIELDS) {
    const value = tokens[field]
    if (value !== null) sum[field] = (sum[field] ?? 0) + value
  }
}

export const hasUsage = ({ prompt, completion }: TokenCounts): boolean => prompt !== null || completion !== null

export function usageIn(payload: LoosePayload): TokenCounts {
  const usage = recordIn(payload, "token_usage")
  return {
    prompt: countIn(usage, "prompt") ?? null,
    completion: countIn(usage, "completion") ?? null,
    cacheRead: countIn(usage, "cache_read") ?? null,
    cacheWrite: countIn(usage, "cache_write") ?? null,
    reasoning: countIn(usage, "reasoning") ?? null,
  }
}

/** What the calls of a run used together. A call made of several attempts repeats their usage, so it counts once, at the call. */
export class UsedTokens<Mark> {
  /** Usage of the calls that ended. */
  readonly #settled: TokenCounts
  /** Calls without an end that have the usage of an attempt so far. */
  readonly #borrowing = new Set<FoldedStep<Mark>>()
  readonly #onChange: (call: FoldedStep<Mark>) => void

  constructor(settled: TokenCounts, onChange: (call: FoldedStep<Mark>) => void) {
    this.#settled = { ...settled }
    this.#onChange = onChange
  }

  /** A model step has ended. */
  take(step: FoldedStep<Mark>): void {
    if (!step.isAttempt) {
      addTokens(this.#settled, step.tokens)
      this.#borrowing.delete(step)
    } else if (hasUsage(step.tokens)) this.#lend(step.parent!, step)
  }

  /** From its parts each time: taking a loan out of a sum could not tell nothing known from none used. */
  sum(): TokenCounts {
    const sum = { ...this.#settled }
    for (const call of this.#borrowing) addTokens(sum, call.tokens)
    return sum
  }

  /** Until a call says what it used, and if it never does, it used what the last of its attempts did that says so. */
  #lend(call: FoldedStep<Mark>, attempt: FoldedStep<Mark>): void {
    if (call.closed !== null) return
    call.tokens = { ...attempt.tokens }
    call.serviceTier = attempt.serviceTier
    call.cacheWrite1h = attempt.cacheWrite1h
    this.#onChange(call)
    if (call.isAttempt) this.#lend(call.parent!, attempt)
    else this.#borrowing.add(call)
  }
}
