/** Hand-written answers, one per dialect, each as a stream and as the object the API gives without streaming. */
export interface StreamFixture {
  readonly dialect: string
  readonly stream: string
  readonly whole: unknown
}

const named = (events: readonly { type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

const anthropicUsage = {
  input_tokens: 12,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
  output_tokens: 1,
  service_tier: "standard",
}

export const anthropicEvents = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: anthropicUsage,
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "The user wants " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "weather." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EqQB" } },
  { type: "content_block_stop", index: 0 },
  { type: "ping" },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Ich sehe in Zürich " } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "nach. 🌦" } },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"city": "Zür' } },
  {
    type: "content_block_delta",
    index: 2,
    delta: { type: "input_json_delta", partial_json: 'ich", "n": 12345678901234567890}' },
  },
  { type: "content_block_stop", index: 2 },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 57, cache_read_input_tokens: null },
  },
  { type: "message_stop" },
]

export const ANTHROPIC: StreamFixture = {
  dialect: "anthropic-messages",
  stream: named(anthropicEvents),
  whole: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [
      { type: "thinking", thinking: "The user wants weather.", signature: "EqQB" },
      { type: "text", text: "Ich sehe in Zürich nach. 🌦" },
      { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Zürich", n: 12345678901234567000 } },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { ...anthropicUsage, output_tokens: 57 },
  },
}

const chunk = (choices: unknown[], more: object = {}): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1700000000,
  model: "gpt-5-mini",
  service_tier: "default",
  system_fingerprint: null,
  choices,
  usage: null,
  obfuscation: "x7Gq",
  ...more,
})
const delta = (fields: object, finish: string | null = null): object => ({
  index: 0,
  delta: fields,
  logprobs: null,
  finish_reason: finish,
})
const chatUsage = {
  prompt_tokens: 80,
  completion_tokens: 20,
  total_tokens: 100,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 8 },
}

export const CHAT: StreamFixture = {
  dialect: "openai-chat",
  stream: `${[
    chunk([delta({ role: "assistant", content: "", refusal: null })]),
    chunk([delta({ content: "Let me " })]),
    chunk([delta({ content: "look. ✓" })]),
    chunk([
      delta({ tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "read", arguments: "" } }] }),
    ]),
    chunk([delta({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] })]),
    chunk([
      delta({
        tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "list", arguments: "{}" } }],
      }),
    ]),
    chunk([delta({ tool_calls: [{ index: 0, function: { arguments: '"a.ts"}' } }] })]),
    chunk([delta({}, "tool_calls")]),
    chunk([], { usage: chatUsage }),
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join("")}data: [DONE]\n\n`,
  whole: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1700000000,
    model: "gpt-5-mini",
    service_tier: "default",
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Let me look. ✓",
          refusal: null,
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a.ts"}' } },
            { id: "call_b", type: "function", function: { name: "list", arguments: "{}" } },
          ],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ],
    usage: chatUsage,
  },
}

const reasoningItem = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Planning." }] }
const messageItem = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Done – really.", annotations: [], logprobs: [] }],
}
const callItem = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "run",
  arguments: '{"cmd":"npm test"}',
}
const response = (status: string, output: unknown[], usage: unknown): object => ({
  id: "resp_1",
  object: "response",
  created_at: 1700000000,
  status,
  error: null,
  incomplete_details: null,
  model: "gpt-5",
  output,
  service_tier: "default",
  usage,
})
const responsesUsage = {
  input_tokens: 300,
  input_tokens_details: { cached_tokens: 256 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 16 },
  total_tokens: 340,
}
const whole = response("completed", [reasoningItem, messageItem, callItem], responsesUsage)

export const responsesEvents: { type: string; [key: string]: unknown }[] = [
  { type: "response.created", response: response("in_progress", [], null) },
  { type: "response.in_progress", response: response("in_progress", [], null) },
  { type: "response.output_item.added", output_index: 0, item: { ...reasoningItem, summary: [] } },
  {
    type: "response.reasoning_summary_part.added",
    output_index: 0,
    summary_index: 0,
    part: { type: "summary_text", text: "" },
  },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "Planning." },
  { type: "response.output_item.done", output_index: 0, item: reasoningItem },
  { type: "response.output_item.added", output_index: 1, item: { ...messageItem, status: "in_progress", content: [] } },
  {
    type: "response.content_part.added",
    output_index: 1,
    content_index: 0,
    part: { type: "output_text", text: "", annotations: [], logprobs: [] },
  },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "Done – " },
  { type: "response.output_text.delta", item_id: "rotated", output_index: 1, content_index: 0, delta: "really." },
  { type: "response.output_text.done", output_index: 1, content_index: 0, text: "Done – really." },
  { type: "response.output_item.done", output_index: 1, item: messageItem },
  { type: "response.output_item.added", output_index: 2, item: { ...callItem, status: "in_progress", arguments: "" } },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"cmd":' },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '"npm test"}' },
  { type: "response.output_item.done", output_index: 2, item: callItem },
  { type: "response.completed", response: whole },
]

export const RESPONSES: StreamFixture = { dialect: "openai-responses", stream: named(responsesEvents), whole }

const geminiChunk = (parts: unknown[], more: object = {}, finish?: string): string =>
  `data: ${JSON.stringify({
    candidates: [{ content: { parts, role: "model" }, index: 0, ...(finish ? { finishReason: finish } : {}) }],
    ...more,
    modelVersion: "gemini-2.5-flash",
    responseId: "r1",
  })}\r\n\r\n`
const geminiUsage = {
  promptTokenCount: 50,
  candidatesTokenCount: 7,
  totalTokenCount: 67,
  thoughtsTokenCount: 10,
  cachedContentTokenCount: 32,
}

export const GEMINI: StreamFixture = {
  dialect: "gemini",
  stream:
    geminiChunk([{ text: "Hm.", thought: true }], { usageMetadata: { promptTokenCount: 50, totalTokenCount: 60 } }) +
    geminiChunk([{ text: "Guten " }], { usageMetadata: { promptTokenCount: 50, totalTokenCount: 62 } }) +
    geminiChunk(
      [{ text: "Tag, Köln" }, { functionCall: { name: "look", args: { at: "Dom" } } }],
      { usageMetadata: geminiUsage },
      "STOP",
    ),
  whole: {
    candidates: [
      {
        content: {
          parts: [
            { text: "Hm.", thought: true },
            { text: "Guten Tag, Köln" },
            { functionCall: { name: "look", args: { at: "Dom" } } },
          ],
          role: "model",
        },
        index: 0,
        finishReason: "STOP",
      },
    ],
    usageMetadata: geminiUsage,
    modelVersion: "gemini-2.5-flash",
    responseId: "r1",
  },
}

export const STREAMS = [ANTHROPIC, CHAT, RESPONSES, GEMINI]
