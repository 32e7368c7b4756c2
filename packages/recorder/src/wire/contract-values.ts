import { cutAtWord } from "../cut-at-word.js"

/**
 * What the wire says may be anything: an empty model name, a limit of -1. What a field of the contract cannot hold is left unknown there;
 * the body has it as it was.
 */
export function nameOrNull(text: unknown, longest = 512): string | null {
  return typeof text === "string" && text !== "" ? cutAtWord(text, longest) : null
}

export function countOrNull(count: unknown): number | null {
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null
}
