import type { ItemType } from "../manifest.js"

/** Decides what must not reach a prompt. Tier 0 is policy itself and is not asked about. */
export interface PolicyFilter {
  readonly id: string
  /** Why the item is refused; undefined lets it pass. A filter that throws refuses. */
  refuses(item: PolicySubject): string | undefined
}

export interface PolicySubject {
  readonly itemId: string
  readonly itemType: ItemType
  readonly sourceRef: string
  readonly sourceKind: string | undefined
  readonly text: string
}
