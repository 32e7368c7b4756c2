import type { Event } from "@orangebox/contract"

export interface EventText {
  readonly field: string
  readonly text: string
}

/**
 * The words that stand in an event itself: log messages, names, errors, notes, attribute values. Summaries of bodies are left out where
 * the body is referred to, because they are cuts of text that is indexed anyway.
 */
export function eventTexts(event: Event): EventText[] {
  const found: EventText[] = []
  const payload = event.payload as Readonly<Record<string, unknown>> | undefined
  if (payload !== undefined && payload !== null) {
    for (const field of WORDS) add(found, field, payload[field])
    for (const [field, ref] of SUMMARIES) if (payload[ref] == null) add(found, field, payload[field])
  }
  if (event.attributes !== undefined) {
    for (const name in event.attributes) add(found, `attributes.${name}`, event.attributes[name])
  }
  return found
}

const WORDS = [
  "message",
  "error_class",
  "error_summary",
  "tool_name",
  "name",
  "model_id",
  "entrypoint_name",
  "detail",
  "reason",
  "summary",
  "action_summary",
  "evidence",
  "path",
  "url",
  "validator_name",
  "policy_name",
  "retriever_id",
] as const

const SUMMARIES = [
  ["input_summary", "input_ref"],
  ["output_summary", "response_ref"],
  ["output_summary", "output_ref"],
  ["args_summary", "args_ref"],
  ["result_summary", "result_ref"],
] as const

function add(found: EventText[], field: string, text: unknown): void {
  if (typeof text === "string" && text.length > 0) found.push({ field, text })
}
