/** The part of the Anthropic Messages API that the demo's agent and server speak with each other. */
export const API_VERSION = "2023-06-01"

export interface MessagesRequest {
  readonly model: string
  readonly max_tokens: number
  readonly stream: true
  readonly system: readonly TextBlock[]
  readonly tools: readonly ToolDefinition[]
  readonly messages: readonly Message[]
}

export interface Message {
  readonly role: "user" | "assistant"
  readonly content: string | readonly ContentBlock[]
}

export type ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock

export interface TextBlock {
  readonly type: "text"
  readonly text: string
  readonly cache_control?: { readonly type: "ephemeral" }
}

export interface ToolUseBlock {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface ToolResultBlock {
  readonly type: "tool_result"
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input_schema: Readonly<Record<string, unknown>>
}

export interface MessagesUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

export type StreamEvent =
  | { readonly type: "message_start"; readonly message: { readonly model: string; readonly usage: MessagesUsage } }
  | { readonly type: "ping" | "message_stop" }
  | { readonly type: "content_block_start"; readonly index: number; readonly content_block: TextBlock | ToolUseBlock }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
      readonly type: "message_delta"
      readonly delta: { readonly stop_reason: string }
      readonly usage: Pick<MessagesUsage, "output_tokens">
    }
  | { readonly type: "error"; readonly error: { readonly type: string; readonly message: string } }

export type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string }
