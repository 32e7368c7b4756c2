/**
 * Three protocols as an agent and a server speak them: one conversation as plain values, and each protocol's request, answer and refusal of it.
 * A turn is `{ user }`, `{ assistant: { text, tools: [{ id, name, args }] } }` or `{ results: [{ id, name, text, isError }] }`.
 */
import { dialectOf, streamAnswer } from "@orangebox/dialects"

const MARK = { cache_control: { type: "ephemeral" } }

export const PROTOCOLS = {
  anthropic: {
    path: "/v1/messages",
    dialect: "anthropic-messages",
    model: "claude-sonnet-5",
    other: "claude-haiku-4-5",
    request: ({ model, system, tools, turns, more, marks = "last" }) => ({
      model,
      max_tokens: 64,
      tools: tools.map(({ name, schema }) => ({ name, description: `Does ${name}.`, input_schema: schema })),
      system: system.map((text, at) => ({
        type: "text",
        text,
        ...(marks === "system" && at === system.length - 1 ? MARK : {}),
      })),
      messages: turns.map((turn, at) => ({
        role: turn.assistant ? "assistant" : "user",
        content: marked(anthropicBlocks(turn), marks === "last" && at === turns.length - 1),
      })),
      ...more,
    }),
    answer: ({ text, tools = [], isCut, isFiltered, usage }, model, serial) => ({
      type: "message",
      id: `msg_${serial}`,
      role: "assistant",
      model,
      content: [
        ...(text ? [{ type: "text", text }] : []),
        ...tools.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
      ],
      stop_reason: isFiltered ? "refusal" : isCut ? "max_tokens" : tools.length > 0 ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: usage.prompt - usage.read - usage.written,
        cache_read_input_tokens: usage.read,
        cache_creation_input_tokens: usage.written,
        output_tokens: 9,
      },
    }),
    refusal: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  },
  chat: {
    path: "/v1/chat/completions",
    dialect: "openai-chat",
    model: "gpt-4.1",
    other: "gpt-4.1-mini",
    request: ({ model, system, tools, turns, more }) => ({
      model,
      messages: [...system.map((content) => ({ role: "system", content })), ...turns.flatMap(chatMessages)],
      tools: tools.map(({ name, schema }) => ({
        type: "function",
        function: { name, description: `Does ${name}.`, parameters: schema },
      })),
      ...more,
    }),
    answer: ({ text, tools = [], isCut, isFiltered, usage }, model, serial) => ({
      id: `chatcmpl-${serial}`,
      object: "chat.completion",
      created: 1,
      model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text ?? null,
            ...(tools.length > 0 ? { tool_calls: tools.map(chatCall) } : {}),
          },
          finish_reason: isFiltered ? "content_filter" : isCut ? "length" : tools.length > 0 ? "tool_calls" : "stop",
        },
      ],
      usage: {
        prompt_tokens: usage.prompt,
        completion_tokens: 9,
        total_tokens: usage.prompt + 9,
        prompt_tokens_details: { cached_tokens: usage.read },
      },
    }),
    refusal: (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
  },
  responses: {
    path: "/v1/responses",
    dialect: "openai-responses",
    model: "gpt-4.1",
    other: "gpt-4.1-mini",
    request: ({ model, system, tools, turns, more }) => ({
      model,
      instructions: system.join("\n"),
      input: turns.flatMap(responseItems),
      tools: tools.map(({ name, schema }) => ({
        type: "function",
        name,
        description: `Does ${name}.`,
        parameters: schema,
      })),
      store: false,
      ...more,
    }),
    answer: ({ text, tools = [], isCut, isFiltered, usage }, model, serial) => ({
      id: `resp_${serial}`,
      object: "response",
      created_at: 1,
      status: isCut || isFiltered ? "incomplete" : "completed",
      incomplete_details: isCut || isFiltered ? { reason: isFiltered ? "content_filter" : "max_output_tokens" } : null,
      model,
      output: [
        ...(text
          ? [
              {
                type: "message",
                id: `m_${serial}`,
                status: "completed",
                role: "assistant",
                content: [{ type: "output_text", text, annotations: [] }],
              },
            ]
          : []),
        ...tools.map(({ id, name, args }) => ({
          type: "function_call",
          id: `fc_${id}`,
          call_id: id,
          name,
          arguments: JSON.stringify(args),
          status: "completed",
        })),
      ],
      usage: {
        input_tokens: usage.prompt,
        input_tokens_details: { cached_tokens: usage.read },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.prompt + 9,
      },
    }),
    refusal: (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
  },
}

/** The answer as its provider streams it. */
export const streamed = (protocol, answer) =>
  Buffer.from(streamAnswer(dialectOf(protocol.dialect), Buffer.from(JSON.stringify(answer))))

/** An answer that begins to stream and then says that it cannot go on. */
export function streamedError(text) {
  const whole = PROTOCOLS.anthropic.answer({ text, usage: { prompt: 9, read: 0, written: 0 } }, "claude-sonnet-5", "1")
  const begun = streamed(PROTOCOLS.anthropic, whole).toString().split("event: content_block_stop")[0]
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
  return `${begun}event: error\ndata: ${JSON.stringify(error)}\n\n`
}

const marked = (blocks, isMarked) => (isMarked ? [...blocks.slice(0, -1), { ...blocks.at(-1), ...MARK }] : blocks)

function anthropicBlocks({ user, assistant, results, image }) {
  if (assistant) {
    const text = assistant.text ? [{ type: "text", text: assistant.text }] : []
    return [
      ...text,
      ...(assistant.tools ?? []).map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
    ]
  }
  if (results) {
    return results.map(({ id, text, isError }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: text,
      ...(isError ? { is_error: true } : {}),
    }))
  }
  const picture = image ? [{ type: "image", source: { type: "base64", media_type: "image/png", data: image } }] : []
  return [...picture, { type: "text", text: user }]
}

const chatCall = ({ id, name, args }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } })

function chatMessages({ user, assistant, results }) {
  if (assistant) {
    const calls = assistant.tools?.length ? { tool_calls: assistant.tools.map(chatCall) } : {}
    return [{ role: "assistant", content: assistant.text ?? null, ...calls }]
  }
  if (results) return results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }))
  return [{ role: "user", content: user }]
}

function responseItems({ user, assistant, results }) {
  if (assistant) {
    const said = assistant.text
      ? [{ type: "message", role: "assistant", content: [{ type: "output_text", text: assistant.text }] }]
      : []
    return [
      ...said,
      ...(assistant.tools ?? []).map(({ id, name, args }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(args),
      })),
    ]
  }
  if (results) return results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text }))
  return [{ type: "message", role: "user", content: user }]
}
