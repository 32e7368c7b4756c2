import type { Tape, TapeCall } from "../tape/tape.js"

/**
 * The order in which concurrent calls were answered. Where the first answer wins, that order is part of what happened: a finished answer is
 * held until every call that was answered while it was under way has been answered again.
 */
export class CompletionOrder {
  readonly #outermost: readonly TapeCall[]
  readonly #waits = new Map<string, readonly string[]>()

  constructor(tape: Tape) {
    this.#outermost = tape.calls.filter(
      (call) => !call.isInferred && call.within === null && call.attemptOf === null && call.closedAt !== null,
    )
  }

  /** The recorded calls whose answers came while this one was waiting for its own. */
  waitsFor(call: TapeCall): readonly string[] {
    const known = this.#waits.get(call.stepId)
    if (known) return known
    const { openedAt, closedAt } = call
    const found =
      closedAt === null
        ? []
        : this.#outermost
            .filter((other) => other.closedAt! > openedAt && other.closedAt! < closedAt && other.stepId !== call.stepId)
            .map((other) => other.stepId)
    this.#waits.set(call.stepId, found)
    return found
  }

  mayAnswer(call: TapeCall, isAnswered: (stepId: string) => boolean): boolean {
    return this.waitsFor(call).every(isAnswered)
  }
}
