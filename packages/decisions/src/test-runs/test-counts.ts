/** What a test runner printed about a whole run. Null is unknown, and unknown is not zero. */
export interface TestCounts {
  readonly runner: string
  readonly passed: number | null
  readonly failed: number | null
  readonly skipped: number | null
  /** The runner's own words where it has a line for it. */
  readonly summary: string
}

/** Reads a runner's output, escape codes already taken off; undefined when it is not this runner's. */
export type TestRunReader = (output: string) => TestCounts | undefined

/** `3 failed, 12 passed` → { failed: 3, passed: 12 }: the one thing nearly all runners agree on. */
export function countedWords(line: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [, count, word] of line.matchAll(/(\d{1,9}) ([a-z]+)/g)) {
    counts.set(word!, (counts.get(word!) ?? 0) + Number(count))
  }
  return counts
}

/** The last match, because a log may hold several runs and the last one is how things stand. */
export function lastMatch(text: string, pattern: RegExp): RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined
  for (const found of text.matchAll(pattern)) last = found
  return last
}
