import { addToList } from "../add-to-list.js"
import type { Tape, TapeCall, TapeStep } from "../tape/tape.js"

/** A stretch of a recording, by positions. */
export interface Stretch {
  readonly openedAt: number
  readonly closedAt: number
}

/**
 * Where a recording went several ways at once: steps of one parent that were open together. Which of two calls in two such branches came
 * first was a matter of chance, also where they did not overlap themselves; within a branch one came after the other.
 */
export class Branches {
  readonly #steps: Tape["steps"]
  readonly #branching = new Set<string>()

  constructor({ steps, calls }: Tape) {
    this.#steps = steps
    const isCall = new Set(calls.map(({ stepId }) => stepId))
    const children = new Map<string, TapeStep[]>()
    for (const step of steps.values()) {
      if (step.parentStepId !== null && !isCall.has(step.stepId)) addToList(children, step.parentStepId, step)
    }
    for (const siblings of children.values()) this.#note([...siblings].sort((a, b) => a.openedAt - b.openedAt))
  }

  #note(siblings: readonly TapeStep[]): void {
    let widest: TapeStep | undefined
    for (const step of siblings) {
      if (widest && step.openedAt <= end(widest)) this.#branching.add(widest.stepId).add(step.stepId)
      if (widest === undefined || end(step) > end(widest)) widest = step
    }
  }

  /** The outermost branch that a call was made in, or the call itself. */
  stretchOf(call: TapeCall): Stretch {
    return stretch(this.#pathOf(call).find(({ stepId }) => this.#branching.has(stepId)) ?? call)
  }

  /** Whether two calls were under way together, or in branches that were. */
  areConcurrent(a: TapeCall, b: TapeCall): boolean {
    const [one, other] = this.#apart(a, b)
    return overlap(stretch(one), stretch(other)) && (one === a) === (other === b)
  }

  /** The same, where a call beside a branch is one, too: nothing says whether what the branch did had to wait for it. */
  mayOverlap(a: TapeCall, b: TapeCall): boolean {
    const [one, other] = this.#apart(a, b)
    return overlap(stretch(one), stretch(other))
  }

  /** Where two calls went apart: the outermost steps around them that are not the same, or the calls themselves. */
  #apart(a: TapeCall, b: TapeCall): readonly [Stretched, Stretched] {
    const [ofA, ofB] = [
      [...this.#pathOf(a), a],
      [...this.#pathOf(b), b],
    ]
    const at = ofA.findIndex(({ stepId }, i) => stepId !== ofB[i]?.stepId)
    return [ofA[at] ?? a, ofB[at] ?? b]
  }

  /** The steps around a call, from the outermost in. */
  #pathOf({ parentStepId }: TapeCall): TapeStep[] {
    const found: TapeStep[] = []
    for (let step = this.#steps.get(parentStepId ?? ""); step; step = this.#steps.get(step.parentStepId ?? ""))
      found.unshift(step)
    return found
  }
}

type Stretched = Pick<TapeStep, "openedAt" | "closedAt">

const end = ({ closedAt }: Pick<TapeStep, "closedAt">): number => closedAt ?? Number.POSITIVE_INFINITY
const stretch = (of: Stretched): Stretch => ({ openedAt: of.openedAt, closedAt: end(of) })
const overlap = (a: Stretch, b: Stretch): boolean => a.openedAt <= b.closedAt && b.openedAt <= a.closedAt
