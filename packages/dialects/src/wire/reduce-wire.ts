import { detectDialect } from "../detect-dialect.js"
import { bodyOf } from "../json/body.js"
import { WIRE_REDUCER, type WireFact } from "./facts.js"
import type { WireObservation } from "./observation.js"
import { placeRequest } from "./place-request.js"
import type { Placement } from "./placement.js"
import { sideCallByEndpoint } from "./side-calls.js"
import type { WireState } from "./state.js"
import { takeResponse } from "./take-response.js"

/**
 * Follows the traffic of agents without our SDK, and says what it sees: lanes and the calls they are made of, attempts, tool calls and
 * their results, side calls, compactions. Pure: the same observations lead to the same facts, whenever and wherever.
 *
 * @example
 * let state = EMPTY_WIRE_STATE
 * for (const observation of traffic) {
 *   const step = reduceWire(state, observation)
 *   state = step.state
 *   record(step.facts)
 * }
 */
export function reduceWire(
  state: WireState,
  observation: WireObservation,
): { readonly state: WireState; readonly facts: readonly WireFact[] } {
  const placement = observation.kind === "request" ? takeRequest(state, observation) : takeResponse(state, observation)
  const { call, atMs } = observation
  return {
    state: placement.state,
    // The named ones first: Node 20 takes a microsecond for each name that is added behind a spread, and 0.2 for this.
    facts: placement.facts.map((fact): WireFact => ({ inferred_by: WIRE_REDUCER, call, atMs, ...fact })),
  }
}

function takeRequest(state: WireState, request: WireObservation & { kind: "request" }): Placement {
  const body = request.body === undefined ? undefined : bodyOf(request.body)
  const detected = detectDialect({ requestBody: body, ...request })
  if (detected === undefined) return { state, facts: [] }
  const sideCall = sideCallByEndpoint(detected.endpoint)
  // Compacting is asked for in words of the lane, and the lane goes on from its answer: it has a place, beside being no work.
  const hasPlace = detected.endpoint === "generate" || detected.endpoint === "compact"
  const placement = body && hasPlace ? placeRequest(state, request, detected, body) : { state, facts: [] }
  return sideCall ? { ...placement, facts: [...placement.facts, sideCall] } : placement
}

/**
 * What only the end shows: single calls without tools beside a working agent, which nothing followed and whose answer was never quoted, were
 * made by the harness for itself.
 */
export function finishWire(state: WireState, atMs: number): readonly WireFact[] {
  if (!state.hasAgent) return []
  return state.loneLanes.map((call) => ({
    fact: "side_call",
    why: "nothing_followed",
    certainty: "likely",
    inferred_by: WIRE_REDUCER,
    call,
    atMs,
  }))
}
