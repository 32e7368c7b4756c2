import { type Dialect, dialectOfAnswer, type FoldedResponse, foldResponse, sseParser } from "@orangebox/dialects"

/**
 * A model's answer, folded from its bytes: once for each body, for all readers. `known` is the dialect that the request's address names;
 * without it the answer has to show its own. Undefined where neither does.
 */
export function foldedAnswer(bytes: Uint8Array, known?: Dialect): FoldedResponse | undefined {
  const answers = folded.get(bytes) ?? new Map<Dialect | undefined, FoldedResponse | undefined>()
  folded.set(bytes, answers)
  if (!answers.has(known)) {
    const dialect = known ?? dialectOfBytes(bytes)
    answers.set(known, dialect && foldResponse(dialect, bytes))
  }
  return answers.get(known)
}

const folded = new WeakMap<Uint8Array, Map<Dialect | undefined, FoldedResponse | undefined>>()

/** The dialect that the bytes of an answer show, a stream by the first of its frames that does. */
export function dialectOfBytes(bytes: Uint8Array): Dialect | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  if (/^\s*[[{]/.test(text)) return dialectOfAnswer(text)
  if (!/^\s*(?:event|data|id|retry|):/.test(text)) return undefined
  for (const frame of sseParser().push(bytes)) {
    const dialect = dialectOfAnswer(frame.data)
    if (dialect) return dialect
  }
  return undefined
}
