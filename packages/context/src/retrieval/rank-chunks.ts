import { OrangeboxError, type Problem } from "@orangebox/contract"
import { ItemType } from "../generated.js"
import type { FoundChunk, Reranker } from "./reranker.js"
import type { Chunk, Retriever, ScoredChunk } from "./retriever.js"

export interface RankedChunk {
  readonly chunk: Chunk
  readonly score: number
}

export interface Ranking {
  /** Best first; equal scores by id, so that no order of retrieval shows through. */
  readonly ranked: readonly RankedChunk[]
  /** Retrievers that threw or answered nonsense, with the class of the error. */
  readonly failed: readonly { readonly retriever: Retriever; readonly errorClass: string }[]
  /** Answers that are no scored chunks. */
  readonly unusable: readonly { readonly retriever: Retriever; readonly index: number }[]
  readonly problems: readonly Problem[]
}

/** Asks every retriever and gives all that came back one order. A retriever that fails costs its own candidates and nothing else. */
export function rankChunks(query: string, retrievers: readonly Retriever[], reranker: Reranker): Ranking {
  const found: FoundChunk[] = []
  const failed: { retriever: Retriever; errorClass: string }[] = []
  const unusable: { retriever: Retriever; index: number }[] = []
  const problems: Problem[] = []
  for (const retriever of retrievers) {
    let answer: readonly unknown[]
    try {
      answer = retriever.retrieve(query)
      if (!Array.isArray(answer)) throw new TypeError("the answer is not a list")
    } catch (error) {
      failed.push({ retriever, errorClass: error instanceof Error ? error.name : typeof error })
      problems.push(retrieverProblem("retriever_failed", retriever, "", `failed: ${String(error)}`))
      continue
    }
    answer.forEach((entry, index) => {
      if (isScoredChunk(entry)) {
        found.push({ chunk: entry.chunk, score: entry.score, retriever: retriever.id })
      } else {
        unusable.push({ retriever, index })
        const reason = "needs an id, a text, a finite score, and nothing of another kind than it should be"
        problems.push(retrieverProblem("chunk_unusable", retriever, `[${index}]`, reason))
      }
    })
  }
  const scores = found.length === 0 ? [] : rerank(query, found, reranker)
  const ranked = found
    .map(({ chunk }, index): RankedChunk => ({ chunk, score: scores[index]! }))
    .sort((a, b) => b.score - a.score || byId(a.chunk, b.chunk))
  return { ranked, failed, unusable, problems }
}

// A ranking that failed cannot be replaced by another one in silence: what the model sees would no longer be what the manifest says.
function rerank(query: string, found: readonly FoundChunk[], reranker: Reranker): readonly number[] {
  let scores: readonly number[]
  try {
    scores = reranker.rerank(query, found)
  } catch (cause) {
    throw rerankerError(reranker, "threw", cause)
  }
  if (!Array.isArray(scores) || scores.length !== found.length) {
    throw rerankerError(reranker, `did not answer with one score for each of ${found.length} candidates`)
  }
  const bad = scores.findIndex((score) => !Number.isFinite(score))
  if (bad !== -1) throw rerankerError(reranker, `scored ${found[bad]!.chunk.id} as ${String(scores[bad])}`)
  return scores
}

// Retrievers are often a thin wrapper over JSON from elsewhere, so their answers are checked whatever their type says.
function isScoredChunk(entry: unknown): entry is ScoredChunk {
  if (typeof entry !== "object" || entry === null) return false
  const { chunk, score } = entry as { chunk?: { [K in keyof Chunk]?: unknown } | null; score?: unknown }
  if (!Number.isFinite(score) || typeof chunk !== "object" || chunk === null) return false
  return (
    typeof chunk.id === "string" &&
    chunk.id !== "" &&
    typeof chunk.text === "string" &&
    isTextOrAbsent(chunk.sourceRef) &&
    chunk.sourceRef !== "" &&
    isTextOrAbsent(chunk.title) &&
    isTextOrAbsent(chunk.sourceKind) &&
    (chunk.type === undefined || ITEM_TYPES.has(chunk.type))
  )
}

const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === "string"

const ITEM_TYPES: ReadonlySet<unknown> = new Set(ItemType.options)

const byId = (a: Chunk, b: Chunk): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const rerankerError = (reranker: Reranker, what: string, cause?: unknown): OrangeboxError =>
  new OrangeboxError("CONTEXT_RERANKER", { what: `reranker ${reranker.model} ${what}`, where: "reranker", cause })

const retrieverProblem = (code: string, retriever: Retriever, field: string, reason: string): Problem => ({
  code,
  severity: "error",
  subject: `retriever:${retriever.id}`,
  field,
  reason,
})
