import { crc32 } from "node:zlib"
import { type BodyHash, textHash } from "@orangebox/contract"
import type { DetectedDialect } from "../detect-dialect.js"
import type { JsonBody } from "../json/body.js"
import type { PromptPart } from "../request/outline.js"
import { type OutlinedRequest, outlineOf } from "../request/read-request.js"
import { atomsOfRequest, headOf } from "./atoms.js"
import { asksForCompaction } from "./compaction.js"
import { recall, remember } from "./digest-map.js"
import { findQuoted } from "./evidence.js"
import type { CallPlaced, Certainty, ToolAnswered } from "./facts.js"
import { findSpot, type Head, type Spot, sameSpot } from "./find-spot.js"
import { agentHintOf, conversationOf } from "./hints.js"
import { type Chain, callKey, chainOf, laneKey, ownerUnder, withOwner } from "./locate.js"
import type { RequestObserved } from "./observation.js"
import type { Placement } from "./placement.js"
import { sideCallByRequest } from "./side-calls.js"
import {
  type Attempt,
  type Lane,
  MAX_ATTEMPTS,
  MAX_LONE_LANES,
  type PendingTool,
  type PrefixOwner,
  type WireState,
} from "./state.js"
import { turnsUnseen } from "./turns-unseen.js"

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
  const notes = body.notesFor(detected.dialect.id)
  const head = { agentHint: agentHintOf(request), ...headOf(outlined, notes) }
  const chain = chainOf(atomsOfRequest(parts, notes), head)
  const promptKey = textHash(`prompt\0${chain.head}\0${chain.links.at(-1)}`)

  const earlier = recall(state.attempts, promptKey) ?? []
  const retried = retriedBy(request, earlier)
  const spot = retried ? sameSpot(retried, chain.atoms.length) : findSpot(state, request, outlined, chain, head)
  const attempt: Attempt = {
    call: request.call,
    attemptOf: retried?.attemptOf ?? request.call,
    attemptNo: (retried?.attemptNo ?? 0) + 1,
    lane: spot.lane,
    follows: spot.follows,
    checksum: crc32(body.bytes),
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
    retryBecause: retried ? (retried.checksum === attempt.checksum ? "same_bytes" : "same_prompt") : null,
    newParts: chain.atoms.length - spot.known,
  }
  const sideCall = retried ? undefined : sideCallByRequest(outlined)
  const compaction = retried ? undefined : compactionAsked(detected, outlined)
  const conversation = spot.started ? conversationOf(request, outlined) : undefined
  return {
    state: remembered(state, request.call, spot, chain, attempt, promptKey, {
      earlier: earlier.filter((other) => other !== retried && other.outcome !== "answered"),
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
      ...(compaction ? [{ fact: "compaction_asked", lane: spot.lane, certainty: compaction } as const] : []),
      ...tools.answered,
      ...turnsUnseen(state, spot, chain, tools.answered),
    ],
  }
}

function compactionAsked({ endpoint }: DetectedDialect, outlined: OutlinedRequest): Certainty | undefined {
  if (endpoint === "compact") return "certain"
  return asksForCompaction(outlined) ? "likely" : undefined
}

// The same prompt again after a failure is the next attempt, whether the client says so or not; of several that failed, asked at once, each
// is repeated once. After a success, or beside one that is still running, it is a retry only if the client says so: the client may simply
// want a second opinion.
function retriedBy(request: RequestObserved, earlier: readonly Attempt[]): Attempt | undefined {
  const saysSo = Number(request.headers?.["x-stainless-retry-count"] ?? 0) > 0
  return earlier.find(({ outcome }) => outcome === "failed") ?? (saysSo ? earlier.at(-1) : undefined)
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
  promptKey: BodyHash,
  more: {
    readonly earlier: readonly Attempt[]
    readonly lane: Head
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
  const lane: Lane = {
    id: spot.lane,
    firstSystem: before?.firstSystem ?? more.lane.system,
    calls: (before?.calls ?? 0) + (attempt.attemptNo === 1 ? 1 : 0),
    ...more.lane,
  }
  const isLone = spot.started !== undefined && !more.hasTools && !more.isSideCall
  // A proxy that answers a thousand unrelated questions would copy a thousand names for each: only what leaves the list costs a copy.
  const leaves = more.quoted.size > 0 || (spot.started === undefined && state.loneLanes.includes(spot.lane))
  const others = leaves ? state.loneLanes.filter((id) => id !== spot.lane && !more.quoted.has(id)) : state.loneLanes
  return {
    ...state,
    prefixes,
    lanes: remember(state.lanes, laneKey(spot.lane), lane),
    responses: remember(state.responses, callKey(call), owner),
    attempts: remember(state.attempts, promptKey, [...more.earlier, attempt].slice(-MAX_ATTEMPTS)),
    open: [
      ...state.open,
      {
        call,
        lane: spot.lane,
        follows: spot.follows,
        promptKey,
        head: chain.head,
        link: chain.links.at(-1)!,
        requestLength: chain.atoms.length,
      },
    ],
    pendingTools: more.pendingTools,
    loneLanes: isLone ? [...others, spot.lane].slice(-MAX_LONE_LANES) : others,
    laneCount: state.laneCount + (spot.started ? 1 : 0),
    hasAgent: state.hasAgent || more.hasTools || lane.calls > 1,
  }
}

/**
 * The tool results a request brings. Only new ones count, but a pending call may be answered anywhere: a rewritten history moves its
 * results, and an attempt repeated brings nothing new at all.
 */
function answeredTools(
  pending: readonly PendingTool[],
  parts: readonly PromptPart[],
  spot: Spot,
  chain: Chain,
): { readonly answered: readonly ToolAnswered[]; readonly pending: readonly PendingTool[] } {
  const firstNew = chain.atoms[spot.known]?.part ?? (spot.known === 0 ? 0 : Number.POSITIVE_INFINITY)
  const answered: ToolAnswered[] = []
  let rest = pending
  parts.forEach((part, index) => {
    if (part.kind !== "tool-result" || part.role === "assistant") return
    const tool = rest.find((candidate) => answers(part, candidate, spot.lane))
    const isNew = spot.follows !== null && index >= firstNew
    if (tool === undefined && !isNew) return
    if (tool !== undefined) rest = rest.filter((candidate) => candidate !== tool)
    answered.push({
      fact: "tool_answered",
      lane: spot.lane,
      toolCallId: part.callId,
      tool: tool?.tool ?? part.name ?? null,
      calledBy: tool?.call ?? null,
      calledAtMs: tool?.atMs ?? null,
      text: part.text,
      isError: part.isError,
    })
  })
  return { answered, pending: rest }
}

// Gemini's calls have no ids: the oldest unanswered call of that name in the lane is meant.
function answers(part: PromptPart, tool: PendingTool, lane: string): boolean {
  if (tool.lane !== lane) return false
  return part.callId ? tool.id === part.callId : tool.id === null && tool.tool === part.name
}
