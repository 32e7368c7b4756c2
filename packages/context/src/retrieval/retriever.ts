import type { ItemType } from "../generated.js"
import type { ProvenanceRecord } from "../workspace-files.js"

/** A piece of text that may go into a context. */
export interface Chunk {
  readonly id: string
  readonly text: string
  /** Pointer to the origin. Default: `chunk:<id>`. */
  readonly sourceRef?: string
  /** Heads the chunk in the prompt. Default: the id. */
  readonly title?: string
  /** Default: evidence. */
  readonly type?: ItemType
  /** What kind of source it is from, for policies. */
  readonly sourceKind?: string
  /** The file it was cut from; recorded in the bundle where the chunk is used. */
  readonly provenance?: ProvenanceRecord
}

export interface ScoredChunk {
  readonly chunk: Chunk
  /** Higher is better; the scale is the retriever's own. */
  readonly score: number
}

/** Finds chunks for a query. The same query over the same content must give the same answer. */
export interface Retriever {
  readonly id: string
  readonly version: string
  /** What kind of source it reads, for policies. */
  readonly sourceKind?: string
  retrieve(query: string): readonly ScoredChunk[]
}
