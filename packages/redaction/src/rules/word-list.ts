/** A set of words, written as they are read. */
export function wordList(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
