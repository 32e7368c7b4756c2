import type { Segment } from "./generated.js"
import { textHash } from "./hash.js"

/** Where an item of a context came from. */
export const ITEM_TYPES = ["user_input", "tool_output", "memory", "evidence", "policy", "summary"] as const
export type ItemType = (typeof ITEM_TYPES)[number]

export const INCLUDED_REASONS = ["policy_requirement", "plan_dependency", "retrieval_trigger"] as const
export type IncludedReason = (typeof INCLUDED_REASONS)[number]

/**
 * `budget_limit` no room left · `score_below_threshold` · `policy_filter` a filter or the catalog refuses it · `duplicate` of an item that
 * ranks higher · `other_stage` about another stage · `resolved` an incident that is over · `not_a_key_metric` a result the stage does not
 * summarise · `unreadable` it has no usable form · `retriever_failed` / `source_failed` the whole source is out · `other` a reason of the
 * application's own, which `detail` says.
 */
export const EXCLUDED_REASONS = [
  "budget_limit",
  "score_below_threshold",
  "policy_filter",
  "duplicate",
  "other_stage",
  "resolved",
  "not_a_key_metric",
  "unreadable",
  "retriever_failed",
  "source_failed",
  "other",
] as const
export type ExcludedReason = (typeof EXCLUDED_REASONS)[number]

/** How a context cites the result of a tool: by the step that called it. */
export const toolSource = (stepId: string): string => `tool:${stepId}`

/** A pointer of bearable length; a longer one keeps its beginning and becomes unique by its hash. */
export function asPointer(text: string): string {
  const whole = text.toWellFormed()
  return whole.length <= LONGEST_POINTER ? whole : `${whole.slice(0, 200).toWellFormed()}…${textHash(whole)}`
}

const LONGEST_POINTER = 1024

/**
 * The one table between a prompt's segments and a manifest's items. Read from left to right, the first line of a kind is what a segment of
 * that kind is; read from right to left, the first line of a type is the kind an item of that type has.
 */
const KINDS_AND_TYPES: readonly (readonly [Segment["kind"], ItemType])[] = [
  ["persona", "policy"],
  ["tool-def", "policy"],
  ["skill", "policy"],
  ["agent-profile", "policy"],
  ["history", "memory"],
  ["history", "tool_output"],
  ["history", "summary"],
  ["user-msg", "user_input"],
  ["other", "evidence"],
]

/** What a segment is in the words of a manifest. */
export function itemTypeOf({ kind, contributor }: { readonly kind: string; readonly contributor: string }): ItemType {
  if (kind === "history" && contributor.startsWith(TOOL_RESULT)) return "tool_output"
  return KINDS_AND_TYPES.find(([named]) => named === kind)?.[1] ?? "evidence"
}

/** How dialects name the contributor of a tool's output. */
const TOOL_RESULT = "tool-result:"

/** What an item of a manifest is in the words of a prompt's segments. */
export function segmentKindOf(type: ItemType): Segment["kind"] {
  return KINDS_AND_TYPES.find(([, named]) => named === type)?.[0] ?? "other"
}
