import type { Event } from "@orangebox/contract"

const CALLS = new Set(["model_called", "tool_called"])

/**
 * The runs whose calls were told of by a recorder inside the agent. A run has one writer, so one sign of a proxy is enough to tell that it is
 * the writer: a call in a lane, one that is deduced, one that a harness makes beside its work, or the end of a command. A call to an address
 * that no dialect knows has none of the first three.
 */
export function selfRecordedRuns(events: readonly Event[]): ReadonlySet<string> {
  const runs = new Set<string>()
  const ofProxy = new Set<string>()
  for (const event of events) {
    const { run_id } = event
    if (run_id === null) continue
    if (isEndOfCommand(event)) ofProxy.add(run_id)
    if (isCall(event)) (isSeenOnWire(event) ? ofProxy : runs).add(run_id)
  }
  return new Set([...runs].filter((runId) => !ofProxy.has(runId)))
}

const isCall = ({ event_type, payload }: Event): boolean =>
  CALLS.has(event_type) || (event_type === "step_started" && "kind" in payload && payload.kind === "retrieval")

const isSeenOnWire = ({ lane_id, inferred_by, attributes }: Event): boolean =>
  lane_id !== undefined || inferred_by !== undefined || attributes?.["side_call"] !== undefined

const isEndOfCommand = ({ event_type, payload }: Event): boolean =>
  (event_type === "run_completed" || event_type === "run_failed") &&
  (typeof payload["exit_code" as keyof typeof payload] === "number" ||
    typeof payload["signal" as keyof typeof payload] === "string")
