import { BUILT_IN_PRICES, type PriceTable, priceOf } from "@orangebox/dialects"
import type { StepView } from "./run-view.js"

/** What calls cost, as far as anybody knows. Unknown is not zero: calls without a price are counted, not added. */
export interface Money {
  /** US dollars of the calls that have a price; null when none has. */
  readonly usd: number | null
  readonly pricedCalls: number
  readonly unpricedCalls: number
  /** Why calls have no price, most frequent first. */
  readonly unknown: readonly string[]
  readonly tableVersion: string
}

export interface RunMoney extends Money {
  readonly steps: ReadonlyMap<number, { readonly usd: number | null; readonly unknown: string | null }>
  /** By lane; calls outside any lane are under the empty name. */
  readonly lanes: ReadonlyMap<string, Money>
}

/** What each model call of a run cost, by a versioned price table, and what they cost together. */
export function priceSteps(all: readonly StepView[], table: PriceTable = BUILT_IN_PRICES): RunMoney {
  const steps = new Map<number, { usd: number | null; unknown: string | null }>()
  const lanes = new Map<string, StepPrice[]>()
  const prices: StepPrice[] = []
  for (const step of all) {
    // A call carries the answer of its last attempt; counting attempts too would bill the answer twice.
    if (!step.model || step.attemptNo !== undefined) continue
    const price = priceStep(step, table)
    steps.set(step.n, price)
    prices.push(price)
    const lane = step.opened?.lane_id ?? ""
    lanes.set(lane, [...(lanes.get(lane) ?? []), price])
  }
  return {
    ...sum(prices, table),
    steps,
    lanes: new Map([...lanes].map(([lane, ofLane]) => [lane, sum(ofLane, table)])),
  }
}

interface StepPrice {
  readonly usd: number | null
  readonly unknown: string | null
}

function priceStep(step: StepView, table: PriceTable): StepPrice {
  const model = step.model!
  const { usd, unknown } = priceOf(
    {
      tokens: {
        prompt: model.inputTokens ?? null,
        completion: model.outputTokens ?? null,
        total: null,
        cache_read: model.cacheReadTokens ?? null,
        cache_write: model.cacheWriteTokens ?? null,
      },
      cacheWrite5m: null,
      cacheWrite1h: model.cacheWrite1hTokens ?? null,
      serviceTier: model.serviceTier ?? null,
      billedExtras: {},
      raw: null,
    },
    model.modelId ?? null,
    step.opened ? Date.parse(step.opened.timestamp_utc) : Number.NaN,
    table,
  )
  return { usd, unknown }
}

function sum(prices: readonly StepPrice[], table: PriceTable): Money {
  const known = prices.filter((price) => price.usd !== null)
  const reasons = new Map<string, number>()
  for (const { unknown } of prices) if (unknown !== null) reasons.set(unknown, (reasons.get(unknown) ?? 0) + 1)
  return {
    usd: known.length === 0 ? null : known.reduce((total, price) => total + price.usd!, 0),
    pricedCalls: known.length,
    unpricedCalls: prices.length - known.length,
    unknown: [...reasons].sort((a, b) => b[1] - a[1]).map(([reason]) => reason),
    tableVersion: table.version,
  }
}

/** `$0.21`, `$0.0042`, or with `+ 2 calls unpriced`; empty when nothing has a price. */
export function moneyWords(money: Money): string {
  if (money.usd === null) return ""
  const dollars = money.usd >= 0.1 ? money.usd.toFixed(2) : money.usd === 0 ? "0" : money.usd.toPrecision(2)
  const rest = money.unpricedCalls === 0 ? "" : ` + ${money.unpricedCalls} unpriced`
  return `$${dollars}${rest}`
}
