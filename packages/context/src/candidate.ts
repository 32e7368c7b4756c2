import { asPointer } from "@orangebox/contract"
import type { ExcludedReason, ExclusionEntry, IncludedReason, ItemType } from "./generated.js"
import type { Placed } from "./sections.js"
import type { ProvenanceRecord } from "./workspace-files.js"

/** An item that was considered: it ends up in exactly one of the two logs. */
export interface Candidate {
  readonly id: string
  readonly type: ItemType
  readonly sourceRef: string
  readonly sourceKind?: string | undefined
  readonly reason: IncludedReason
  readonly placed: Placed
  readonly score?: number
  readonly provenance?: ProvenanceRecord | undefined
}

/** Everything that was considered for one context, and what was decided against. Ids are unique in it. */
export class Considered {
  readonly exclusions: ExclusionEntry[] = []
  readonly #ids = new Set<string>()

  /** The id under which an item is logged: its own, or with a number behind it where that is taken. */
  admit(id: string): string {
    const pointer = asPointer(id)
    let unique = pointer
    for (let n = 2; this.#ids.has(unique); n++) unique = `${pointer}~${n}`
    this.#ids.add(unique)
    return unique
  }

  /** An item that was admitted as a candidate and is not taken. */
  reject(
    candidate: Candidate,
    reason: ExcludedReason,
    more?: Pick<ExclusionEntry, "duplicate_of" | "detail" | "threshold" | "tokens" | "room_tokens">,
  ): void {
    this.exclusions.push({
      item_id: candidate.id,
      item_type: candidate.type,
      source_ref: asPointer(candidate.sourceRef),
      excluded_reason: reason,
      score: candidate.score,
      ...more,
    })
  }

  /** Something that never became a candidate. */
  exclude(entry: ExclusionEntry): void {
    this.exclusions.push({
      ...entry,
      item_id: this.admit(entry.item_id),
      source_ref: asPointer(entry.source_ref),
    })
  }

  get count(): number {
    return this.#ids.size
  }
}
