import { countIn, payloadOf } from "@orangebox/contract"
import type { CallAudit } from "../cache/audit-cache.js"
import type { RunView } from "../run-view.js"
import { bandsOf } from "./bands.js"
import { type AgainWhy, againWhy, breakOf, droppedOf, paidOf } from "./breaks.js"
import { mergeBands } from "./merge-bands.js"
import { columnsOfCalls } from "./pieces.js"

/** The calls of the main lane are those outside any, or those of the lane that the first call is in. */
export interface StrataAsked {
  readonly lane?: string
}

export type Strata = ReturnType<typeof strataJson>

/**
 * What the model saw, call by call: every piece of every prompt of a lane at its place, what was paid for it, and what broke the prefix.
 * `audits` are those of the run, in order.
 */
export function strataJson(view: RunView, audits: readonly CallAudit[], { lane }: StrataAsked = {}) {
  const own = audits.filter(({ call }) => !call.context.isAuxiliary)
  const laneOf = ({ call }: CallAudit): string => call.lane ?? ""
  const wanted = lane ?? (own[0] === undefined ? "" : laneOf(own[0]))
  const inLane = own.filter((audit) => laneOf(audit) === wanted)
  const { pieces, columns } = columnsOfCalls(inLane.map(({ call }) => call))
  const { bands, total, isMerged } = mergeBands(bandsOf(columns), pieces)
  const calls = columns.map((column, at) => {
    const { call, tokens, countedBy } = column
    const before = columns[at - 1]
    const paid = paidOf(column, before)
    const why = (paid.again ?? 0) > 0 ? againWhy(inLane[at]!, column, before, pieces) : undefined
    return {
      n: call.n,
      tokens,
      prompt_tokens: call.prompt,
      counted_by: call.segments === undefined ? null : countedBy,
      output_tokens: call.context.step.model?.outputTokens ?? null,
      cache_read: call.read,
      // A provider that counts what it read in steps says where its cache ended only about.
      cache_read_step: inLane[at]!.stepTokens,
      cache_write: call.written,
      cached: paid.cached,
      again: paid.again,
      fresh: paid.fresh,
      again_why: why ?? null,
      // What the application allowed itself, and how many items it left out, where it says so.
      token_budget: countIn(payloadOf(call.context.told), "token_budget") ?? null,
      excluded: countIn(payloadOf(call.context.told), "excluded_count") ?? null,
      usd: view.money.steps.get(call.n)?.usd ?? null,
      broke: breakOf(column, before) ?? null,
      dropped: droppedOf(column, before) ?? null,
      // What the provider holds for a conversation is in no request: a block of unknown height.
      held_by_provider: textOrNull(call.context.step.attributes["context_held_by_provider"]),
      lost_usd: inLane[at]!.lostUsd,
      status: call.context.step.status,
    }
  })
  return {
    lane: wanted,
    lanes: lanesOf(own.map(laneOf)),
    calls,
    pieces: pieces.map(({ hash, kind, contributor, label, isError }) => ({
      ...{ hash, kind, contributor, label, is_error: isError },
    })),
    bands: bands.map(({ piece, from, to, offset, tokens }) => [piece, from, to, offset, tokens]),
    total_bands: total,
    merged: isMerged,
    again: againOf(calls),
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)

function lanesOf(lanes: readonly string[]): readonly { readonly lane: string; readonly calls: number }[] {
  const counts = new Map<string, number>()
  for (const lane of lanes) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  return [...counts].map(([lane, calls]) => ({ lane, calls }))
}

/** All that was sent again at full price, with the reasons in the order of what they cost; null where nothing was. */
function againOf(
  calls: readonly {
    readonly n: number
    readonly tokens: number
    readonly again: number | null
    readonly again_why: AgainWhy | null
  }[],
) {
  const paying = calls.flatMap(({ n, again, again_why }) =>
    again === null || again === 0 ? [] : [{ n, again, why: again_why! }],
  )
  if (paying.length === 0) return null
  const tokens = paying.reduce((sum, { again }) => sum + again, 0)
  const of = calls.reduce((sum, call) => sum + (call.again === null ? 0 : call.tokens), 0)
  const reasons = new Map<string, { cause: string; words: string; tokens: number; calls: number[] }>()
  for (const { n, again, why } of paying) {
    const { cause, words } = why
    const known = reasons.get(`${cause}\0${words}`) ?? { cause, words, tokens: 0, calls: [] }
    reasons.set(`${cause}\0${words}`, { cause, words, tokens: known.tokens + again, calls: [...known.calls, n] })
  }
  const why = [...reasons.values()].sort((a, b) => b.tokens - a.tokens)
  return {
    tokens,
    of,
    calls: paying.map(({ n }) => n),
    why,
    says: `${tokens.toLocaleString("en-US")} tokens sent again at full price: ${why.map(({ words }) => words).join("; ")}`,
  }
}
