import { type BodyHash, textHash } from "@orangebox/contract"
import type { OutlinedRequest } from "../request/read-request.js"
import { answerKey, nextLinkNoted, type RequestAtom } from "./atoms.js"
import { recall, remember } from "./digest-map.js"
import type { CallPlaced } from "./facts.js"
import type { PrefixOwner, WireState } from "./state.js"

/** The rolling hashes of one request: `links[n]` stands for its first n atoms. */
export interface Chain {
  readonly atoms: readonly RequestAtom[]
  readonly links: readonly BodyHash[]
  readonly head: BodyHash
}

export function chainOf(
  atoms: readonly RequestAtom[],
  head: { readonly system: BodyHash; readonly tools: BodyHash },
): Chain {
  const links = [EMPTY_CONVERSATION]
  for (const atom of atoms) links.push(nextLinkNoted(links.at(-1)!, atom))
  return { atoms, links, head: textHash(`head\0${head.system}\0${head.tools}`) }
}

const EMPTY_CONVERSATION = textHash("conversation")
// More heads than this over one conversation are more than anybody distinguishes; the newest are kept.
const MAX_OWNERS = 8

type Prefixes = WireState["prefixes"]

export function ownerUnder(prefixes: Prefixes, link: BodyHash, head: BodyHash): PrefixOwner | undefined {
  return recall(prefixes, link)?.find((owner) => owner.head === head)
}

export function withOwner(prefixes: Prefixes, link: BodyHash, owner: PrefixOwner): Prefixes {
  const others = recall(prefixes, link)?.filter(({ head }) => head !== owner.head) ?? []
  return remember(prefixes, link, [...others, owner].slice(-MAX_OWNERS))
}

export interface Location {
  readonly owner: PrefixOwner
  readonly by: Exclude<CallPlaced["followsBy"], "summary" | null>
  /** How many atoms of this request were known. */
  readonly known: number
  /** The longest known prefix ends before the call that is followed did: something in between was rewritten. */
  readonly rewritten: boolean
  /** The beginning is gone, only later answers are known. */
  readonly truncated: boolean
}

/** The call a request goes on from, by the strongest evidence there is. */
export function locate(
  state: WireState,
  request: OutlinedRequest,
  chain: Chain,
  system: BodyHash,
): Location | undefined {
  const byId = byResponseId(state, request)
  if (byId !== undefined) return byId
  const byMessages = longestPrefix(state, chain)
  const byResults = ownerOfResults(state, request, byMessages?.owner.lane)
  if (byResults !== undefined && byResults.call !== byMessages?.owner.call) {
    return {
      owner: byResults,
      by: "tool_results",
      known: byMessages?.known ?? 0,
      rewritten: (byMessages?.known ?? 0) < byResults.requestLength,
      truncated: false,
    }
  }
  if (byMessages !== undefined) return { ...byMessages, by: "messages", rewritten: false, truncated: false }
  return byLaterAnswer(state, chain, system)
}

// A prefix that holds an answer is a common past, under whatever system prompt and tools. One of questions alone counts only under the same
// ones, and only if all that was asked before is in it: harnesses open every conversation with the same reminders.
function longestPrefix(
  { prefixes }: WireState,
  { atoms, links, head }: Chain,
): { owner: PrefixOwner; known: number } | undefined {
  const firstAnswer = atoms.findIndex((atom) => atom.isAnswer)
  for (let known = atoms.length; known > 0; known--) {
    const owners = recall(prefixes, links[known]!)
    if (owners === undefined) continue
    const owner = owners.find((candidate) => candidate.head === head)
    if (firstAnswer >= 0 && firstAnswer < known) return { owner: owner ?? owners.at(-1)!, known }
    const isWholeQuestion = owner && (known >= owner.requestLength || known === firstAnswer)
    if (isWholeQuestion) return { owner, known }
  }
  return undefined
}

// Ids of tool calls are made anew for every call, so a result points at its caller more surely than a rewritten history can hide it. Some
// servers count from zero, though: then the lane has to agree.
function ownerOfResults(state: WireState, request: OutlinedRequest, lane: string | undefined): PrefixOwner | undefined {
  for (let index = request.messages.length - 1; index >= 0; index--) {
    const message = request.messages[index]!
    for (const part of message.parts) {
      if (part.kind !== "tool-result" || !part.callId) continue
      const tool = state.pendingTools.findLast(
        (pending) => pending.id === part.callId && (lane === undefined || pending.lane === lane),
      )
      const owner = tool && recall(state.responses, callKey(tool.call))
      if (owner) return owner
    }
    if (message.role === "assistant") return undefined
  }
  return undefined
}

function byResponseId(state: WireState, request: OutlinedRequest): Location | undefined {
  const owner = ownerOfContext(state, request, "previous_response")
  return owner && { owner, by: "response_id", known: 0, rewritten: false, truncated: false }
}

/** The call that made what the request refers to by its id. */
export function ownerOfContext(
  state: WireState,
  request: OutlinedRequest,
  what: "previous_response" | "compaction",
): PrefixOwner | undefined {
  const id = request.serverContext.findLast((context) => context.what === what)?.id
  return id ? recall(state.responses, responseKey(id)) : undefined
}

function byLaterAnswer(state: WireState, { atoms }: Chain, system: BodyHash): Location | undefined {
  if (state.answers.size === 0) return undefined
  for (let index = atoms.length - 1; index >= 0; index--) {
    const atom = atoms[index]!
    const key = answerKey(atom)
    const owner = key && recall(state.answers, key)
    if (owner !== undefined && isSameAgent(state, owner.lane, system)) {
      return { owner, by: "messages", known: index + 1, rewritten: false, truncated: true }
    }
  }
  return undefined
}

export function isSameAgent(state: WireState, lane: string, system: BodyHash): boolean {
  const known = recall(state.lanes, laneKey(lane))
  return known !== undefined && (known.system === system || known.firstSystem === system)
}

export const responseKey = (id: string): BodyHash => textHash(`response\0${id}`)
export const laneKey = (lane: string): BodyHash => textHash(`lane\0${lane}`)
export const callKey = (call: string): BodyHash => textHash(`call\0${call}`)
