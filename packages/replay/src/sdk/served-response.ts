import type { Served } from "../match/ask.js"
import type { ReplayPolicy } from "../match/policy.js"
import { type EmissionPlan, emissionPlan } from "../stream/emission-plan.js"
import { servedHeaders } from "../stream/served-headers.js"
import { servedError } from "./served-value.js"

/** A recorded answer as `fetch` gives it. Rejects where the recorded request never got one. */
export function servedResponse(
  served: Served,
  policy: Pick<ReplayPolicy, "chunking" | "timing">,
  signal: AbortSignal | undefined,
): Response {
  const { answer, bytes } = served
  if (answer.httpStatus === null) {
    throw servedError(answer.error ?? { errorClass: "TypeError", message: "fetch failed", code: null }, null)
  }
  const headers = servedHeaders(answer, served.mode, served.source?.stepId ?? "none").map(
    ([name, value]): [string, string] => [name, value],
  )
  const init = { status: answer.httpStatus, headers }
  const hasBody = bytes !== null && !NO_BODY.has(answer.httpStatus)
  return new Response(hasBody ? planned(planOf(served, bytes, policy), signal) : null, init)
}

const NO_BODY = new Set([101, 204, 205, 304])

export function planOf(
  served: Served,
  bytes: Uint8Array,
  policy: Pick<ReplayPolicy, "chunking" | "timing">,
): EmissionPlan {
  const { answer } = served
  const isEventStream = answer.body?.mimeType.startsWith("text/event-stream") ?? false
  return emissionPlan({ bytes, isEventStream, index: answer.index, end: answer.end }, policy)
}

/** How long an answer whose client left in the recording is held open for a client that does not. */
const HOLD_MS = 1000

function planned({ pieces, end }: EmissionPlan, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  let next = 0
  let startedAt = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      startedAt ||= performance.now()
      const piece = pieces[next++]
      const atMs = piece?.atMs ?? end.atMs
      await sleep(atMs - (performance.now() - startedAt), signal)
      if (signal?.aborted) return controller.error(signal.reason)
      if (piece) return controller.enqueue(Uint8Array.from(piece.bytes))
      if (end.how === "complete") return controller.close()
      if (end.how === "hold") await sleep(HOLD_MS, signal)
      controller.error(signal?.aborted ? signal.reason : new TypeError("terminated"))
    },
  })
}

/** Waits, unless the signal says that nobody does any more. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal?.addEventListener("abort", wake, { once: true })
  })
}
