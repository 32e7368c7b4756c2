import type { ShellProblem } from "./command.js"
import type { Item, RawRedirection } from "./syntax.js"

/** Substitutions and subshells inside each other; real scripts stay in single digits. */
const MAX_DEPTH = 24

/** What all readings of one text share, so that nesting cannot make the work grow faster than the text. */
export interface Allowance {
  steps: number
  readonly problems: ShellProblem[]
}

/** A place in a text that is being read as shell. */
export class Cursor {
  readonly text: string
  readonly allowance: Allowance
  readonly readItems: ItemReader
  /** Here-documents announced on this line, whose bodies follow the next newline. */
  readonly pending: { readonly redirection: RawRedirection; readonly stripTabs: boolean }[] = []
  at = 0
  private depth: number

  constructor(text: string, depth: number, allowance: Allowance, readItems: ItemReader) {
    this.text = text
    this.depth = depth
    this.allowance = allowance
    this.readItems = readItems
    this.spend(text.length)
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** The place as an offset into the text: stepping over what should close a quote may lead beyond it. */
  get offset(): number {
    return Math.min(this.at, this.text.length)
  }

  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? ""
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at)
  }

  problem(reason: string): void {
    const { problems } = this.allowance
    if (problems.length < 64) problems.push({ position: this.offset, reason })
  }

  /** Charges work beyond reading each character once. Once nothing is left, readers stop where they are. */
  spend(steps: number): boolean {
    if (this.allowance.steps < 0) return false
    this.allowance.steps -= steps
    if (this.allowance.steps >= 0) return true
    this.problem("the text is too entangled to be read to its end")
    return false
  }

  get isExhausted(): boolean {
    return this.allowance.steps < 0
  }

  /** The same allowance over a text found inside this one. */
  inner(text: string): Cursor {
    return new Cursor(text, this.depth + 1, this.allowance, this.readItems)
  }

  /** Reads something that may hold more of its kind; beyond the depth anyone writes, the rest of the text is given up. */
  nested<T>(read: () => T, otherwise: T): T {
    if (this.depth >= MAX_DEPTH) {
      this.problem("quotes, substitutions and subshells are nested too deeply")
      this.at = this.text.length
      return otherwise
    }
    this.depth++
    try {
      return read()
    } finally {
      this.depth--
    }
  }
}

/** Reads commands up to the closing parenthesis, or to the end of the text. */
export type ItemReader = (cursor: Cursor, closer: ")" | undefined) => Item[]
