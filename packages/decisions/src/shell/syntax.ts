import type { RedirectOperator } from "./command.js"

/** A piece of a word as it is written, before expansion. */
export type Part =
  | { readonly kind: "text"; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: "variable"; readonly name: string; readonly isQuoted: boolean; readonly raw: string }
  /** A substitution: its commands run, its value is unknown. */
  | { readonly kind: "script"; readonly items: readonly Item[]; readonly isQuoted: boolean; readonly raw: string }
  /** An expansion too clever to follow; `parts` are the ones inside it, whose commands run too. */
  | { readonly kind: "unknown"; readonly parts: readonly Part[]; readonly isQuoted: boolean; readonly raw: string }
  /** An unquoted `{`, `,` or `}`. */
  | { readonly kind: "brace"; readonly text: "{" | "," | "}" }

export interface RawWord {
  readonly parts: readonly Part[]
  readonly start: number
  readonly end: number
}

export interface RawRedirection {
  readonly operator: RedirectOperator
  readonly target: RawWord
  /** Filled in when the lines of the here-document are reached. */
  body: RawWord | undefined
}

export interface RawAssignment {
  readonly name: string
  readonly isAppend: boolean
  /** Undefined for an array or an element of one. */
  readonly value: RawWord | undefined
}

/** How a command is joined to the one before it. */
export type Joint = "next" | "and" | "or" | "pipe" | "background"

export type Item =
  | {
      readonly kind: "command"
      readonly joint: Joint
      readonly words: readonly RawWord[]
      readonly assignments: readonly RawAssignment[]
      readonly redirections: readonly RawRedirection[]
      readonly start: number
      readonly end: number
    }
  | { readonly kind: "subshell"; readonly joint: Joint; readonly items: readonly Item[] }
  | { readonly kind: "open"; readonly block: "group" | "condition" | "loop" | "function"; readonly joint: Joint }
  | { readonly kind: "close" }
  | { readonly kind: "function"; readonly name: string }
  /** The variable of a `for`, with the words it takes one after the other; undefined when they are the script's own arguments. */
  | { readonly kind: "each"; readonly name: string; readonly values: readonly RawWord[] | undefined }
  /** Words that only matter for the substitutions inside them, such as the patterns of a `case`. */
  | { readonly kind: "aside"; readonly words: readonly RawWord[] }
