import type { ScoredChunk } from "./chunk.js"

/** Finds chunks for a query. The same query over the same content must give the same answer. */
export interface Retriever {
  readonly id: string
  readonly version: string
  /** What kind of source it reads, for policies. */
  readonly sourceKind?: string
  retrieve(query: string): readonly ScoredChunk[]
}
