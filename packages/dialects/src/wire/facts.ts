/** Every fact names its author: none of this was observed, all of it was concluded. */
export const WIRE_REDUCER = "wire-reducer@1"

/** A lane as events name it: by the call that opened it, so that the name says in which order lanes came and no more. */
export const laneLabel = (lane: string): string => `lane-${lane}`
export const isLaneLabel = (name: string): boolean => /^lane-\d+$/.test(name)

export type Certainty = "certain" | "likely"

export type WireFact = { readonly inferred_by: typeof WIRE_REDUCER; readonly call: string; readonly atMs: number } & (
  | CallPlaced
  | LaneStarted
  | HistoryChanged
  | PromptChanged
  | ToolCalled
  | ToolAnswered
  | SideCall
  | CompactionAsked
  | ConversationNamed
  | TurnsUnseen
)

/** Where a model call stands: its lane, the call it follows, and which attempt of one logical call it is. */
export interface CallPlaced {
  readonly fact: "call_placed"
  readonly lane: string
  /** The call whose answer this one goes on from; null at the start of a lane. */
  readonly follows: string | null
  readonly followsBy: "messages" | "tool_results" | "response_id" | "summary" | null
  /** The first attempt of the logical call; the call itself when it is the first. */
  readonly attemptOf: string
  readonly attemptNo: number
  readonly retryBecause: "same_bytes" | "same_prompt" | null
  /** How many prompt parts were new since the call it follows. */
  readonly newParts: number
}

export interface LaneStarted {
  readonly fact: "lane_started"
  readonly lane: string
  readonly reason: "first" | "sub_agent" | "compaction" | "repeat" | "separate"
  /** The tool call that asked for this sub-agent, where one did. */
  readonly spawnedBy: { readonly call: string; readonly toolCallId: string | null; readonly tool: string } | null
  readonly certainty: Certainty
}

/** The lane goes on, but not by appending: messages were summarised, cut off or rewritten. */
export interface HistoryChanged {
  readonly fact: "history_changed"
  readonly lane: string
  readonly why: "compaction" | "truncation" | "rewritten"
  readonly from: { readonly lane: string; readonly call: string | null }
  readonly certainty: Certainty
}

/** The client asks for a summary, to go on from that instead of from the history. */
export interface CompactionAsked {
  readonly fact: "compaction_asked"
  readonly lane: string
  readonly certainty: Certainty
}

export interface PromptChanged {
  readonly fact: "prompt_changed"
  readonly lane: string
  readonly what: readonly ("system" | "tools")[]
}

export interface ToolCalled {
  readonly fact: "tool_called"
  readonly lane: string | null
  readonly toolCallId: string | null
  readonly tool: string
  readonly arguments: string
  readonly runsAt: "client" | "provider"
}

/** A result that came back inside the request of `call`. */
export interface ToolAnswered {
  readonly fact: "tool_answered"
  readonly lane: string
  readonly toolCallId: string | null
  readonly tool: string | null
  /** The call whose answer asked for it; null when that was not seen. */
  readonly calledBy: string | null
  readonly calledAtMs: number | null
  readonly text: string | null
  readonly isError: boolean | null
}

/** A call a harness makes for itself. */
export interface SideCall {
  readonly fact: "side_call"
  readonly why: "count_tokens" | "models" | "compact" | "other_endpoint" | "probe" | "title" | "nothing_followed"
  readonly certainty: Certainty
}

export interface ConversationNamed {
  readonly fact: "conversation_named"
  readonly lane: string
  readonly conversationId: string
  /** A hint, never an authority. */
  readonly from: "header" | "body"
}

/**
 * The history went on by more than what was recorded: turns of the model stand in it that no recorded call answered with. They went past
 * the recording, or the client wrote them itself.
 */
export interface TurnsUnseen {
  readonly fact: "turns_unseen"
  readonly lane: string
  readonly turns: number
  /** Results among the new messages of tool calls that no recorded answer asked for. */
  readonly toolResults: number
}
