import { type Event, numberIn, payloadOf, textIn } from "@orangebox/contract"
import type { StepView } from "@orangebox/query"
import type { DiffStep } from "./diff-step.js"

/** What a step was given and gave, by hash. */
export type Refs = Pick<
  DiffStep,
  "sig" | "canonVersion" | "wire" | "inputRef" | "outputRef" | "inputFacts" | "inputSummary" | "outputSummary"
>

const SNAPSHOTS: ReadonlySet<string> = new Set(["prompt_snapshot", "tool_output_snapshot", "workspace_snapshot"])
const MADE_FILES: ReadonlySet<string> = new Set(["file_edit", "diff", "commit", "pr"])

/** Events inside a step that decide where a run goes, as steps of their own. */
export function eventsAsSteps(step: StepView, parent: DiffStep): DiffStep[] {
  const found: DiffStep[] = []
  for (const event of step.events) {
    if (event.sequence_no === null) continue
    const facts = eventFacts(event, parent)
    if (!facts) continue
    found.push({
      at: 0,
      n: step.n,
      id: step.id,
      eventId: event.event_id,
      lane: event.lane_id,
      parent,
      children: [],
      sig: undefined,
      canonVersion: undefined,
      wire: undefined,
      inputRef: undefined,
      inputMasks: [],
      outputRef: undefined,
      inputFacts: "",
      outputFacts: "",
      inputSummary: undefined,
      outputSummary: undefined,
      finishReason: undefined,
      requestedTools: [],
      status: "success",
      effect: undefined,
      attempts: 1,
      inputTokens: undefined,
      outputTokens: undefined,
      durationUs: undefined,
      mode: event.determinism_mode,
      isAuxiliary: false,
      openedAt: event.sequence_no,
      closedAt: event.sequence_no,
      sourceStepId: undefined,
      method: undefined,
      url: undefined,
      ...facts,
    })
  }
  return found
}

function eventFacts(event: Event, parent: DiffStep): (Pick<DiffStep, "kind" | "name"> & Partial<DiffStep>) | undefined {
  const payload = payloadOf(event)
  switch (event.event_type) {
    case "retrieval_executed":
      if (parent.kind === "retrieval") return undefined
      return { kind: "retrieval", name: textIn(payload, "retriever_id") ?? "", ...retrievalRefs(event) }
    case "input_received":
      if (parent.kind === "run") return undefined
      return { kind: "input", name: "input", outputRef: textIn(payload, "input_ref") ?? textIn(payload, "input_hash") }
    case "validator_decision":
    case "safety_decision":
      return {
        kind: "verdict",
        name: textIn(payload, "validator_name") ?? textIn(payload, "policy_name") ?? "",
        outputRef: textIn(payload, "reason_ref"),
        outputFacts: textIn(payload, "decision") ?? "",
      }
    case "artifact_recorded": {
      const type = textIn(payload, "artifact_type") ?? "other"
      if (SNAPSHOTS.has(type)) return undefined
      return {
        kind: "artifact",
        name: textIn(payload, "path") ?? type,
        outputRef: textIn(payload, "content_ref") ?? textIn(payload, "hash"),
        outputSummary: textIn(payload, "summary"),
        outputFacts: [type, numberIn(payload, "exit_code")].filter(isThere).join(" "),
        effect: MADE_FILES.has(type) ? "write" : undefined,
      }
    }
    default:
      return undefined
  }
}

export function retrievalRefs(event: Event): Refs {
  const payload = payloadOf(event)
  return {
    sig: textIn(payload, "call_signature_hash"),
    canonVersion: undefined,
    wire: undefined,
    inputRef: textIn(payload, "query_text_ref"),
    outputRef: textIn(payload, "candidate_list_ref"),
    inputFacts: "",
    inputSummary: undefined,
    outputSummary: undefined,
  }
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined
