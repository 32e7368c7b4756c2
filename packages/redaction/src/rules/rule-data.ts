import type { NameKind } from "./secret-names.js"
import type { Quoting } from "./secret-values.js"

/**
 * A rule as `rules.json` holds it, for every language that reads the file. Patterns keep to what JavaScript and Python's `re` both have:
 * `\w` and `\d` are ASCII, white space is written out, no `$`, no `.`, a lookbehind has one character, and every repetition ends.
 *
 * In a keyword `[0-9a-f]` stands for one character of the set, so `v1.[0-9a-f]` is sixteen keywords. A keyword without a capital letter is
 * met in any case, one with a capital letter as it is written.
 */
export type RuleData = FormData | PhraseData | NamedData | SweepData | BuiltInData

/** The same as the package loads it: keywords written out, and for each where its rarest three letters end. */
export type WrittenRule = (Exclude<RuleData, SweepData> & { readonly trigramEnds: readonly number[] }) | SweepData

/**
 * How text is made plain before the rules look, as patterns. What they do not touch stays; what is found is masked where it stood. Beside these,
 * a run of 24 or more characters of base64 whose first 18 bytes are printable is decoded and searched, twice at most.
 */
export interface NormaliseData {
  /** Taken off together, in one pass from left to right, the first that matches winning. */
  readonly dresses: readonly DressData[]
  /** Before a gutter: a line break, or one that is written as an escape. */
  readonly lineBreak: string
  /**
   * Up to three of these, blanks before them, are what tools put before a line: its number with an arrow, bar, colon or tab; path and number of
   * grep; the commit of blame; service or time of a log; the sign of a diff, quotation or comment. Left out for rules that say `multiLine`, from
   * 128 characters before one of their keywords to 20,000 behind it.
   */
  readonly gutter: readonly string[]
  /** How long lines are where a terminal, mail or editor breaks them: a break behind so many characters, inside a word, is none. */
  readonly widths: readonly number[]
}

export interface DressData {
  /** In a text that has none of these, the pattern does not match. */
  readonly where: readonly string[]
  readonly pattern: string
  /** What the rules see in its place: nothing, or one character, which the only group holds: as it is, as its code, or by its name in HTML. */
  readonly as: "nothing" | "itself" | "hexadecimal" | "decimal" | "entity"
}

/** Which names tell that their value is a secret, word by word: `dbPassword` is two. Patterns are those of whole words. */
export interface NameData {
  /** The last word of a name that fits, first fit first, says of what kind its value is. `key` says it together with the words before it. */
  readonly words: readonly {
    readonly kind: NameKind
    readonly word: string
    /** What the word before it has to be. */
    readonly behind?: string
    /** No word may follow. */
    readonly isLast?: true
  }[]
  /** Lists are lines of words. Before `key`, what makes it one that opens something. */
  readonly keyOf: readonly string[]
  /** Before `key`, whose it is. */
  readonly vendors: readonly string[]
  /** Behind the telling word: the name is of something about the secret. */
  readonly aboutIt: readonly string[]
  /** Before the telling word: there is nothing secret about it. */
  readonly harmless: readonly string[]
  /** Of these, those that say nothing of a token. */
  readonly deeds: readonly string[]
}

/** What a value says about itself. */
export interface ValueData {
  /** What people write where a secret will stand. Found anywhere in it. */
  readonly filler: string
  /** A value that is looked up elsewhere. */
  readonly reference: string
  /** Words that stand where a password would, in what a form, a schema or an error message says about passwords. */
  readonly aboutPasswords: readonly string[]
  /** Keys that their vendors print as examples: the first 16 digits of their SHA-256, for no scanner that reads this file should find a key in it. */
  readonly published: readonly string[]
  /** What often follows each letter in words: the 230 commonest pairs, nine in ten of all there are. */
  readonly letterPairs: readonly string[]
}

