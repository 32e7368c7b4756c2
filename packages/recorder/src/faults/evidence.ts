import type { ArtifactRef, SnapshotKind } from "@orangebox/contract"
import type { EventContext } from "../event-record.js"
import type { StepState } from "../step-handle.js"
import { isWithin, nearest } from "../step-tree.js"

/** What a snapshot would hold: a prompt as it was sent, the output of a tool as it came, the answer of a model. */
export interface EvidenceItem {
  readonly kind: SnapshotKind
  readonly step: StepState
  readonly context: EventContext
  readonly ref: ArtifactRef
  /** The bytes, where they are in no journal yet. Undefined where they are, or were never kept. */
  readonly bytes: Uint8Array | undefined
  /** Why they cannot be had any more. */
  readonly lost?: string
  /** The answer was still coming. */
  readonly isPartial?: true
  /** So many more bytes of it had come, and had not been searched for secrets yet. */
  readonly withheldBytes?: number
}

/**
 * What has been sent and received in the steps that are still of interest, so that a fault can say what the model saw. The last calls of the
 * run are of interest until it ends: a run often fails over an answer whose step ended well. Bytes are held only where no journal has them,
 * and only so many; what had to be let go is remembered as lost. Only the oldest of very many are forgotten.
 */
export class Evidence {
  #items: EvidenceItem[] = []
  #heldBytes = 0
  readonly #mostBytes: number
  /** Steps that ended well. */
  readonly #over = new WeakSet<StepState>()

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  add(item: EvidenceItem): void {
    this.#items.push(item)
    this.#heldBytes += item.bytes?.length ?? 0
    for (let i = 0; this.#heldBytes > this.#mostBytes && i < this.#items.length - 1; i++) {
      const { bytes, ...rest } = this.#items[i]!
      if (bytes === undefined) continue
      this.#heldBytes -= bytes.length
      this.#items[i] = { ...rest, bytes: undefined, lost: "more was sent than a snapshot can hold" }
    }
    if (this.#items.length <= MOST_ITEMS) return
    for (const gone of this.#items.splice(0, this.#items.length - MOST_ITEMS)) {
      this.#heldBytes -= gone.bytes?.length ?? 0
    }
  }

  /** Of a step with all its descendants, in the order it came; where no model was asked there, behind the last call of the run. */
  of(scope: StepState): readonly EvidenceItem[] {
    const isInScope = ({ step }: EvidenceItem): boolean => isWithin(step, scope)
    if (this.#items.some((item) => isPrompt(item) && isInScope(item))) return this.#items.filter(isInScope)
    const from = this.#lastCallsFrom(1)
    return this.#items.filter((item, at) => at >= from || isInScope(item))
  }

  /** A step that ended well is of no interest any more, nor is anything below it, but for the last calls of the run. */
  forget(scope: StepState): void {
    this.#over.add(scope)
    const held = this.#lastOfRun()
    this.#items = this.#items.filter((item) => {
      const isGone = !held.has(item) && this.isOver(item.step)
      if (isGone) this.#heldBytes -= item.bytes?.length ?? 0
      return !isGone
    })
  }

  /** Whether a step has ended well, or one around it. */
  isOver(step: StepState): boolean {
    return nearest(step, (state) => this.#over.has(state)) !== undefined
  }

  /** Whether anything of a step is held. */
  holds(scope: StepState): boolean {
    return this.#items.some(({ step }) => isWithin(step, scope))
  }

  get items(): readonly EvidenceItem[] {
    return this.#items
  }

  /** These items are in a journal now; their bytes need not be held. */
  release(stored: readonly EvidenceItem[]): void {
    const released = new Set(stored)
    this.#items = this.#items.map((item) => {
      if (item.bytes === undefined || !released.has(item)) return item
      this.#heldBytes -= item.bytes.length
      return { ...item, bytes: undefined }
    })
  }

  /** The last calls with their answers, and the last outputs of tools since. */
  #lastOfRun(): ReadonlySet<EvidenceItem> {
    const held = new Set<EvidenceItem>()
    const from = this.#lastCallsFrom(HELD_CALLS)
    let outputs = 0
    for (let at = this.#items.length - 1; at >= from; at--) {
      const item = this.#items[at]!
      if (item.kind !== "tool_output_snapshot" || ++outputs <= HELD_OUTPUTS) held.add(item)
    }
    return held
  }

  /** Where the last so many calls begin, each with the prompt it was rendered from. */
  #lastCallsFrom(calls: number): number {
    let at = this.#items.length
    for (let found = 0; at > 0 && found < calls; found++) {
      while (at > 0 && !isPrompt(this.#items[at - 1]!)) at--
      if (at === 0) break
      while (at > 0 && isPrompt(this.#items[at - 1]!)) at--
    }
    return at
  }
}

const MOST_BYTES = 64 * 1024 * 1024
const MOST_ITEMS = 10_000
const HELD_CALLS = 4
const HELD_OUTPUTS = 16

const isPrompt = ({ kind }: EvidenceItem): boolean => kind === "prompt_snapshot"
