import type { Interner } from "@orangebox/text"
import type { DiffStep } from "./diff-step.js"
import type { DiffRun } from "./read-steps.js"
import type { Shingles } from "./shingles.js"
import type { StepReader } from "./step-reader.js"

/**
 * What two steps are told apart by, as numbers that are equal in both runs for equal things. Worked out when asked for: two related runs
 * are matched without reading a body.
 */
export class Features {
  readonly step: DiffStep
  /** Kind and name; a model call is a model call, whichever model. */
  readonly label: number
  readonly #reader: StepReader
  readonly #interner: Interner
  readonly #children: readonly Features[]
  #input = -1
  #output = -1
  #own = -1
  #subtree = -1
  #call = -2
  #decision = -2
  #childLabels: Shingles | undefined
  #inputShingles: Shingles | null | undefined
  #outputShingles: Shingles | null | undefined

  constructor(step: DiffStep, children: readonly Features[], reader: StepReader, interner: Interner) {
    this.step = step
    this.label = interner.of(`label ${labelOf(step)}`)
    this.#children = children
    this.#reader = reader
    this.#interner = interner
  }

  get input(): number {
    if (this.#input < 0) this.#input = this.#interner.of(`input ${this.#reader.looseInput(this.step)}`)
    return this.#input
  }

  get output(): number {
    if (this.#output < 0) this.#output = this.#interner.of(`output ${this.#reader.looseOutput(this.step)}`)
    return this.#output
  }

  /** Everything about the step itself. */
  get own(): number {
    if (this.#own < 0) {
      const { name, status } = this.step
      this.#own = this.#interner.of(`own ${this.label} ${name} ${this.input} ${this.output} ${status}`)
    }
    return this.#own
  }

  /** The step and all below it, children that ran at the same time in any order. */
  get subtree(): number {
    if (this.#subtree < 0) this.readSubtree()
    return this.#subtree
  }

  readSubtree(): void {
    this.#subtree = this.#interner.of(`tree ${this.own} ${treeText(this.#children)}`)
  }

  /** What it was asked, for steps that can be recognised by that alone; -1 for others. */
  get call(): number {
    if (this.#call === -2) {
      const { kind, name, sig, inputRef } = this.step
      const isCall = kind !== "run" && kind !== "step"
      const isKnown = isCall && (sig !== undefined || inputRef !== undefined)
      this.#call = isKnown ? this.#interner.of(`call ${this.label} ${name} ${this.input}`) : -1
    }
    return this.#call
  }

  /** What a model had done, its wording aside; -1 for an answer that calls nothing. */
  get decision(): number {
    if (this.#decision === -2) {
      const decision = this.#reader.decision(this.step)
      this.#decision = decision === undefined ? -1 : this.#interner.of(`decision ${decision}`)
    }
    return this.#decision
  }

  get childLabels(): Shingles {
    this.#childLabels ??= Uint32Array.from(this.#children, (child) => child.label).sort()
    return this.#childLabels
  }

  /** Null where there is no text to read. */
  get inputShingles(): Shingles | null {
    if (this.#inputShingles === undefined) this.#inputShingles = this.#reader.inputShingles(this.step) ?? null
    return this.#inputShingles
  }

  get outputShingles(): Shingles | null {
    if (this.#outputShingles === undefined) this.#outputShingles = this.#reader.outputShingles(this.step) ?? null
    return this.#outputShingles
  }
}

/** Indexed by `step.at`. Children come after their parents there. */
export function featuresOf(run: DiffRun, reader: StepReader, interner: Interner): readonly Features[] {
  const features: Features[] = new Array(run.steps.length)
  for (let at = run.steps.length - 1; at >= 0; at--) {
    const step = run.steps[at]!
    const children = step.children.map((child) => features[child.at]!)
    features[at] = new Features(step, children, reader, interner)
  }
  return features
}

/** Subtrees from the leaves up: asked for from the top, a deep tree would need a deep stack. */
export function readSubtrees(features: readonly Features[]): void {
  for (let at = features.length - 1; at >= 0; at--) features[at]!.readSubtree()
}

const labelOf = (step: DiffStep): string => (step.kind === "model" ? "model" : `${step.kind} ${step.name}`)

/** Runs of siblings that overlap in time; a sibling that ran alone is a run of one. */
export function concurrentGroups(siblings: readonly DiffStep[]): readonly (readonly DiffStep[])[] {
  const groups: DiffStep[][] = []
  let openUntil = Number.NEGATIVE_INFINITY
  for (const step of siblings) {
    if (step.openedAt < openUntil) groups.at(-1)!.push(step)
    else groups.push([step])
    openUntil = Math.max(openUntil, endOf(step))
  }
  return groups
}

/** A step that was never closed is no evidence that it went on beside all that follows. */
function endOf(step: DiffStep): number {
  return step.children.reduce((end, child) => Math.max(end, closedOrOpened(child)), closedOrOpened(step))
}

const closedOrOpened = (step: DiffStep): number => (Number.isFinite(step.closedAt) ? step.closedAt : step.openedAt)

function treeText(children: readonly Features[]): string {
  if (children.length === 0) return ""
  const byStep = new Map(children.map((child) => [child.step, child.subtree]))
  return concurrentGroups(children.map(({ step }) => step))
    .map((group) =>
      group
        .map((step) => byStep.get(step)!)
        .sort((x, y) => x - y)
        .join("|"),
    )
    .join(",")
}
