/** A stretch of a text and what stands there instead. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly with: string
}

/** The text with the given stretches replaced and every other character as it was. Of two that overlap the first in the text counts. */
export function spliced(text: string, splices: readonly Splice[]): string {
  if (splices.length === 0) return text
  let result = ""
  let from = 0
  for (const splice of [...splices].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (splice.start < from) continue
    result += text.slice(from, splice.start) + splice.with
    from = splice.end
  }
  return result + text.slice(from)
}
