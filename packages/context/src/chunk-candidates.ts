import type { Problem } from "@orangebox/contract"
import type { Candidate, Considered } from "./candidate.js"
import type { ContextManifest } from "./generated.js"
import { type RankedChunk, rankChunks } from "./retrieval/rank-chunks.js"
import type { Reranker } from "./retrieval/reranker.js"
import type { Retriever } from "./retrieval/retriever.js"
import type { Stage } from "./stage.js"

export interface ChunkCandidates {
  readonly candidates: readonly Candidate[]
  readonly scores: ContextManifest["candidate_chunk_ids"]
  readonly problems: readonly Problem[]
}

/** The evidence part of tier 2: retrieved, ranked, without duplicates and without what ranks too low. */
export function chunkCandidates(
  stage: Stage,
  query: string,
  retrieval: { retrievers: readonly Retriever[]; reranker: Reranker; minScore: number },
  considered: Considered,
): ChunkCandidates {
  const allowed = retrieval.retrievers.filter((retriever) => !isRefused(stage, retriever, considered))
  const ranking = rankChunks(query, allowed, retrieval.reranker)
  for (const { retriever, errorClass } of ranking.failed) {
    considered.exclude({ ...refOf(retriever), excluded_reason: "retriever_failed", detail: errorClass })
  }
  for (const { retriever, index } of ranking.unusable) {
    const item_id = `retriever:${retriever.id}[${index}]`
    considered.exclude({ ...refOf(retriever), item_id, excluded_reason: "unreadable" })
  }

  const candidates: Candidate[] = []
  const scores: ContextManifest["candidate_chunk_ids"] = []
  const byId = new Map<string, string>()
  const byText = new Map<string, string>()
  for (const ranked of ranking.ranked) {
    const { chunk, score } = ranked
    const candidate = candidateOf(ranked, considered)
    scores.push({ chunk_id: candidate.id, score })
    const duplicateOf = byId.get(chunk.id) ?? byText.get(chunk.text)
    if (duplicateOf !== undefined) {
      considered.reject(candidate, "duplicate", { duplicate_of: duplicateOf })
      continue
    }
    byId.set(chunk.id, candidate.id)
    byText.set(chunk.text, candidate.id)
    if (score < retrieval.minScore)
      considered.reject(candidate, "score_below_threshold", { threshold: retrieval.minScore })
    else candidates.push(candidate)
  }
  return { candidates, scores, problems: ranking.problems }
}

function candidateOf({ chunk, score }: RankedChunk, considered: Considered): Candidate {
  const id = considered.admit(chunk.id)
  const { sourceRef = `chunk:${chunk.id}`, title = chunk.id, text } = chunk
  return {
    id,
    type: chunk.type ?? "evidence",
    sourceRef,
    sourceKind: chunk.sourceKind,
    reason: "retrieval_trigger",
    placed: { section: "evidence", value: { chunk_id: id, title, text } },
    score,
    provenance: chunk.provenance,
  }
}

/** A retriever over a refused source is not even asked. */
function isRefused(stage: Stage, retriever: Retriever, considered: Considered): boolean {
  const refused = stage.refusedSources.find(({ kind }) => kind === retriever.sourceKind)
  if (refused) considered.exclude({ ...refOf(retriever), excluded_reason: "policy_filter", detail: refused.reason })
  return refused !== undefined
}

const refOf = (retriever: Retriever): { item_id: string; item_type: "evidence"; source_ref: string } => ({
  item_id: `retriever:${retriever.id}`,
  item_type: "evidence",
  source_ref: `retriever:${retriever.id}@${retriever.version}`,
})
