import type { ScoredChunk } from "./retriever.js"

/** Gives every candidate its final score, in the order in which they were handed over. It can neither lose a candidate nor add one. */
export interface Reranker {
  readonly model: string
  readonly version: string
  rerank(query: string, candidates: readonly FoundChunk[]): readonly number[]
}

export interface FoundChunk extends ScoredChunk {
  /** Id of the retriever that found it. */
  readonly retriever: string
}

/**
 * Each score as a share of the best one of its retriever: scales of different retrievers become comparable, and a threshold means the
 * same for every query.
 */
export const scoreShareReranker: Reranker = Object.freeze({
  model: "orangebox-score-share",
  version: "1.0.0",
  rerank(_query: string, candidates: readonly FoundChunk[]): readonly number[] {
    const best = new Map<string, number>()
    for (const { retriever, score } of candidates) best.set(retriever, Math.max(best.get(retriever) ?? 0, score))
    return candidates.map(({ retriever, score }) => (score > 0 ? score / best.get(retriever)! : 0))
  },
})
