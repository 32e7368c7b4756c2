/** Why a model stopped, in the words of the OpenTelemetry conventions plus two that they lack. */
export type FinishKind = "stop" | "length" | "tool_call" | "content_filter" | "error" | "paused" | "other"

const KINDS: Readonly<Record<string, FinishKind>> = {
  // Anthropic Messages
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_call",
  pause_turn: "paused",
  refusal: "content_filter",
  compaction: "paused",
  // OpenAI Chat Completions
  stop: "stop",
  length: "length",
  tool_calls: "tool_call",
  function_call: "tool_call",
  content_filter: "content_filter",
  error: "error",
  // OpenAI Responses: the status, or the reason it is incomplete
  completed: "stop",
  max_output_tokens: "length",
  failed: "error",
  cancelled: "other",
  queued: "paused",
  in_progress: "paused",
  // Gemini
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  MALFORMED_FUNCTION_CALL: "error",
  UNEXPECTED_TOOL_CALL: "error",
}

export function finishKindOf(reason: string | null): FinishKind | null {
  if (reason === null) return null
  return Object.hasOwn(KINDS, reason) ? KINDS[reason]! : "other"
}
