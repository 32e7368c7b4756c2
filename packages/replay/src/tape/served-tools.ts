import type { Event } from "@orangebox/contract"
import type { CallKind } from "./tape.js"

/** The attribute of a replayed run that says which kinds of calls could be answered from the tape. */
export const COVERS = "replay_covers"

/** What passed through the replay engine, as a run of it says. */
export function coveredBy({ attributes }: Event): readonly CallKind[] {
  const told = String(attributes?.[COVERS] ?? "").split(" ")
  return EVERYTHING.filter((kind) => told.includes(kind))
}

export const EVERYTHING: readonly CallKind[] = ["model", "tool", "retriever", "http"]

/**
 * Whether a run is a replay in which no tool ran: all pass through the recorder, and all were answered from the tape. Then nothing of what
 * the recorded tools did to files was done again.
 */
export function areToolsServed(events: readonly Event[]): boolean {
  const isDrivenHere = events.some((event) => event.event_type === "run_started" && coveredBy(event).includes("tool"))
  const tools = events.filter(({ event_type }) => event_type === "tool_called")
  return isDrivenHere && tools.length > 0 && tools.every(({ determinism_mode }) => determinism_mode !== "live")
}
