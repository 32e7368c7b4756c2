import { MASK_MIDDLE } from "@orangebox/contract"
import type { CheckContext } from "./rule.js"

const MAX_EXCERPT = 120

/** A bit of recorded text that may be shown: short, on one line, without secrets, control characters or direction tricks. */
export function safeExcerpt(text: string, context: Pick<CheckContext, "findSecrets">): string {
  const head = text.slice(0, MAX_EXCERPT * 8)
  const masked = maskSecrets(head, context)
  const plain = masked
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, (character) =>
      // Joiners hold an emoji together; alone they are as invisible as the rest.
      character === "\u200d" ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
    )
  const characters = Array.from(plain)
  if (characters.length <= MAX_EXCERPT && head.length === text.length) return plain
  return `${characters.slice(0, MAX_EXCERPT - 1).join("")}…`
}

function maskSecrets(text: string, { findSecrets }: Pick<CheckContext, "findSecrets">): string {
  if (findSecrets === undefined) return text
  let masked = ""
  let at = 0
  for (const { start, end } of findSecrets(text)) {
    if (start < at) continue
    masked += text.slice(at, start) + MASK_MIDDLE
    at = end
  }
  return masked + text.slice(at)
}
