import type { ItemType } from "../manifest.js"
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
