import type { BodyHash } from "@orangebox/contract"
import type { OutlinedRequest } from "../request/read-request.js"
import { goesOnFromSummary } from "./compaction.js"
import { recall } from "./digest-map.js"
import { findDelegation, findQuoted, firstUserTexts, looksLikeSummary } from "./evidence.js"
import type { CallPlaced, Certainty, HistoryChanged, LaneStarted, PromptChanged } from "./facts.js"
import { agentHintOf } from "./hints.js"
import { type Chain, isSameAgent, type Location, laneKey, locate, ownerOfContext } from "./locate.js"
import type { RequestObserved } from "./observation.js"
import type { Attempt, Lane, WireState } from "./state.js"

export type Head = Pick<Lane, "system" | "tools" | "agentHint">

/** Where a call stands among the others. */
export interface Spot {
  readonly lane: string
  readonly follows: string | null
  readonly followsBy: CallPlaced["followsBy"]
  readonly known: number
  readonly started?: LaneStarted
  readonly changes: readonly (HistoryChanged | PromptChanged)[]
}

/** An attempt stands where the one before it stood. */
export const sameSpot = (attempt: Attempt, known: number): Spot => ({
  lane: attempt.lane,
  follows: attempt.follows,
  followsBy: attempt.follows === null ? null : "messages",
  known,
  changes: [],
})

export function findSpot(
  state: WireState,
  request: RequestObserved,
  outlined: OutlinedRequest,
  chain: Chain,
  head: Head,
): Spot {
  const isCompacted = ownerOfContext(state, outlined, "compaction") !== undefined
  const location = locate(state, outlined, chain, head.system)
  if (location === undefined || (isCompacted && location.known === 0))
    return newLane(state, request, outlined, head.system)
  const { owner, known } = location
  // Exactly the question of an earlier call: its sibling, not its successor.
  if (known === chain.atoms.length && known === owner.requestLength && location.by === "messages") {
    return owner.follows === null
      ? begin(request.call, "repeat", null, "certain")
      : { lane: owner.lane, follows: owner.follows, followsBy: "messages", known, changes: [] }
  }
  const lane = recall(state.lanes, laneKey(owner.lane))
  if (lane && head.agentHint !== null && lane.agentHint !== head.agentHint) {
    return begin(request.call, "sub_agent", { call: owner.call, toolCallId: null, tool: "?" }, "likely")
  }
  return {
    lane: owner.lane,
    follows: owner.call,
    followsBy: location.by,
    known,
    changes: changesOf(location, lane, head),
  }
}

function changesOf({ owner, rewritten, truncated }: Location, lane: Lane | undefined, head: Head): Spot["changes"] {
  const changes: (HistoryChanged | PromptChanged)[] = []
  if (rewritten || truncated) {
    changes.push({
      fact: "history_changed",
      lane: owner.lane,
      why: truncated ? "truncation" : "rewritten",
      from: { lane: owner.lane, call: owner.call },
      certainty: "likely",
    })
  }
  const what = lane ? (["system", "tools"] as const).filter((part) => lane[part] !== head[part]) : []
  if (what.length > 0) changes.push({ fact: "prompt_changed", lane: owner.lane, what })
  return changes
}

function newLane(state: WireState, request: RequestObserved, outlined: OutlinedRequest, system: BodyHash): Spot {
  const texts = firstUserTexts(outlined)
  const delegation = findDelegation(texts, state.pendingTools)
  if (delegation) {
    const spawnedBy = { call: delegation.call, toolCallId: delegation.id, tool: delegation.tool }
    return begin(request.call, "sub_agent", spawnedBy, "likely")
  }
  const compacted = findCompacted(state, outlined, texts, system)
  if (compacted) {
    const { from, certainty } = compacted
    const change: HistoryChanged = { fact: "history_changed", lane: request.call, why: "compaction", from, certainty }
    const spot = begin(request.call, "compaction", null, certainty)
    return { ...spot, follows: from.call, followsBy: "summary", changes: [change] }
  }
  if (agentHintOf(request) !== null && state.laneCount > 0) return begin(request.call, "sub_agent", null, "likely")
  const spot = begin(request.call, state.laneCount === 0 ? "first" : "separate", null, "certain")
  if (!goesOnFromSummary(texts)) return spot
  // What was summed up went on elsewhere: in an earlier process, or before anybody listened.
  const from = { lane: request.call, call: null }
  return {
    ...spot,
    changes: [{ fact: "history_changed", lane: request.call, why: "compaction", from, certainty: "likely" }],
  }
}

/**
 * The call whose answer a new chain sums up. The provider's own mark is proof. So is a long quote of an answer that the same agent gave;
 * a quote of a lone call (some harnesses have another prompt write the summary), or the mere words of a summary, are only likely.
 */
function findCompacted(
  state: WireState,
  outlined: OutlinedRequest,
  texts: readonly string[],
  system: BodyHash,
): { readonly from: { readonly lane: string; readonly call: string }; readonly certainty: Certainty } | undefined {
  const marked = ownerOfContext(state, outlined, "compaction")
  if (marked) return { from: { lane: marked.lane, call: marked.call }, certainty: "certain" }
  const ofSameAgent = state.recentAnswers.filter(({ lane }) => isSameAgent(state, lane, system))
  const quoted = findQuoted(texts, ofSameAgent)
  if (quoted) return { from: { lane: quoted.lane, call: quoted.call }, certainty: "certain" }
  const fromLone = findQuoted(
    texts,
    state.recentAnswers.filter(({ lane }) => state.loneLanes.includes(lane)),
  )
  const likely = fromLone ?? (looksLikeSummary(texts) ? ofSameAgent.at(-1) : undefined)
  return likely && { from: { lane: likely.lane, call: likely.call }, certainty: "likely" }
}

function begin(
  call: string,
  reason: LaneStarted["reason"],
  spawnedBy: LaneStarted["spawnedBy"],
  certainty: LaneStarted["certainty"],
): Spot {
  const started: LaneStarted = { fact: "lane_started", lane: call, reason, spawnedBy, certainty }
  return { lane: call, follows: null, followsBy: null, known: 0, started, changes: [] }
}
