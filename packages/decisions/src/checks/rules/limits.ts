import { BUILT_IN_PRICES, priceOf } from "@orangebox/dialects"
import type { ModelUse } from "../../action.js"
import { type Answer, type CheckContext, defineRule, oneNumber } from "../rule.js"

export const costMax = defineRule({
  name: "cost.max",
  form: "cost.max <US dollars>",
  about: "The model calls of the run cost no more than this",
  example: "cost.max 2.50",
  concerns: ["alignment", "policy"],
  judged: "end",
  read: (text) => oneNumber(text, "the amount in US dollars"),
  onRun: ({ limit }, run, _, context) => judgeCost(limit, run.modelCalls, context),
})

export const stepsMax = defineRule({
  name: "steps.max",
  form: "steps.max <number>",
  about: "The run has no more steps than this",
  example: "steps.max 200",
  concerns: ["alignment", "policy"],
  judged: "end",
  read: (text) => oneNumber(text, "the number of steps"),
  onRun: ({ limit }, run) => {
    if (run.stepCount <= limit) return { findings: [] }
    const message = `the run has ${run.stepCount} steps, ${run.stepCount - limit} more than allowed`
    return { findings: [{ certainty: "sure", message, excerpt: null, pointers: [] }] }
  },
})

function judgeCost(limit: number, calls: readonly ModelUse[], context: CheckContext): Answer {
  let usd = 0
  let unknown: string | undefined
  let over: ModelUse | undefined
  for (const call of calls) {
    const price = priceOfCall(call, context)
    if (price.usd === null)
      unknown ??= `what a call of ${call.modelId ?? "an unnamed model"} cost is not known: ${price.unknown}`
    else usd += price.usd
    if (usd > limit) over ??= call
  }
  // What is known is a lower bound: above the limit it is a breach, below it proves nothing while a part is unknown.
  if (over === undefined) return { findings: [], unknown }
  const message = `the run cost at least $${usd.toFixed(4)}, more than the $${limit} allowed`
  return {
    findings: [{ certainty: "sure", message, excerpt: null, pointers: [{ stepId: over.stepId, ref: null }] }],
    unknown,
  }
}

function priceOfCall(call: ModelUse, context: CheckContext): { usd: number | null; unknown: string | null } {
  if (call.usage === null) return { usd: null, unknown: "the provider reported no token counts" }
  const usage = {
    tokens: call.usage,
    serviceTier: call.serviceTier,
    cacheWrite5m: null,
    cacheWrite1h: call.cacheWrite1hTokens,
    billedExtras: {},
    raw: null,
  }
  return priceOf(usage, call.modelId, Date.parse(call.at), context.prices ?? BUILT_IN_PRICES)
}
