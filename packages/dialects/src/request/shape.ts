import type { JsonNode } from "@orangebox/contract"
import type { JsonRecord, JsonValue } from "../json/value.js"

/** How the requests of a dialect are built, for readers that edit a request in place or say where two of them differ. */
export interface RequestShape {
  /** Members that are no parameters, and what they hold. */
  readonly members: Readonly<Record<string, RequestMember>>
  /** The roles of messages that are not the user's. */
  readonly roles: Readonly<Record<string, "system" | "assistant" | "tool">>
  /** The member of a message that lists its blocks, which can be taken out one by one. */
  readonly blocks: string | null
  /** The members under which a message or a system prompt keeps the texts a model reads. */
  readonly texts: readonly string[]
  /** Where an item of the list of tools groups several of them: the members that list these. */
  readonly toolGroups: readonly string[]
  /** Where an item of the list of tools wraps the definition: the members that hold it. */
  readonly toolWrappers: readonly string[]
  /** The members of a definition that hold the schema of its arguments. */
  readonly toolSchemas: readonly string[]
  /** What a message, or a block of one, has to do with tools; undefined when it has nothing. */
  toolTraffic(node: JsonNode): ToolTraffic | undefined
  /** Whether a block holds a model's own reasoning: another model cannot read it, and most refuse it. */
  isReasoning(block: JsonNode): boolean
  /** The part of an address that names the model. */
  readonly modelInAddress?: RegExp
  /** Where the provider can keep a conversation: how a request goes on from an earlier answer, and how it says the same by itself. */
  readonly continuation?: Continuation
}

/** `server_state` names something that the provider keeps. */
export type RequestMember = "model" | "tools" | "system" | "history" | "server_state"

export interface ToolTraffic {
  readonly calls?: readonly { readonly id: string | null; readonly name: string | null }[]
  readonly result?: {
    /** Null where results are paired with calls by name and order. */
    readonly id: string | null
    readonly name?: string
    readonly content: JsonNode | undefined
    /** The member that says the tool failed. */
    readonly errorMember?: string
  }
}

export interface Continuation {
  /** The member that names the earlier answer. */
  readonly member: string
  /** The member that holds the history. */
  readonly history: string
  /** What an answer adds to the history. */
  itemsOf(answer: JsonRecord): readonly JsonValue[]
  /** The item that a history given as a bare text stands for. */
  itemOfText(text: string): JsonValue
}
