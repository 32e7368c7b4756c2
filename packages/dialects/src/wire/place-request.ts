import { bodyHash, textHash } from "@orangebox/contract"
import type { DetectedDialect } from "../detect-dialect.js"
import type { JsonBody } from "../json/body.js"
import type { PromptPart } from "../request/outline.js"
import { type OutlinedRequest, outlineOf } from "../request/read-request.js"
import { atomsOfRequest, headOf } from "./atoms.js"
import { recall, remember } from "./digest-map.js"
import { findDelegation, findQuoted, firstUserTexts, looksLikeSummary } from "./evidence.js"
import type { CallPlaced, HistoryChanged, LaneStarted, PromptChanged } from "./facts.js"
import { agentHintOf, conversationOf } from "./hints.js"
import {
  type Chain,
  callKey,
  chainOf,
  type Location,
  laneKey,
  locate,
  ownerOfContext,
  ownerUnder,
  withOwner,
} from "./locate.js"
import type { RequestObserved } from "./observation.js"
import type { Placement } from "./reduce-wire.js"
import { sideCallByRequest } from "./side-calls.js"
import { type Attempt, type Lane, MAX_LONE_LANES, type PrefixOwner, type WireState } from "./state.js"
import { answeredTools } from "./tool-results.js"

/** A model call finds its lane, its predecessor and its attempt, and brings the results of the tools that were asked for before. */
export function placeRequest(
  state: WireState,
  request: RequestObserved,
  detected: DetectedDialect,
  body: JsonBody,
): Placement {
  const outlined = outlineOf(detected.dialect, body, request.path)?.outlined
  if (outlined === undefined) return { state, facts: [] }
  const { parts } = outlined
  const head = { ...headOf(parts, body.text), agentHint: agentHintOf(request) }
  const chain = chainOf(atomsOfRequest(parts, body.text), head)
  const promptKey = textHash(`prompt\0${chain.head}\0${chain.links.at(-1)}`)

  const earlier = recall(state.attempts, promptKey)
  const retried = earlier && isRetry(earlier, request) ? earlier : undefined
  const spot = retried ? sameSpot(retried, chain.atoms.length) : findSpot(state, request, outlined, chain, head)
  const attempt: Attempt = {
    call: request.call,
    attemptOf: retried?.attemptOf ?? request.call,
    attemptNo: (retried?.attemptNo ?? 0) + 1,
    lane: spot.lane,
    follows: spot.follows,
    body: bodyHash(body.bytes),
    outcome: "open",
  }
  const tools = answeredTools(state.pendingTools, parts, spot, chain)
  const placed: CallPlaced = {
    fact: "call_placed",
    lane: spot.lane,
    follows: spot.follows,
    followsBy: spot.followsBy,
    attemptOf: attempt.attemptOf,
    attemptNo: attempt.attemptNo,
    retryBecause: retried ? (retried.body === attempt.body ? "same_bytes" : "same_prompt") : null,
    newParts: chain.atoms.length - spot.known,
  }
  const sideCall = retried ? undefined : sideCallByRequest(outlined)
  const conversation = spot.started ? conversationOf(request, outlined) : undefined
  return {
    state: remembered(state, request.call, spot, chain, attempt, promptKey, {
      lane: head,
      hasTools: outlined.tools.length > 0,
      isSideCall: sideCall !== undefined,
      pendingTools: tools.pending,
      quoted: quotedLanes(state, newTexts(parts, spot, chain)),
    }),
    facts: [
      ...(spot.started ? [spot.started] : []),
      placed,
      ...spot.changes,
      ...(conversation ? [{ ...conversation, lane: spot.lane }] : []),
      ...(sideCall ? [sideCall] : []),
      ...tools.answered,
    ],
  }
}

// The same prompt again after a failure is the next attempt, whether the client says so or not. After a success, or beside one that is
// still running, it is a retry only if the client says so: somebody may simply want a second opinion.
function isRetry(earlier: Attempt, request: RequestObserved): boolean {
  if (earlier.outcome === "failed") return true
  return Number(request.headers?.["x-stainless-retry-count"] ?? 0) > 0
}

export interface Spot {
  readonly lane: string
  readonly follows: string | null
  readonly followsBy: CallPlaced["followsBy"]
  readonly known: number
  readonly started?: LaneStarted
  readonly changes: readonly (HistoryChanged | PromptChanged)[]
}

const sameSpot = (attempt: Attempt, known: number): Spot => ({
  lane: attempt.lane,
  follows: attempt.follows,
  followsBy: attempt.follows === null ? null : "messages",
  known,
  changes: [],
})

