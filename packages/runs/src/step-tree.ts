import type { Event } from "@orangebox/contract"
import { type FoldedStep, isComplete, newStep } from "./folded-step.js"

/**
 * Which steps a run has, in the order of its events, and where each of them stands. A step's number is its address for good, so it depends
 * only on what came before: #1 is the run itself, and any other step gets the next number when it is first heard of, by an event in it or by
 * being named as the parent of a new step. The step of a lost opening therefore has the number it would have had.
 */
export class StepTree<Mark> {
  readonly root: FoldedStep<Mark>
  /** How many steps there are. */
  count: number
  readonly #byId = new Map<string, FoldedStep<Mark>>()
  readonly #options: StepTreeOptions<Mark>
  /** Whether the root's id was said by an event that opens or closes the run. Until then it is a guess that later events may correct. */
  #isRootSure: boolean

  /** @param from where the tree of an earlier fold stood: its root, every step that is not complete, and how many there were */
  constructor(
    options: StepTreeOptions<Mark>,
    from?: {
      readonly root: FoldedStep<Mark>
      readonly unfinished: Iterable<FoldedStep<Mark>>
      readonly count: number
    },
  ) {
    this.#options = options
    this.root = from?.root ?? { ...newStep<Mark>(1, "", null), kind: "run" }
    this.count = from?.count ?? 1
    this.#isRootSure = from !== undefined
    if (from === undefined) return
    if (from.root.id !== "") this.#byId.set(from.root.id, from.root)
    for (const step of from.unfinished) this.#byId.set(step.id, step)
  }

  /** The step with this id, as far as it has been heard of. */
  find(stepId: string): FoldedStep<Mark> | undefined {
    const known = this.#byId.get(stepId)
    if (known !== undefined || this.#options.lookUp === undefined) return known
    const found = this.#options.lookUp(stepId)
    if (found !== undefined) this.#byId.set(stepId, found)
    return found
  }

  /** Whether the step is in memory, so that asking for it costs nothing. */
  isAtHand(stepId: string): boolean {
    return this.#byId.has(stepId)
  }

  /** Forgets steps that are complete, when there are more than so many, and says whether it did: from then on `lookUp` has to know them. */
  forgetComplete(above: number): boolean {
    if (this.#byId.size <= above) return false
    for (const [id, step] of this.#byId) if (isComplete(step) && step !== this.root) this.#byId.delete(id)
    return true
  }

  /** The step an event is in. @param isOfRun whether the event opens or closes the run */
  stepOf(event: Event, isOfRun: boolean, atMs: number): FoldedStep<Mark> {
    const id = event.step_id
    if (isOfRun) return this.#rootIs(id, true)
    if (id === null) return this.root
    const known = this.find(id)
    if (known !== undefined) {
      // What was taken for the root has a parent, so that is the root, and both are #1.
      if (known === this.root && !this.#isRootSure && event.parent_step_id !== null)
        this.#rootIs(event.parent_step_id, false)
      return known
    }
    if (event.parent_step_id === null && !this.#isRootSure) return this.#rootIs(id, false)
    return this.#add(id, this.#parentOf(event, atMs), atMs)
  }

  /** The parent of a step that is new. */
  #parentOf(event: Event, atMs: number): FoldedStep<Mark> {
    const id = event.parent_step_id
    // Nothing is inside itself: a step that names itself says nothing about where it is.
    if (id === null || id === event.step_id) return this.root
    const known = this.find(id)
    if (known !== undefined) return known
    // Where only the opening of the run is lost, what comes next stands directly in the run.
    if (this.root.id === "" && event.sequence_no! <= 1) return this.#rootIs(id, false)
    return this.#add(id, this.root, atMs)
  }

  /** A step that was only named stands in the run until something in it says where. Only an older step can be a parent: the tree stays one. */
  place(step: FoldedStep<Mark>, { parent_step_id: id }: Event): void {
    const parent = id === null || step.parent === null || step.parent.id === id ? undefined : this.find(id)
    if (parent === undefined || parent.no >= step.no) return
    step.parent = parent
    this.#options.onChange(step)
  }

  #rootIs(id: string | null, isSure: boolean): FoldedStep<Mark> {
    if (id !== null && id !== this.root.id && this.find(id) === undefined) {
      this.#byId.set(id, this.root)
      if (!this.#isRootSure) {
        this.root.id = id
        this.#options.onChange(this.root)
      }
    }
    if (isSure) this.#isRootSure = true
    return this.root
  }

  #add(id: string, parent: FoldedStep<Mark>, atMs: number): FoldedStep<Mark> {
    const step = newStep<Mark>(++this.count, id, parent)
    step.openedAtMs = atMs
    this.#byId.set(id, step)
    this.#options.onChange(step)
    return step
  }
}

export interface StepTreeOptions<Mark> {
  /** A step of the run that was heard of before and is no longer at hand. */
  readonly lookUp?: ((stepId: string) => FoldedStep<Mark> | undefined) | undefined
  /** Called for every step that is new or stands elsewhere than before. */
  readonly onChange: (step: FoldedStep<Mark>) => void
}
