import type { Divergence, DivergenceCode } from "../generated.js"
import type { HeaderPairs } from "../tape/tape.js"

export interface HaltResponse {
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
export const refusal = (code: DivergenceCode, reason: string): HaltResponse => answerWith(code, code, reason, {})

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
