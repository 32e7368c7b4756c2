import { BUILT_IN_PRICES, type PriceTable, priceOf } from "@orangebox/dialects"
import { recordedWord, safeLine } from "@orangebox/text"
import type { StepView } from "./run-view.js"

/** What calls cost, as far as anybody knows. Unknown is not zero: calls without a price are counted, not added. */
export interface Money {
  /** US dollars of the calls that have a price; null when none has. */
  readonly usd: number | null
  readonly pricedCalls: number
  readonly unpricedCalls: number
  /** Why calls have no price, most frequent first. */
  readonly unknown: readonly string[]
  /** Models with calls that would have a price if the table had one, most used first. */
  readonly unlistedModels: readonly string[]
  /** The day the prices were last checked. */
  readonly tableVersion: string
  readonly tableSource: string
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

type StepPrice = Pick<ReturnType<typeof priceOf>, "usd" | "unknown" | "unlisted">

function priceStep(step: StepView, table: PriceTable): StepPrice {
  const model = step.model!
  return priceOf(
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
}

function sum(prices: readonly StepPrice[], table: PriceTable): Money {
  const known = prices.filter((price) => price.usd !== null)
  return {
    usd: known.length === 0 ? null : known.reduce((total, price) => total + price.usd!, 0),
    pricedCalls: known.length,
    unpricedCalls: prices.length - known.length,
    unknown: mostFrequentFirst(prices.map(({ unknown }) => unknown)),
    unlistedModels: mostFrequentFirst(prices.map(({ unlisted }) => unlisted)),
    tableVersion: table.version,
    tableSource: table.source,
  }
}

function mostFrequentFirst(words: readonly (string | null)[]): string[] {
  const counts = new Map<string, number>()
  for (const word of words) if (word !== null) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word)
}

/** `$0.21`, `$0.0042`, or with `+ 2 calls unpriced`; empty when nothing has a price. */
export function moneyWords(money: Money): string {
  if (money.usd === null) return ""
  const dollars = money.usd >= 0.1 ? money.usd.toFixed(2) : money.usd === 0 ? "0" : money.usd.toPrecision(2)
  const rest = money.unpricedCalls === 0 ? "" : ` + ${money.unpricedCalls} unpriced`
  return `$${dollars}${rest}`
}

/** The same with the day of the prices behind it, and for models without one the line that would give them a price, to be filled in. */
export function moneyDetail(money: Money): string[] {
  const { unlistedModels, unknown, tableVersion } = money
  const names = unlistedModels.map((model) => recordedWord(model, 60))
  const why =
    names.length > 0 ? `no price for ${names.join(", ")}` : unknown.map((reason) => safeLine(reason)).join("; ")
  const sum = moneyWords(money) || "unknown"
  const entries = names.map((model) => `{ "model": ${JSON.stringify(model)}, "input": …, "output": … }`)
  return [
    `${[sum, why].filter((part) => part !== "").join(": ")} (prices of ${tableVersion})`,
    ...(entries.length > 0 ? [`add to orangebox.config.json: "prices": [${entries.join(", ")}]`] : []),
  ]
}
