import type { JsonNode } from "@orangebox/contract"

/**
 * A request as its dialect sees it: the parts of the prompt in the order the model reads them, which is the provider's order (Anthropic
 * puts tools before the system prompt whatever the key order of the JSON), because caching follows that order too.
 */
export interface RequestOutline {
  readonly model: string | null
  readonly stream: boolean
  readonly sampling: Sampling
  /** Every member that is neither prompt nor model nor stream, by name. */
  readonly params: readonly { readonly name: string; readonly value: JsonNode }[]
  /** The thinking or reasoning set-up, as sent. */
  readonly thinking: JsonNode | null
  readonly parts: readonly PromptPart[]
  /** A mark that stands on the request as a whole: it counts as one on the last part. */
  readonly wholeMark: CacheMarkMade | null
  readonly serverContext: readonly ServerContext[]
  /** What names the conversation or the cache lane the request belongs to, where the body says so. */
  readonly conversationHint: string | null
}

export interface Sampling {
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxTokens: number | null
  readonly seed: number | null
}

export type PartKind =
  | "tool-def"
  | "system"
  | "text"
  | "thinking"
  | "tool-call"
  | "tool-result"
  | "image"
  | "document"
  | "other"

export interface PromptPart {
  readonly kind: PartKind
  readonly role: string | null
  /** Position of the message in its list; null for tools and a system prompt that stands apart. */
  readonly message: number | null
  readonly node: JsonNode
  /** The text a model reads here; null for what is not text. */
  readonly text: string | null
  readonly cacheMark: CacheMarkMade | null
  /** Tool-def, tool-call, and a tool-result that says so: the tool's name. */
  readonly name: string | null
  /** Tool-call, tool-result: what ties them together. */
  readonly callId: string | null
  /** Tool-call: the arguments as JSON text. */
  readonly arguments: string | null
  /** Tool-result: whether the client says it failed; null when it does not say. */
  readonly isError: boolean | null
}

export interface CacheMarkMade {
  readonly ttl: string | null
}

/** Where a part stands. */
export interface PartPlace {
  readonly role: string | null
  readonly message: number | null
  readonly node: JsonNode
  readonly cacheMark: CacheMarkMade | null
}

/** Every part has the same members in the same order: there are hundreds in a request, and one shape is quick to make and to read. */
export function promptPart(
  kind: PartKind,
  place: PartPlace,
  text: string | null,
  more: Partial<Pick<PromptPart, "name" | "callId" | "arguments" | "isError">> = NOTHING_MORE,
): PromptPart {
  return {
    kind,
    role: place.role,
    message: place.message,
    node: place.node,
    text,
    cacheMark: place.cacheMark,
    name: more.name ?? null,
    callId: more.callId ?? null,
    arguments: more.arguments ?? null,
    isError: more.isError ?? null,
  }
}

const NOTHING_MORE = {}

/** Context the request leans on but does not carry: such a call is not self-contained. */
export interface ServerContext {
  readonly what:
    | "previous_response"
    | "conversation"
    | "stored_item"
    | "encrypted_reasoning"
    | "compaction"
    | "file"
    | "container"
    | "cached_content"
  readonly id: string | null
}
