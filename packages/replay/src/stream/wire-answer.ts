import { type DeterminismMode, MASK_MIDDLE } from "@orangebox/contract"
import type { Divergence, DivergenceCode } from "../generated.js"
import type { AskedRequest, Outcome, Served } from "../match/ask.js"
import { asAfterMove } from "../match/moved-tree.js"
import type { ReplayPolicy } from "../match/policy.js"
import type { HeaderPairs, RecordedAnswer } from "../tape/tape.js"
import { type EmissionPlan, emissionPlan, PATIENCE_MS } from "./emission-plan.js"
import { unfinished } from "./unfinished-encoding.js"

/** What an edge that speaks HTTP does with a request it has asked about. */
export type WireAnswer =
  | {
      readonly does: "answer"
      readonly status: number
      readonly headers: HeaderPairs
      /** What to write when; empty for an answer without a body. */
      readonly plan: EmissionPlan
      readonly served: Served
    }
  /**
   * The recorded request never got an answer: the connection ends without one. Where it was the client who left, it is waited for that long
   * to leave again.
   */
  | { readonly does: "break"; readonly served: Served; readonly waitMs: number }
  /** Goes to the upstream. `rewrite` makes the changes of the override rules to the request as it came in. */
  | { readonly does: "forward"; readonly isChanged: boolean; rewrite(raw: AskedRequest): AskedRequest }
  | { readonly does: "refuse"; readonly response: HaltResponse }

export function wireAnswer(outcome: Outcome, policy: Pick<ReplayPolicy, "chunking" | "timing" | "moved">): WireAnswer {
  switch (outcome.outcome) {
    case "diverged":
      return { does: "refuse", response: haltResponse(outcome.divergence) }
    case "denied":
      return { does: "refuse", response: refusal("EFFECT_DENIED", outcome.reason) }
    case "live":
      return { does: "forward", isChanged: outcome.isChanged, rewrite: outcome.rewrite ?? ((raw) => raw) }
    case "served":
      return served(outcome, policy)
  }
}

function served(outcome: Served, policy: Pick<ReplayPolicy, "chunking" | "timing" | "moved">): WireAnswer {
  const { answer, bytes, mode, source } = outcome
  const { httpStatus: status, body, index, end, latencyMs } = answer
  if (status === null)
    return { does: "break", served: outcome, waitMs: end === "client_abort" ? latencyMs + PATIENCE_MS : 0 }
  const isEventStream = body?.mimeType.startsWith("text/event-stream") ?? false
  const said = bytes && policy.moved ? asAfterMove(bytes, isEventStream, policy.moved) : bytes
  // When which byte came is not known of an answer that was changed.
  const when = said === bytes ? index : null
  const decoded = emissionPlan({ bytes: said ?? NOTHING, isEventStream, index: when, end, latencyMs }, policy)
  const plan = unfinished(decoded, answer.unfinishedIn)
  const headers = servedHeaders(answer, mode, source?.stepId ?? "none")
  return { does: "answer", status, headers, plan, served: outcome }
}

const NOTHING = new Uint8Array(0)

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
  // Said anew where the served bytes have one.
  "content-encoding",
  "date",
  "set-cookie",
  "alt-svc",
  "strict-transport-security",
])

/**
 * The recorded headers as they are served again: type, request id, rate limits and retry-after stay; what is ours is said. A masked value is
 * not what was received, and holds a sign that no header can carry.
 */
function servedHeaders(answer: RecordedAnswer, mode: DeterminismMode, stepId: string): HeaderPairs {
  const kept = (answer.headers ?? []).filter(
    ([name, value]) => !DROPPED.has(name.toLowerCase()) && !value.includes(MASK_MIDDLE),
  )
  const hasType = kept.some(([name]) => name.toLowerCase() === "content-type")
  const type: HeaderPairs = hasType || answer.body === null ? [] : [["content-type", answer.body.mimeType]]
  return [...kept, ...type, ...encodingOf(answer), ["x-orangebox-mode", mode], ["x-orangebox-source-step", stepId]]
}

/** Stored bytes are decoded, but for those that nobody could decode and those whose end never came. */
function encodingOf({ body, unfinishedIn }: RecordedAnswer): HeaderPairs {
  const encodings = unfinishedIn.length > 0 ? unfinishedIn : body ? [body.contentEncoding] : []
  return encodings.every((name) => name === "identity") ? [] : [["content-encoding", encodings.join(", ")]]
}

interface HaltResponse {
  readonly status: 422
  readonly headers: HeaderPairs
  readonly body: Uint8Array
}

/**
 * What a client is answered when its request is not on the tape. 422, and a header that forbids trying again: the official SDKs repeat
 * a 409 or a 5xx by themselves, and would ask the same question three times.
 */
export function haltResponse({ code, n, message, step, nearest }: Divergence): HaltResponse {
  const more = { divergence: n, step, nearest: nearest.slice(0, 1) }
  return answerWith(code, `${n} ${code}`, message, more)
}

/** The same for a request that may not go out. */
const refusal = (code: DivergenceCode, reason: string): HaltResponse => answerWith(code, code, reason, {})

function answerWith(code: DivergenceCode, mark: string, message: string, more: object): HaltResponse {
  const error = { type: "orangebox_divergence", code, message: `orangebox replay: ${code}: ${message}`, ...more }
  return {
    status: 422,
    headers: [
      ["content-type", "application/json"],
      ["x-should-retry", "false"],
      ["x-orangebox-divergence", mark],
    ],
    body: Buffer.from(JSON.stringify({ type: "error", error }), "utf8"),
  }
}