function findSpot(
  state: WireState,
  request: RequestObserved,
  outlined: OutlinedRequest,
  chain: Chain,
  head: Pick<Lane, "system" | "tools" | "agentHint">,
): Spot {
  const isCompacted = ownerOfContext(state, outlined, "compaction") !== undefined
  const location = locate(state, outlined, chain, head.system)
  if (location === undefined || (isCompacted && location.known === 0)) return newLane(state, request, outlined)
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

function changesOf(
  { owner, rewritten, truncated }: Location,
  lane: Lane | undefined,
  head: Pick<Lane, "system" | "tools">,
): Spot["changes"] {
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

function newLane(state: WireState, request: RequestObserved, outlined: OutlinedRequest): Spot {
  const texts = firstUserTexts(outlined)
  const delegation = findDelegation(texts, state.pendingTools)
  if (delegation) {
    const spawnedBy = { call: delegation.call, toolCallId: delegation.id, tool: delegation.tool }
    return begin(request.call, "sub_agent", spawnedBy, "likely")
  }
  const quoted = ownerOfContext(state, outlined, "compaction") ?? findQuoted(texts, state.recentAnswers)
  const summarised = quoted ?? (looksLikeSummary(texts) ? state.recentAnswers.at(-1) : undefined)
  if (summarised) {
    const certainty = quoted ? "certain" : "likely"
    const change: HistoryChanged = {
      fact: "history_changed",
      lane: request.call,
      why: "compaction",
      from: { lane: summarised.lane, call: summarised.call },
      certainty,
    }
    const spot = begin(request.call, "compaction", null, certainty)
    return { ...spot, follows: summarised.call, followsBy: "summary", changes: [change] }
  }
  if (agentHintOf(request) !== null && state.laneCount > 0) return begin(request.call, "sub_agent", null, "likely")
  return begin(request.call, state.laneCount === 0 ? "first" : "separate", null, "certain")
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

function newTexts(parts: readonly PromptPart[], spot: Spot, chain: Chain): string[] {
  return chain.atoms.slice(spot.known).flatMap((atom) => parts[atom.part]?.text ?? [])
}

/** Lanes of a single call whose answer turns up in another lane: they were part of the work after all. */
function quotedLanes(state: WireState, texts: readonly string[]): ReadonlySet<string> {
  const lone = state.recentAnswers.filter(({ lane }) => state.loneLanes.includes(lane))
  return new Set(lone.filter((answer) => findQuoted(texts, [answer])).map(({ lane }) => lane))
}

function remembered(
  state: WireState,
  call: string,
  spot: Spot,
  chain: Chain,
  attempt: Attempt,
  promptKey: Attempt["body"],
  more: {
    readonly lane: Pick<Lane, "system" | "tools" | "agentHint">
    readonly hasTools: boolean
    readonly isSideCall: boolean
    readonly pendingTools: WireState["pendingTools"]
    readonly quoted: ReadonlySet<string>
  },
): WireState {
  const owner: PrefixOwner = {
    head: chain.head,
    call,
    lane: spot.lane,
    follows: spot.follows,
    requestLength: chain.atoms.length,
  }
  let { prefixes } = state
  for (let length = chain.atoms.length; length > 0; length--) {
    // From the end backwards, up to what is known already: the first to complete a prefix owns it.
    if (ownerUnder(prefixes, chain.links[length]!, chain.head) !== undefined) break
    prefixes = withOwner(prefixes, chain.links[length]!, owner)
  }
  const before = recall(state.lanes, laneKey(spot.lane))
  const lane: Lane = { ...more.lane, id: spot.lane, calls: (before?.calls ?? 0) + (attempt.attemptNo === 1 ? 1 : 0) }
  const isLone = spot.started !== undefined && !more.hasTools && !more.isSideCall
  const others = state.loneLanes.filter((id) => id !== spot.lane && !more.quoted.has(id))
  return {
    ...state,
    prefixes,
    lanes: remember(state.lanes, laneKey(spot.lane), lane),
    responses: remember(state.responses, callKey(call), owner),
    attempts: remember(state.attempts, promptKey, attempt),
    open: new Map(state.open).set(call, {
      lane: spot.lane,
      follows: spot.follows,
      promptKey,
      head: chain.head,
      link: chain.links.at(-1)!,
      requestLength: chain.atoms.length,
    }),
    pendingTools: more.pendingTools,
    loneLanes: isLone ? [...others, spot.lane].slice(-MAX_LONE_LANES) : others,
    laneCount: state.laneCount + (spot.started ? 1 : 0),
    hasAgent: state.hasAgent || more.hasTools || lane.calls > 1,
  }
}
