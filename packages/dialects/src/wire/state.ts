import type { BodyHash } from "@orangebox/contract"
import { EMPTY_FADING, type FadingMap } from "./digest-map.js"

/** Everything the reducer remembers: plain, immutable data, so that it can be kept, copied and rewound. */
export interface WireState {
  /** A conversation up to some point, by its rolling hash, with the calls that completed it: one for each system prompt and tool set. */
  readonly prefixes: FadingMap<readonly PrefixOwner[]>
  /** Single answers, for histories whose beginning was cut off. */
  readonly answers: FadingMap<PrefixOwner>
  readonly lanes: FadingMap<Lane>
  /** Response ids and the calls they came from. */
  readonly responses: FadingMap<PrefixOwner>
  /** Attempts at a prompt that are open or failed and were not repeated, and the last one. */
  readonly attempts: FadingMap<readonly Attempt[]>
  /** A list: there are as many as an agent asks at once, and copying one costs a hundredth of copying a map. */
  readonly open: readonly OpenCall[]
  readonly pendingTools: readonly PendingTool[]
  /** Newest last. */
  readonly recentAnswers: readonly RecentAnswer[]
  /** Lanes of one call that nothing has used so far. */
  readonly loneLanes: readonly string[]
  readonly laneCount: number
  readonly hasAgent: boolean
}

export interface PrefixOwner {
  /** Which system prompt and tools the conversation was held under. */
  readonly head: BodyHash
  readonly call: string
  readonly lane: string
  /** What that call itself followed. */
  readonly follows: string | null
  /** How many atoms the owning request had; the answer's atoms come behind them. */
  readonly requestLength: number
}

export interface Lane {
  readonly id: string
  readonly calls: number
  /** Of its last call; a harness may put in another prompt for a turn, to have a summary written. */
  readonly system: BodyHash
  readonly firstSystem: BodyHash
  readonly tools: BodyHash
  /** What the harness calls this agent, where a header says so. */
  readonly agentHint: string | null
}

export interface Attempt {
  readonly call: string
  readonly attemptOf: string
  readonly attemptNo: number
  readonly lane: string
  readonly follows: string | null
  /** Of the request as it was sent. It tells attempts at one prompt apart, and names nothing, so a checksum will do. */
  readonly checksum: number
  readonly outcome: "open" | "failed" | "answered"
}

export interface OpenCall {
  readonly call: string
  readonly lane: string
  readonly follows: string | null
  readonly promptKey: BodyHash
  readonly head: BodyHash
  /** The rolling hash at the end of the request. */
  readonly link: BodyHash
  readonly requestLength: number
}

export interface PendingTool {
  readonly id: string | null
  readonly call: string
  readonly lane: string
  readonly tool: string
  readonly atMs: number
  /** The texts among its arguments: a sub-agent's first message is usually one of them. */
  readonly texts: readonly string[]
}

export interface RecentAnswer {
  readonly call: string
  readonly lane: string
  /** Pieces from the middle of a long answer: a summary reappears word for word, its frame does not. */
  readonly probes: readonly string[]
}

export const EMPTY_WIRE_STATE: WireState = {
  prefixes: EMPTY_FADING,
  answers: EMPTY_FADING,
  lanes: EMPTY_FADING,
  responses: EMPTY_FADING,
  attempts: EMPTY_FADING,
  open: [],
  pendingTools: [],
  recentAnswers: [],
  loneLanes: [],
  laneCount: 0,
  hasAgent: false,
}

export const MAX_ATTEMPTS = 64
export const MAX_PENDING_TOOLS = 512
export const MAX_RECENT_ANSWERS = 32
export const MAX_LONE_LANES = 256
