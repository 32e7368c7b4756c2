import type { Attributes } from "./plain.js"

/*
 * What the same fact is called: GenAI conventions from 1.37 on first, then those up to 1.36 and OpenLLMetry, OpenInference, the AI SDK and
 * pydantic-ai. The first that is there counts.
 */
export const NAMES = {
  operation: ["gen_ai.operation.name"],
  provider: ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"],
  requestModel: [
    "gen_ai.request.model",
    "llm.request.model_name",
    "llm.model_name",
    "embedding.model_name",
    "ai.model.id",
  ],
  responseModel: ["gen_ai.response.model", "llm.response.model_name", "ai.response.model"],
  responseId: ["gen_ai.response.id", "ai.response.id"],
  temperature: ["gen_ai.request.temperature"],
  topP: ["gen_ai.request.top_p"],
  maxTokens: ["gen_ai.request.max_tokens"],
  seed: ["gen_ai.request.seed", "gen_ai.openai.request.seed"],
  stream: ["gen_ai.request.stream", "llm.is_streaming", "gen_ai.is_streaming"],
  firstChunkSeconds: ["gen_ai.response.time_to_first_chunk"],
  finishReasons: [
    "gen_ai.response.finish_reasons",
    "llm.finish_reason",
    "gen_ai.completion.0.finish_reason",
    "ai.response.finishReason",
  ],
  inputTokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
  ],
  outputTokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
  ],
  totalTokens: ["gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"],
  cacheRead: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.details.cache_read_tokens",
    "ai.usage.cachedInputTokens",
  ],
  cacheWrite: [
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.details.cache_write_tokens",
  ],
  reasoning: [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "llm.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "gen_ai.usage.details.reasoning_tokens",
    "ai.usage.reasoningTokens",
  ],
  toolName: ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"],
  toolCallId: ["gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"],
  toolArguments: [
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "input.value",
    "tool.parameters",
  ],
  toolResult: [
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
  ],
  systemInstructions: ["gen_ai.system_instructions"],
  inputMessages: [
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "gen_ai.prompt",
    "input.value",
    "traceloop.entity.input",
  ],
  outputMessages: [
    "gen_ai.output.messages",
    "gen_ai.completion",
    "output.value",
    "ai.response.text",
    "traceloop.entity.output",
  ],
  agentName: [
    "gen_ai.agent.name",
    "agent.name",
    "gen_ai.workflow.name",
    "traceloop.workflow.name",
    "traceloop.entity.name",
  ],
  agentVersion: ["gen_ai.agent.version"],
  conversation: [
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "langfuse.session.id",
  ],
  query: ["gen_ai.retrieval.query.text", "input.value"],
  runInput: ["input.value", "traceloop.entity.input", "ai.prompt", "gen_ai.input.messages"],
  runOutput: ["output.value", "traceloop.entity.output", "ai.response.text", "gen_ai.output.messages"],
} as const

export type Fact = keyof typeof NAMES

export function factOf(attributes: Attributes, fact: Fact): unknown {
  for (const name of NAMES[fact])
    if (attributes[name] !== undefined && attributes[name] !== null) return attributes[name]
  return undefined
}

export function textFact(attributes: Attributes, fact: Fact): string | undefined {
  const value = factOf(attributes, fact)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** A count, as the number or the text it was sent as. */
export function countFact(attributes: Attributes, fact: Fact): number | null {
  const value = factOf(attributes, fact)
  const count = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null
}

export function numberFact(attributes: Attributes, fact: Fact): number | null {
  const value = factOf(attributes, fact)
  return typeof value === "number" && Number.isFinite(value) ? value : null
}

/** Content, and what became fields of events: not repeated among a step's attributes. */
const CONTENT = new Set<string>([
  ...NAMES.systemInstructions,
  ...NAMES.inputMessages,
  ...NAMES.outputMessages,
  ...NAMES.toolArguments,
  ...NAMES.toolResult,
  ...[
    "gen_ai.tool.definitions",
    "ai.prompt",
    "ai.prompt.tools",
    "ai.response.toolCalls",
    "all_messages_events",
    "events",
    "pydantic_ai.all_messages",
  ],
])
const INDEXED =
  /^(?:gen_ai\.(?:prompt|completion)|llm\.(?:input_messages|output_messages|tools|prompts|choices|request\.functions)|retrieval\.documents|reranker\.(?:input|output)_documents|embedding\.embeddings)\.\d+\./

export const isContent = (name: string): boolean => CONTENT.has(name) || (HAS_INDEX.test(name) && INDEXED.test(name))

/** Lists are flattened with an index; most spans have none, and need no second look. */
export const HAS_INDEX = /\.\d/
