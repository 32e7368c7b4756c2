import { type BodyHash, type JsonNode, textHash } from "@orangebox/contract"
import { type BodyNotes, pieceOf } from "../memory/notes.js"

/** Marks say where to cache, not what: they move from message to message while the text under them stays. */
export const CACHE_MARKS: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"])

/**
 * The hash of a part as it was written, without its cache mark. Key order counts here on purpose: a tool schema serialised in another
 * order is the same value, but it is another prompt to the provider's cache.
 */
export function partHash(node: JsonNode, notes: BodyNotes): BodyHash {
  const piece = pieceOf(notes, node)
  piece.hash ??= textHash(writtenText(node, notes.text))
  return piece.hash
}

/** A part as it was written, without its cache mark. */
export function writtenText(node: JsonNode, text: string): string {
  if (node.kind !== "object" || !node.members.some((member) => CACHE_MARKS.has(member.key))) {
    return text.slice(node.start, node.end)
  }
  const kept = node.members
    .filter((member) => !CACHE_MARKS.has(member.key))
    .map((member) => `${JSON.stringify(member.key)}:${text.slice(member.value.start, member.value.end)}`)
  return `{${kept.join(",")}}`
}
