import type { DerivedManifest, ItemType, ToldManifest } from "@orangebox/context"
import type { RecordedContext } from "./recorded-contexts.js"

/** Bodies by hash, as far as they are there. */
export type Bodies = ReadonlyMap<string, Uint8Array>

/**
 * What one context was made of. `manifest`: the compiler's own account, or the application's. `assembled`: the application said what it put together. `request`:
 * derived from the request's bytes, by the component that `inferredBy` names.
 */
export interface ContextReading {
  readonly context: RecordedContext
  readonly basis: "manifest" | "assembled" | "request" | "unknown"
  readonly inferredBy: string | undefined
  /** In the order in which the model read them. */
  readonly items: readonly ContextItem[]
  /** What the application told, and the request does not hold: no model read it. */
  readonly missing: readonly ContextItem[]
  /** Null where the agent did not say what else was available. */
  readonly excluded: readonly ExcludedItem[] | null
  /** Known also where the list is not. */
  readonly excludedCount: number | undefined
  readonly prompt: PromptSize
  readonly prefix: PromptPrefix | undefined
  /** The compiler's, or the application's own. */
  readonly manifest: ToldManifest | undefined
  /** Which faults came to the manifest, compiled or derived. */
  readonly faults: DerivedManifest["faults"]
  readonly revision: number
  /** What stands in the way of saying more. */
  readonly gaps: readonly string[]
}

export interface ContextItem {
  /** Its place in the prompt, from 1. */
  readonly position: number
  /** The item's id, or who contributed the segment. */
  readonly id: string
  readonly contributor: string
  readonly kind: string
  readonly itemType: ItemType
  readonly role: string | undefined
  /** Why it was included; only a compiler knows. */
  readonly reason: string | undefined
  readonly sourceRef: string | undefined
  readonly section: string | undefined
  readonly tier: number | undefined
  readonly tokens: number | undefined
  /** Its size before it was cut, where it was. */
  readonly fromTokens: number | undefined
  readonly byteSize: number | undefined
  /** Of the token budget where there is one, else of the prompt; between 0 and 1. */
  readonly share: number | undefined
  /** What the reranker gave it, where it was retrieved. */
  readonly score: number | undefined
  /** Equal where the content is equal, with or without its text. */
  readonly hash: string | undefined
  /** The beginning of what the model read, where the request is there. */
  readonly text: string | undefined
}

export interface ExcludedItem {
  readonly id: string
  readonly itemType: ItemType
  readonly reason: string
  readonly sourceRef: string | undefined
  readonly score: number | undefined
  /** The score it would have needed. */
  readonly threshold: number | undefined
  /** What it would have cost, and what was left for it. */
  readonly tokens: number | undefined
  readonly roomTokens: number | undefined
  readonly duplicateOf: string | undefined
  readonly detail: string | undefined
}

export interface PromptSize {
  readonly tokens: number | undefined
  /** Who counted; what was only estimated is marked in every view. */
  readonly countedBy: "compiler" | "application" | "provider" | "estimate" | undefined
  /** Whether the items' own figures are estimates, such as a share of what the provider counted. */
  readonly areItemsEstimated: boolean
  readonly budget: number | undefined
  readonly byteSize: number | undefined
}

export interface PromptPrefix {
  readonly hash: string
  readonly byteSize: number | undefined
}
