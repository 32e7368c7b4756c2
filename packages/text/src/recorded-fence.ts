import { recordedText } from "./quote-recorded.js"

/**
 * Recorded text for a reader that follows instructions: `⟦recorded 7f3a⟧…⟦/7f3a⟧`. The nonce is fresh for every answer, and the brackets
 * cannot stand in the text itself, so what was recorded can neither end its fence nor begin one.
 */
export function recordedFence(text: string, maxWidth: number, nonce: string): string {
  const inside = recordedText(text.replaceAll("⟦", "[").replaceAll("⟧", "]"), maxWidth).slice(1, -1)
  return `⟦recorded ${nonce}⟧${inside.replace(/\\(["\\])/g, "$1")}⟦/${nonce}⟧`
}
