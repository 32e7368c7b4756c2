import type { HeaderPairs } from "../tape/tape.js"
import type { Divergence } from "./divergence.js"

export interface HaltResponse {
  readonly status: 422
  readonly headers: HeaderPairs
  readonly body: Uint8Array
}

/**
 * What a client is answered when its request is not on the tape. 422, and a header that forbids trying again: the official SDKs repeat
 * a 409 or a 5xx by themselves, and would ask the same question three times.
 */
export function haltResponse(divergence: Divergence): HaltResponse {
  const { code, n, message, step, nearest } = divergence
  const error = {
    type: "orangebox_divergence",
    code,
    message: `orangebox replay: ${code}: ${message}`,
    divergence: n,
    step,
    nearest: nearest.slice(0, 1),
  }
  return {
    status: 422,
    headers: [
      ["content-type", "application/json"],
      ["x-should-retry", "false"],
      ["x-orangebox-divergence", `${n} ${code}`],
    ],
    body: Buffer.from(JSON.stringify({ type: "error", error }), "utf8"),
  }
}