/** Where a program takes a password on its command line. Patterns are those of whole words. */
export interface ProgramData {
  readonly names: readonly string[]
  /** Its next word is the password. */
  readonly option?: string
  /** What stands before the password in the same word. */
  readonly glued?: string
  /** Its next word is name and password, with `sign` between them. */
  readonly login?: string
  readonly sign?: string
  /** This word has to stand there first. */
  readonly needs?: string
  /** Which of the words that are no options is the password, counted from the one that is needed. */
  readonly position?: number
}

interface Described {
  readonly id: string
  /** What it finds, in a few words, for people. */
  readonly about: string
  readonly category: string
  /** Whose rows or tool it was written from, or `vendor` where the vendor publishes the form itself. What stems from one source alone is left out where that source is measured. */
  readonly from: readonly string[]
}

interface Keyed extends Described {
  readonly keywords: readonly string[]
  /** What it finds reaches over lines, and each may have a gutter. */
  readonly multiLine?: boolean
}

interface Matching {
  readonly pattern: string
  readonly ignoreCase?: boolean
  /** All of these have to hold of the secret. */
  readonly accept?: readonly Predicate[]
}

/**
 * A secret known by its own form: a prefix its vendor chose so that it can be found, and what may follow. It begins and ends where a word
 * does, is no placeholder and no published example, and a keyword that could be a piece of base64 does not count inside of it. Where the whole
 * form is not there, the prefix and 16 or more key characters are a secret all the same, unless they read like words or spell the alphabet:
 * a key may be longer tomorrow, and a stream may have cut it.
 */
export interface FormData extends Keyed, Matching {
  readonly kind: "form"
  readonly start?: Start
  /** Its prefix is too common to be a vendor's alone: only the whole form counts, not the prefix with any 16 key characters behind it. */
  readonly exact?: boolean
  /** A row of x of the right length counts as a secret: a check of prefix and length cannot tell the two apart. */
  readonly fillerIsSecret?: boolean
}

/** A secret known by what stands before it. It is the last group of the pattern that took part, or the whole match, and ends with the match. */
export interface PhraseData extends Keyed, Matching {
  readonly kind: "phrase"
  readonly start?: Start
  /** The match begins where a word does. */
  readonly beginsWord?: boolean
}

/** A secret without a form of its own, known by a vendor's name, a sign of assignment, and by fitting that vendor's format. */
export interface NamedData extends Keyed {
  readonly kind: "named"
  /** The rest of the name, from the keyword on. */
  readonly name: string
  readonly nameIgnoresCase?: boolean
  readonly pattern: string
  readonly ignoreCase?: boolean
}

/** Tried everywhere, without keywords: for packs that are off unless asked for. */
export interface SweepData extends Described, Matching {
  readonly kind: "sweep"
  /** No match is longer. */
  readonly longest: number
}

/** More than a pattern with predicates: code of this package, under the same id. */
export interface BuiltInData extends Keyed {
  readonly kind: "built-in"
}

/** Where the match begins, counted from the keyword; at the keyword itself where nothing is said. */
export type Start =
  | { readonly offset: number }
  /** As far back as characters of this set stand, `most` of them at most. */
  | { readonly back: string; readonly most: number }
  /** Behind this pattern, which begins at the keyword; without it there is no match. */
  | { readonly behind: string; readonly ignoreCase?: boolean }

/** What has to hold of a secret. A closed list, so that each is written once in every language. */
export type Predicate =
  | { readonly matches: string; readonly from?: number }
  | { readonly lacks: string; readonly from?: number }
  /** How many digits it has, least and most. */
  | { readonly digits: readonly [number, number] }
  | { readonly length: readonly [number, number] }
  | { readonly is: "mixed-case" | "drawn" | "unlike-words" | "luhn" | "iban" | "ipv6" }
  | { readonly not: "placeholder" | "mask" }
  /** Looks drawn by lot, and has so many characters. */
  | { readonly random: number }
  /** Can be the value that a name of this kind promises. */
  | { readonly value: NameKind; readonly written: Quoting }
  /** Is base64 of a text that matches. */
  | { readonly decodes: string }
  /** One of these lists holds as a whole. */
  | { readonly any: readonly (readonly Predicate[])[] }
