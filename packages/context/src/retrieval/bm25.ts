import type { Chunk, Retriever, ScoredChunk } from "./retriever.js"

/** Okapi BM25 over given chunks. The index is built once, here; a query touches only the chunks that hold one of its words. */
export function bm25Retriever(options: {
  readonly chunks: readonly Chunk[]
  readonly id?: string
  readonly sourceKind?: string
  /** At most this many, best first. Default: every chunk that holds a word of the query. */
  readonly topK?: number
}): Retriever {
  const { chunks, topK } = options
  const index = indexOf(chunks)
  return {
    id: options.id ?? "bm25",
    version: "1.0.0",
    ...(options.sourceKind !== undefined && { sourceKind: options.sourceKind }),
    retrieve(query) {
      const scores = scoresFor(index, query)
      const found: ScoredChunk[] = []
      for (const [position, chunk] of chunks.entries()) {
        const score = scores[position]!
        if (score > 0) found.push({ chunk, score })
      }
      if (topK === undefined) return found
      return found.sort((a, b) => b.score - a.score || byId(a.chunk, b.chunk)).slice(0, topK)
    },
  }
}

// The usual values: how fast repeating a word stops helping, and how much long chunks are held back.
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

interface Index {
  readonly postings: ReadonlyMap<string, readonly Posting[]>
  readonly lengths: readonly number[]
  readonly averageLength: number
}
interface Posting {
  readonly position: number
  count: number
}

function indexOf(chunks: readonly Chunk[]): Index {
  const postings = new Map<string, Posting[]>()
  const lengths = chunks.map((chunk, position) => {
    const words = wordsOf(chunk.text)
    for (const word of words) {
      const list = postings.get(word)
      const last = list?.at(-1)
      if (!list) postings.set(word, [{ position, count: 1 }])
      else if (last?.position === position) last.count++
      else list.push({ position, count: 1 })
    }
    return words.length
  })
  const total = lengths.reduce((sum, length) => sum + length, 0)
  return { postings, lengths, averageLength: total === 0 ? 1 : total / lengths.length }
}

function scoresFor(index: Index, query: string): Float64Array {
  const { postings, lengths, averageLength } = index
  const scores = new Float64Array(lengths.length)
  // Sorted, so that the sum of floating-point numbers does not depend on the order of words in the query.
  for (const word of [...new Set(wordsOf(query))].sort()) {
    const list = postings.get(word)
    if (!list) continue
    const rarity = Math.log(1 + (lengths.length - list.length + 0.5) / (list.length + 0.5))
    for (const { position, count } of list) {
      const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * lengths[position]!) / averageLength)
      scores[position]! += (rarity * count * (SATURATION + 1)) / (count + norm)
    }
  }
  return scores
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

const byId = (a: Chunk, b: Chunk): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
