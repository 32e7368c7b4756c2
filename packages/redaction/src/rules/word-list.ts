/** A set of words, as `rules.json` writes it: in lines. */
export function wordList(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")))
}

/** A pattern that a whole word has to fit. */
export const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`)
