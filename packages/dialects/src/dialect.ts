import type { JsonNode, TokenUsage } from "@orangebox/contract"
import type { CacheRule } from "./cache/cache-rule.js"
import type { JsonRecord, JsonValue } from "./json/value.js"
import type { BodyNotes } from "./memory/notes.js"
import type { RequestOutline } from "./request/outline.js"
import type { RequestShape } from "./request/shape.js"
import type { IdNaming } from "./signature/id-naming.js"

/** How requests are written: all that is needed to say what one is made of, and whether two ask the same. */
export interface RequestDialect {
  readonly id: string
  /** Which of this dialect's endpoints an address is; undefined when it is none of them. */
  endpointOf(address: CallAddress): Endpoint | undefined
  /** What the path says that other dialects say in the body. */
  pathFacts?(path: string): { readonly model: string | null; readonly stream: boolean | null }
  /** Whether a request body can only be this dialect's, for gateways that rename paths. */
  claimsRequest(root: JsonNode): boolean
  /** Settings beside the prompt that decide whether a cached prefix may be used; `/` leads to inner ones. */
  readonly cacheParams?: readonly string[]
  /** The setting that names the cache to look in. */
  readonly cacheKeyMember?: string
  outlineRequest(root: JsonNode, text: string): RequestOutline
  /** The request with everything taken out that does not decide the answer (`design: call signatures`). */
  canonicalRequest(root: JsonNode, ids: IdNaming, notes?: BodyNotes): CanonicalRequest
}

/**
 * Everything Orangebox knows about one provider protocol. A dialect is a folder with one such object; adding it to `dialects.ts` is all
 * the rest of the system needs.
 */
export interface Dialect extends RequestDialect {
  /** The usual provider, by its OpenTelemetry name. Others speak the dialect too: a host may tell better. */
  readonly provider: string
  /** What applications call servers that speak it, beside the provider's own names: one lower-case word each. */
  readonly alsoCalled?: readonly string[]
  /** How its clients reach a server and prove who they are. Dialects of one provider share it. */
  readonly access: ProviderAccess
  /** Every reason its answers give for having ended. */
  readonly finishReasons: Readonly<Record<string, FinishKind>>
  /** Whether a JSON answer, or the JSON of one stream event, is this dialect's: used where only the answer is at hand. */
  claimsAnswer(value: JsonRecord): boolean
  /** Reads a whole JSON answer. */
  readAnswer(body: AnswerText): Answer
  /** Reads a streamed answer event by event. */
  newFold(): AnswerFold
  /** The events in which a server streams this whole answer. */
  streamEvents(whole: AnswerText): readonly StreamEvent[]
  usageOf(raw: JsonValue): Usage
  /** How its provider caches prompts, most particular models first. Dialects of one provider share them. */
  readonly cacheRules: readonly CacheRule[]
  /** Where the parts of a request stand, for edits and for comparing two of them. */
  readonly shape: RequestShape
}

export interface ProviderAccess {
  /** What users call the provider: in settings, and as an upstream of the proxy. */
  readonly name: string
  /** Where its own servers are. */
  readonly origin: string
  /**
   * The environment variables that point clients at another server, with what clients want behind its origin: some want the version, some
   * add it themselves. Clients read them in different orders, so all of them are set.
   */
  readonly baseUrlVariables: Readonly<Record<string, string>>
  /**
   * What stands before its endpoints at its own servers. Clients disagree whether a base URL ends with it, so behind an address that they
   * did not choose both have to lead to the same place.
   */
  readonly version: { readonly path: string; readonly endpoints: RegExp }
  /** Servers of the same provider beside this one, with clients of their own. */
  readonly besides?: readonly ProviderAccess[]
  /** Headers that hold a key or name an account, in lower case: stored only masked, never sent again. */
  readonly secretHeaders: readonly string[]
  /** Headers that change what a server does with the same body, in lower case. */
  readonly behaviourHeaders: readonly string[]
  /** The header that names the version of the API. */
  readonly versionHeader: string | null
  /** The headers by which a client proves who it is, from the variables where users keep their keys. */
  keyHeaders(env: Readonly<Record<string, string | undefined>>): [name: string, value: string][]
}

