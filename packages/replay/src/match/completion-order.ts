import type { Tape, TapeCall } from "../tape/tape.js"

/**
 * The order in which concurrent calls were answered. Where the first answer wins, that order is part of what happened: a finished answer is
 * held until every call that was answered while it was under way has been answered again.
 */
export class CompletionOrder {
  readonly #byAnswer: readonly AnsweredCall[]
  readonly #waits = new Map<string, readonly string[]>()

  constructor(tape: Tape) {
    this.#byAnswer = tape.calls
      .filter((call) => !call.isInferred && call.within === null && call.attemptOf === null)
      .filter((call): call is AnsweredCall => call.closedAt !== null)
      .sort((a, b) => a.closedAt - b.closedAt)
  }

  /** The recorded calls whose answers came while this one was waiting for its own. */
  waitsFor(call: TapeCall): readonly string[] {
    const known = this.#waits.get(call.stepId)
    if (known) return known
    const { openedAt, closedAt } = call
    const found: string[] = []
    if (closedAt !== null) {
      for (let at = this.#firstAnsweredAfter(openedAt); at < this.#byAnswer.length; at++) {
        const other = this.#byAnswer[at]!
        if (other.closedAt >= closedAt) break
        if (other.stepId !== call.stepId) found.push(other.stepId)
      }
    }
    this.#waits.set(call.stepId, found)
    return found
  }

  #firstAnsweredAfter(moment: number): number {
    let [low, high] = [0, this.#byAnswer.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#byAnswer[middle]!.closedAt > moment) high = middle
      else low = middle + 1
    }
    return low
  }

  mayAnswer(call: TapeCall, isAnswered: (stepId: string) => boolean): boolean {
    return this.waitsFor(call).every(isAnswered)
  }
}

type AnsweredCall = TapeCall & { readonly closedAt: number }
