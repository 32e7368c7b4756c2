import type { Painter } from "@orangebox/text"

/** What a question came to: text for whoever reads it, a document for a program. Each is made when it is asked for. */
export interface Answer {
  /** Safe to print: what was recorded has been made so. */
  text(): string
  json(): object
  /** Said beside the text, a sentence each: what was left out, where else to look. A document says it in its members. */
  readonly remarks?: readonly string[]
  /** Its lines are not to be broken: a table, a body. */
  readonly isVerbatim?: true
  /** It names something that a script should stop at. */
  readonly isBad?: boolean
}

/** How much of an answer is asked for, and how it looks where it is read. */
export interface Shown {
  readonly budget?: number
  /** The row to begin with. */
  readonly cursor?: number
  readonly all?: boolean
  readonly format?: "markdown"
  readonly color?: Painter
  /** Columns, where something limits them. */
  readonly width?: number
}

export const verbatim = (text: () => string, json: () => object): Answer => ({ text, json, isVerbatim: true })
