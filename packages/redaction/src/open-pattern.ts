import type { SweepRule } from "./rule.js"

/** Finds where a text ends in what may be the beginning of a match. */
export interface OpenSweep {
  readonly pattern: RegExp
  /** No match is longer, so none that is open begins earlier. */
  readonly longest: number
}

/**
 * Where each character that a pattern asks for may also be the end of the text, it matches every beginning of what it matched; asked to reach
 * the end, it matches only those that more text may complete. So a stream holds back what may become a match, and not as much as the longest
 * match could be.
 */
export function openSweep({ pattern, longest }: Pick<SweepRule, "pattern" | "longest">): OpenSweep {
  const open = pattern.source.replace(TOKEN, (token, kept?: string) => (kept === undefined ? `(?:${token}|$)` : kept))
  return { pattern: new RegExp(`(?:${open})$`, pattern.flags), longest }
}

/**
 * The tokens of a pattern, those that ask for no character in a group. A lookaround is one of them: at the end of a text nothing stands that
 * one at a match's end could refuse.
 */
const TOKEN =
  /(\(\?<?[=!](?:\\.|\[(?:\\.|[^\]])*\]|[^()[\]\\])*\)|\((?:\?:)?|[)|^$]|(?:[*+?]|\{\d+(?:,\d*)?\})\??)|\\(?:x[\da-f]{2}|u[\da-f]{4}|c[a-z]|[\s\S])|\[(?:\\.|[^\]\\])*\]|[\s\S]/gi

/** Where what may become a match begins; the length of the text where nothing may. */
export function startOfOpenMatch(text: string, sweeps: readonly OpenSweep[]): number {
  let start = text.length
  for (const { pattern, longest } of sweeps) {
    // One more than the longest match: what follows it decides whether it ends there.
    pattern.lastIndex = Math.max(0, text.length - longest - 1)
    start = Math.min(start, pattern.exec(text)?.index ?? start)
  }
  return start
}
