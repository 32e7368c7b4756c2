import type { Segment } from "@orangebox/contract"
import type { ItemType } from "./generated.js"

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
