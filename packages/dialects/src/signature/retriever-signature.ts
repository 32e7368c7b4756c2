import { type BodyHash, canonicalJson } from "@orangebox/contract"
import { callDigest } from "./digest.js"

export interface RetrievalToSign {
  readonly query: string
  readonly index: string
  /** Where known: the same question to another state of the index is another question. */
  readonly indexVersion?: string | null
  readonly topK?: number | null
  readonly filters?: unknown
}

export function retrieverSignature(retrieval: RetrievalToSign): BodyHash {
  const { query, index, indexVersion = null, topK = null, filters = {} } = retrieval
  return callDigest("retriever", [canonicalJson({ query, index, indexVersion, topK, filters })])
}
