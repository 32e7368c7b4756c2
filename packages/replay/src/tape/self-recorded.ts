import type { Event } from "@orangebox/contract"

const CALLS = new Set(["model_called", "tool_called"])

/**
 * The runs whose calls were told of by a recorder inside the agent. What a proxy makes of traffic is in lanes, or deduced, or a call that a
 * harness makes beside its work.
 */
export function selfRecordedRuns(events: readonly Event[]): ReadonlySet<string> {
  const runs = new Set<string>()
  for (const { event_type, payload, run_id, lane_id, inferred_by, attributes } of events) {
    const isCall =
      CALLS.has(event_type) || (event_type === "step_started" && "kind" in payload && payload.kind === "retrieval")
    if (!isCall || run_id === null || lane_id !== undefined || inferred_by !== undefined) continue
    if (attributes?.["side_call"] === undefined) runs.add(run_id)
  }
  return runs
}
