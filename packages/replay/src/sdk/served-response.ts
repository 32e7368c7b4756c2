import type { EmissionPlan } from "../stream/emission-plan.js"
import type { WireAnswer } from "../stream/wire-answer.js"
import { servedError } from "./served-value.js"

/** An answer as `fetch` gives it. Throws where the recorded request never got one, as `fetch` threw then. */
export function servedResponse(
  answer: Exclude<WireAnswer, { does: "forward" }>,
  signal: AbortSignal | undefined,
): Response {
  switch (answer.does) {
    case "break":
      throw servedError(
        answer.served.answer.error ?? { errorClass: "TypeError", message: "fetch failed", code: null },
        null,
      )
    case "refuse":
      return new Response(Buffer.from(answer.response.body), {
        status: answer.response.status,
        headers: headersOf(answer.response),
      })
    case "answer": {
      const hasBody = answer.served.bytes !== null && !NO_BODY.has(answer.status)
      return new Response(hasBody ? planned(answer.plan, signal) : null, {
        status: answer.status,
        headers: headersOf(answer),
      })
    }
  }
}

const NO_BODY = new Set([101, 204, 205, 304])

const headersOf = ({ headers }: Pick<Extract<WireAnswer, { does: "answer" }>, "headers">): [string, string][] =>
  headers.map(([name, value]) => [name, value])

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
      controller.error(signal?.aborted ? signal.reason : new TypeError("terminated"))
    },
  })
}

/** Waits, unless the signal says that the caller does not any more. */
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
