import type { ReplaySession } from "../match/session.js"
import { divergenceAt } from "../report/divergence-at.js"
import type { Tape, TapeCall } from "../tape/tape.js"

/** Longer than any agent takes to ask its next question, short enough not to be noticed. */
const NO_PROGRESS_MS = 250

interface Waiting {
  readonly call: TapeCall
  readonly go: () => void
}

/** Lets answers out in their recorded order. When nothing moves any more the first in line goes, and the report says so. */
export class AnswerQueue {
  readonly #session: ReplaySession
  readonly #order: CompletionOrder | undefined
  readonly #answered = new Set<string>()
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(session: ReplaySession) {
    this.#session = session
    this.#order = session.policy.completionOrder === "recorded" ? new CompletionOrder(session.tape) : undefined
  }

  /** Resolves when the answer of a recorded call may be given. Undefined when it may at once. */
  turnOf(call: TapeCall): Promise<void> | undefined {
    if (this.#order === undefined || call.attemptOf !== null) return undefined
    if (this.#mayGo(call)) {
      this.#gone(call)
      return undefined
    }
    const turn = new Promise<void>((go) => this.#waiting.push({ call, go }))
    this.#watch()
    return turn
  }

  #mayGo(call: TapeCall): boolean {
    return this.#order!.mayAnswer(call, (stepId) => this.#answered.has(stepId))
  }

  // The next one only goes when the caller of this one has had its answer, and has done with it what it does at once.
  #gone(call: TapeCall): void {
    setImmediate(() => {
      this.#answered.add(call.stepId)
      const ready = this.#waiting.find((waiting) => this.#mayGo(waiting.call))
      if (ready !== undefined) this.#release(ready)
      this.#watch()
    })
  }

  #release(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
    waiting.go()
    this.#gone(waiting.call)
  }

  #watch(): void {
    clearTimeout(this.#timer)
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#relax(), NO_PROGRESS_MS)
  }

  #relax(): void {
    const [first] = [...this.#waiting].sort((a, b) => a.call.closedAt! - b.call.closedAt!)
    if (first === undefined) return
    const message = "answered before calls that were answered earlier in the recording: those did not come"
    this.#session.note(divergenceAt(first.call, "ORDER_RELAXED", "warn", message))
    this.#release(first)
  }
}

/**
 * The order in which concurrent calls were answered. Where the first answer wins, that order is part of what happened: a finished answer is
 * held until every call that was answered while it was under way has been answered again.
 */
class CompletionOrder {
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
    const { openedAt, closedAt, toldAt } = call
    const found: string[] = []
    if (closedAt !== null) {
      for (let at = this.#firstAnsweredAfter(openedAt); at < this.#byAnswer.length; at++) {
        const other = this.#byAnswer[at]!
        if (other.closedAt >= closedAt) break
        // What was asked when this one had begun to answer may have been asked because of that.
        if (other.stepId !== call.stepId && other.openedAt < (toldAt ?? closedAt)) found.push(other.stepId)
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
