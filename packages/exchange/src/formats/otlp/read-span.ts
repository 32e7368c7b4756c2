import type { TokenUsage } from "@orangebox/contract"
import { countFact, factOf, textFact } from "./names.js"
import type { Attributes, PlainSpan } from "./plain.js"

/** What a span is to us. */
export type SpanKind = "model" | "tool" | "retrieval" | "agent" | "guardrail" | "evaluator" | "other"

export interface SpanMeaning {
  readonly kind: SpanKind
  /** What sort of work, for a step that is none of our kinds. */
  readonly work: string
  /** No attribute says it; name and attributes together do. */
  readonly isDeduced: boolean
}

const OPENINFERENCE: Readonly<Record<string, readonly [SpanKind, string]>> = {
  LLM: ["model", "model"],
  TOOL: ["tool", "tool"],
  AGENT: ["agent", "agent"],
  CHAIN: ["other", "chain"],
  RETRIEVER: ["retrieval", "retrieval"],
  RERANKER: ["retrieval", "reranking"],
  EMBEDDING: ["other", "embedding"],
  GUARDRAIL: ["guardrail", "guardrail"],
  EVALUATOR: ["evaluator", "evaluation"],
  PROMPT: ["other", "prompt"],
}

const OPERATIONS: Readonly<Record<string, readonly [SpanKind, string]>> = {
  chat: ["model", "model"],
  generate_content: ["model", "model"],
  text_completion: ["model", "model"],
  completion: ["model", "model"],
  execute_tool: ["tool", "tool"],
  invoke_agent: ["agent", "agent"],
  create_agent: ["other", "create_agent"],
  invoke_workflow: ["agent", "workflow"],
  retrieval: ["retrieval", "retrieval"],
  embeddings: ["other", "embedding"],
}

const TRACELOOP: Readonly<Record<string, readonly [SpanKind, string]>> = {
  workflow: ["agent", "workflow"],
  agent: ["agent", "agent"],
  tool: ["tool", "tool"],
  task: ["other", "task"],
}

/** Where two conventions speak, OpenInference's kind decides. */
export function meaningOf({ attributes, name }: PlainSpan): SpanMeaning {
  const stated =
    OPENINFERENCE[String(attributes["openinference.span.kind"]).toUpperCase()] ??
    OPERATIONS[String(factOf(attributes, "operation"))] ??
    aiSdkKind(String(attributes["ai.operationId"] ?? "")) ??
    OPERATIONS[String(attributes["llm.request.type"])] ??
    TRACELOOP[String(attributes["traceloop.span.kind"])]
  if (stated !== undefined) return { kind: stated[0], work: stated[1], isDeduced: false }
  // Up to 1.36 only the name of a span tells: "chat gpt-4o", "openai.chat".
  const isCall =
    textFact(attributes, "requestModel") !== undefined &&
    (hasUsage(attributes) || /\b(?:chat|completions?|generate)\b/i.test(name))
  if (
    isCall &&
    (attributes["gen_ai.system"] ?? attributes["gen_ai.provider.name"] ?? attributes["llm.system"]) !== undefined
  )
    return { kind: "model", work: "model", isDeduced: true }
  const isTool = attributes["gen_ai.tool.name"] !== undefined || attributes["tool.name"] !== undefined
  if (isTool) return { kind: "tool", work: "tool", isDeduced: true }
  return { kind: "other", work: "span", isDeduced: false }
}

/** The AI SDK wraps each call of a provider into a span of its own; the outer ones repeat what the inner ones used. */
function aiSdkKind(operation: string): readonly [SpanKind, string] | undefined {
  if (/\.do(?:Generate|Stream)$/.test(operation)) return ["model", "model"]
  if (operation === "ai.toolCall") return ["tool", "tool"]
  return /^ai\./.test(operation) ? ["other", operation] : undefined
}

const hasUsage = (attributes: Attributes): boolean =>
  countFact(attributes, "inputTokens") !== null || countFact(attributes, "outputTokens") !== null

/**
 * Usage with cached tokens inside the input, as the conventions have it. Parts above the whole mean that it was counted without them: then
 * they are added, and that is said.
 */
export function usageOf(attributes: Attributes): { readonly usage: TokenUsage; readonly isAdded: boolean } {
  const input = countFact(attributes, "inputTokens")
  const completion = countFact(attributes, "outputTokens")
  const cacheRead = countFact(attributes, "cacheRead")
  const cacheWrite = countFact(attributes, "cacheWrite")
  const parts = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const isAdded = input !== null && parts > input
  const prompt = isAdded ? input + parts : input
  const said = countFact(attributes, "totalTokens")
  return {
    usage: {
      prompt,
      completion,
      total:
        prompt === null || completion === null ? said : isAdded ? prompt + completion : (said ?? prompt + completion),
      cache_read: cacheRead,
      cache_write: cacheWrite,
      reasoning: countFact(attributes, "reasoning"),
    },
    isAdded,
  }
}

export function finishReasonOf(attributes: Attributes): string | null {
  const value = factOf(attributes, "finishReasons")
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === "string" && first !== "" ? first.slice(0, 512) : null
}

/** What went wrong, where the span says that something did. */
export function errorOf({
  isError,
  statusMessage,
  events,
  attributes,
}: PlainSpan): { readonly errorClass: string; readonly message: string } | undefined {
  const thrown = events.find(({ name }) => name === "exception")?.attributes
  const type = attributes["error.type"] ?? thrown?.["exception.type"]
  // An exception that was handled is an event of the span, and no failure.
  if (!isError && attributes["error.type"] === undefined) return undefined
  const message = statusMessage || String(thrown?.["exception.message"] ?? type ?? "the span says that it failed")
  return { errorClass: String(type ?? "Error").slice(0, 512) || "Error", message }
}
