/** Where a secret stands in a text. */
export interface Found {
  readonly start: number
  readonly end: number
  /** The text ended before the secret did: with more text it may reach further. */
  readonly open?: boolean
  /** Known by less than the whole form: a rule that knows the whole names it better. */
  readonly isLoose?: true
}

/**
 * A rule that is asked wherever one of its keywords stands, and nowhere else: that is what lets ordinary text pass at memory speed.
 *
 * Streams rely on three promises of every rule. It looks at most `LEAD` characters back from what it finds. It finds at most
 * `LONGEST_SECRET` characters. And whether it finds depends on nothing behind the word (or, where it says `open`, the block) that it found.
 */
export interface Rule {
  readonly id: string
  /** What it finds, in a few words, for people. */
  readonly about: string
  readonly from: readonly string[]
  /** At least three characters each. Lower case means any case; a keyword with a capital letter is taken as it is written. */
  readonly keywords: readonly string[]
  /** For each keyword, where in it the three letters end that the index knows it by. */
  readonly trigramEnds: readonly number[]
  /** What it finds may reach over several lines. */
  readonly multiLine: boolean
  find(text: string, keywordAt: number, keyword: string): Found | readonly Found[] | undefined
  /** Every regular expression it uses, so that a test can prove that none of them backtracks. */
  readonly patterns: readonly RegExp[]
}

/** A rule without keywords: its pattern is tried everywhere. For packs that are off by default and for patterns of users. */
export interface SweepRule {
  readonly id: string
  readonly about: string
  readonly from?: readonly string[]
  /** Global, and never longer than `longest`. */
  readonly pattern: RegExp
  readonly longest: number
  accepts?(found: string): boolean
}

export const LEAD = 2048
export const LONGEST_SECRET = 16_384
