import type { DeterminismMode } from "@orangebox/contract"
import type { HeaderPairs, RecordedAnswer } from "../tape/tape.js"

/** Headers that spoke about one connection, one moment or one user, and would be wrong about ours. */
const DROPPED = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  // The stored bytes are decoded.
  "content-encoding",
  "date",
  "set-cookie",
  "alt-svc",
  "strict-transport-security",
])

/** The recorded headers as they are served again: type, request id, rate limits and retry-after stay; what is ours is said. */
export function servedHeaders(answer: RecordedAnswer, mode: DeterminismMode, stepId: string): HeaderPairs {
  const kept = (answer.headers ?? []).filter(([name]) => !DROPPED.has(name.toLowerCase()))
  const hasType = kept.some(([name]) => name.toLowerCase() === "content-type")
  const type: HeaderPairs = hasType || answer.body === null ? [] : [["content-type", answer.body.mimeType]]
  return [...kept, ...type, ["x-orangebox-mode", mode], ["x-orangebox-source-step", stepId]]
}
