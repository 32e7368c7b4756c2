import type { ArtifactRef } from "@orangebox/contract"
import type { StepState } from "../step-handle.js"
import { isWithin } from "../step-tree.js"

/** What a snapshot would hold: a prompt as it was sent, the output of a tool as it came, the answer of a model. */
export interface EvidenceItem {
  readonly kind: "prompt_snapshot" | "tool_output_snapshot" | "other"
  readonly step: StepState
  readonly ref: ArtifactRef
  /** The bytes, where they are in no journal yet. Undefined where they are, or were never kept. */
  readonly bytes: Uint8Array | undefined
  /** Why they cannot be had any more. */
  readonly lost?: string
}

/**
 * What has been sent and received in the steps that are still of interest, so that a fault can say what the model saw. Bytes are held only
 * where no journal has them, and only so many; what had to be let go is remembered as lost. Only the oldest of very many are forgotten.
 */
export class Evidence {
  #items: EvidenceItem[] = []
  #heldBytes = 0
  readonly #mostBytes: number

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

  /** Of a step with all its descendants, in the order it came. */
  of(scope: StepState): readonly EvidenceItem[] {
    return this.#items.filter(({ step }) => isWithin(step, scope))
  }

  /** A step that ended well is of no interest any more, nor is anything below it. */
  forget(scope: StepState): void {
    this.#items = this.#items.filter(({ step, bytes }) => {
      const isGone = isWithin(step, scope)
      if (isGone) this.#heldBytes -= bytes?.length ?? 0
      return !isGone
    })
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** The items of a scope are in a journal now; their bytes need not be held. */
  release(scope: StepState): void {
    this.#items = this.#items.map((item) => {
      if (item.bytes === undefined || !isWithin(item.step, scope)) return item
      this.#heldBytes -= item.bytes.length
      return { ...item, bytes: undefined }
    })
  }
}

const MOST_BYTES = 64 * 1024 * 1024
const MOST_ITEMS = 10_000

/** What an event's bodies are to a snapshot, by the field that names them. */
export function evidenceKindOf(eventType: string, artifactType: string): EvidenceItem["kind"] | undefined {
  if (eventType === "model_called" && artifactType === "request") return "prompt_snapshot"
  if (eventType === "prompt_rendered" && artifactType === "rendered_prompt") return "prompt_snapshot"
  if (eventType === "tool_result" && artifactType === "result") return "tool_output_snapshot"
  if (eventType === "model_result" && artifactType === "response") return "other"
  return undefined
}