/** Why a model stopped, in the words of the OpenTelemetry conventions plus two that they lack. */
export type FinishKind = "stop" | "length" | "tool_call" | "content_filter" | "error" | "paused" | "other"

export interface CallAddress {
  readonly method: string
  /** The path, with or without a query. */
  readonly path: string
  readonly host?: string
}

/** `generate` is a model call; the rest are calls a harness makes beside its work. */
export type Endpoint = "generate" | "count_tokens" | "models" | "compact" | "other"

export interface AnswerText {
  readonly value: JsonValue
  /** The JSON the value was read from: numbers keep their digits only there. */
  readonly text: string
}

/** One event of a stream, before it is written out. */
export interface StreamEvent {
  /** Null where the protocol names none. */
  readonly event: string | null
  readonly data: string
}

export interface AnswerFold {
  /** False when the event is of an unknown type; the caller keeps it. */
  take(event: string | null, frame: AnswerText): boolean
  /** Whether it has said its last, well or with an error, whatever still comes behind that. */
  isOver(): boolean
  answer(): Answer
}

/** What a model answered, whatever the protocol. */
export interface Answer {
  readonly id: string | null
  readonly model: string | null
  /** Every id the provider made in this answer that a later request may refer to: the answer's own, those of its items. */
  readonly producedIds: readonly string[]
  /** The object the API gives when it is not asked to stream. Its numbers are doubles; tool arguments are exact in `toolCalls`. */
  readonly message: JsonValue
  /** Text and tool calls in the order they were given. */
  readonly parts: readonly AnswerPart[]
  /** As the provider spells it. */
  readonly finishReason: string | null
  readonly rawUsage: JsonValue
  /** Where the answer itself tells the tier it was served from, and not its usage. */
  readonly serviceTier: string | null
  readonly error: ProviderError | null
  /** Why its cache did not serve all of the prompt, where the provider says so. */
  readonly cacheMiss?: CacheMiss | null
  /** `partial` when the terminal event never came: the connection broke, or a side left. */
  readonly ended: "complete" | "partial"
}

/** In the provider's own words. */
export interface CacheMiss {
  readonly type: string
  readonly missedTokens: number | null
}

export type AnswerPart =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | ({ readonly kind: "tool-call" } & ToolCall)

export interface ToolCall {
  readonly id: string | null
  readonly name: string
  /** The arguments as JSON text, exactly as the model wrote them; cut short when the stream was. */
  readonly arguments: string
  /** Who runs it: the client, or the provider itself (web search and the like). */
  readonly runsAt: "client" | "provider"
}

export interface ProviderError {
  readonly type: string | null
  readonly code: string | null
  readonly message: string | null
}

export interface Usage {
  /** Normalised: `prompt` includes cached tokens whatever the provider's habit, and null is unknown. */
  readonly tokens: TokenUsage
  /** Cache writes by how long they live, where the provider tells them apart. */
  readonly cacheWrite5m: number | null
  readonly cacheWrite1h: number | null
  /** `batch`, `priority`, `flex`, `standard` …: another tier is another price. */
  readonly serviceTier: string | null
  /** Things billed apart from tokens, with how often they were used. */
  readonly billedExtras: Readonly<Record<string, number>>
  /** The provider's own object, untouched. */
  readonly raw: JsonValue
}

export interface CanonicalRequest {
  readonly body: JsonNode
  /** Values of `body` that stand there as they were sent, with their canonical text: worked out with the help of notes. */
  readonly known: ReadonlyMap<JsonNode, string>
  /** What was taken out, by its pointer: remembered, never matched on. */
  readonly nonsemantic: readonly { readonly pointer: string; readonly value: JsonNode }[]
}
