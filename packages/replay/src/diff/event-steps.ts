import { type Event, numberIn, payloadOf, textIn } from "@orangebox/contract"
import type { Step } from "@orangebox/runs"
import { masksIn } from "./body-masks.js"
import { type DiffStep, NOTHING_KNOWN } from "./diff-step.js"

const SNAPSHOTS: ReadonlySet<string> = new Set([
  "prompt_snapshot",
  "tool_output_snapshot",
  "answer_snapshot",
  "workspace_snapshot",
])
const MADE_FILES: ReadonlySet<string> = new Set(["file_edit", "diff", "commit", "pr"])

/** What the recorder keeps of its own accord beside what an agent records. */
export const isSnapshot = (event: Event): boolean =>
  event.event_type === "artifact_recorded" && SNAPSHOTS.has(textIn(payloadOf(event), "artifact_type") ?? "")

/** Events inside a step that decide where a run goes, as steps of their own. */
export function eventsAsSteps(step: Step, parent: DiffStep, position: (event: Event) => number | null): DiffStep[] {
  return step.events.flatMap((event): DiffStep[] => {
    const at = event.sequence_no === null ? null : position(event)
    const facts = at === null ? undefined : eventFacts(event, parent)
    if (at === null || !facts) return []
    const { event_id: eventId, lane_id: lane, determinism_mode: mode } = event
    const { inside } = parent
    const place = {
      n: step.no,
      id: step.id || undefined,
      eventId,
      inside,
      lane,
      parent,
      mode,
      openedAt: at,
      closedAt: at,
    }
    return [{ ...NOTHING_KNOWN, ...place, children: [], ...facts }]
  })
}

function eventFacts(event: Event, parent: DiffStep): (Pick<DiffStep, "kind" | "name"> & Partial<DiffStep>) | undefined {
  const payload = payloadOf(event)
  switch (event.event_type) {
    case "retrieval_executed":
      if (parent.kind === "retrieval") return undefined
      return { kind: "retrieval", name: textIn(payload, "retriever_id") ?? "", ...retrievalFacts(event) }
    case "input_received":
      if (parent.kind === "run") return undefined
      return {
        kind: "input",
        name: "input",
        outputRef: textIn(payload, "input_ref") ?? textIn(payload, "input_hash"),
        outputMasks: masksIn(event, textIn(payload, "input_ref")),
      }
    case "validator_decision":
    case "safety_decision":
      return {
        kind: "verdict",
        name: textIn(payload, "validator_name") ?? textIn(payload, "policy_name") ?? "",
        outputRef: textIn(payload, "reason_ref"),
        outputMasks: masksIn(event, textIn(payload, "reason_ref")),
        outputFacts: textIn(payload, "decision") ?? "",
      }
    case "artifact_recorded": {
      const type = textIn(payload, "artifact_type") ?? "other"
      if (isSnapshot(event)) return undefined
      return {
        kind: "artifact",
        name: textIn(payload, "path") ?? type,
        outputRef: textIn(payload, "content_ref") ?? textIn(payload, "hash"),
        outputMasks: masksIn(event, textIn(payload, "content_ref")),
        outputSummary: textIn(payload, "summary"),
        outputFacts: [type, numberIn(payload, "exit_code")].filter((fact) => fact !== undefined).join(" "),
        effect: MADE_FILES.has(type) ? "write" : undefined,
      }
    }
    default:
      return undefined
  }
}

export function retrievalFacts(event: Event): Partial<DiffStep> {
  const payload = payloadOf(event)
  return {
    sig: textIn(payload, "call_signature_hash"),
    inputRef: textIn(payload, "query_text_ref"),
    outputRef: textIn(payload, "candidate_list_ref"),
  }
}
