import type { Problem } from "@orangebox/contract"
import { timeOf } from "./event-time.js"
import type { Batch, CommitSummary } from "./trace-store.js"
import { type UsableRef, usableRef } from "./usable-ref.js"

/** A body that came with the batch, so that its text need not be read back from the packs. */
export interface BodyInBatch<Row> {
  readonly row: Row
  readonly mime: string | null
  /** The first part of the bytes, for the index. */
  readonly head: Uint8Array
}

export type MutableSummary = { -readonly [K in keyof Omit<CommitSummary, "runIds" | "problems">]: number }

interface Reference {
  readonly ref: UsableRef
  readonly newestAtMs: number
  readonly isOnlyBuried: boolean
}

/** What one batch knows about itself; built as far as something asks for it. */
export class BatchWork<Run, BodyRow> {
  readonly runs = new Map<string, Run | undefined>()
  readonly bodies = new Map<string, BodyInBatch<BodyRow>>()
  #references: Map<string, Reference> | undefined

  constructor(
    readonly batch: Batch,
    readonly nowMs: number,
    readonly summary: MutableSummary,
    readonly problems: Problem[],
  ) {}

  refTo(hash: string): UsableRef | undefined {
    return this.#referencesByHash().get(hash)?.ref
  }

  newestReference(hash: string): number {
    return this.#referencesByHash().get(hash)?.newestAtMs ?? 0
  }

  isOnlyOfBuriedRuns(hash: string): boolean {
    return this.#referencesByHash().get(hash)?.isOnlyBuried ?? false
  }

  problem(code: string, subject: string, reason: string): void {
    this.problems.push({ code, severity: "error", subject, field: "", reason })
  }

  #referencesByHash(): Map<string, Reference> {
    if (this.#references !== undefined) return this.#references
    this.#references = new Map()
    for (const { event } of this.batch.events ?? []) {
      const isBuried = event.run_id !== null && this.runs.get(event.run_id) === undefined
      for (const given of Array.isArray(event.artifact_refs) ? event.artifact_refs : []) {
        const ref = usableRef(given)
        if (ref === undefined) continue
        const known = this.#references.get(ref.artifact_hash)
        this.#references.set(ref.artifact_hash, {
          ref,
          newestAtMs: Math.max(known?.newestAtMs ?? 0, timeOf(event)),
          isOnlyBuried: isBuried && (known?.isOnlyBuried ?? true),
        })
      }
    }
    return this.#references
  }
}
