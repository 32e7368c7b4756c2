import { definitionOf, type Event, isEventType } from "@orangebox/contract"

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
    const { words, summaries } = fieldsOf(event.event_type)
    for (const field of words) add(found, field, payload[field])
    for (const [field, ...refs] of summaries) {
      if (refs.every((ref) => payload[ref] == null)) add(found, field, payload[field])
    }
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
  ["output_summary", "response_ref", "output_ref"],
  ["args_summary", "args_ref"],
  ["result_summary", "result_ref"],
] as const

interface TextFields {
  readonly words: readonly string[]
  readonly summaries: readonly (readonly [field: string, ...refs: string[]])[]
}

const known = new Map<string, TextFields>()

/** Those of the fields that an event type has at all; all of them for a type that is newer than this build. */
function fieldsOf(type: string): TextFields {
  let fields = known.get(type)
  if (fields === undefined) {
    const node = isEventType(type) ? definitionOf(type).payload.node : undefined
    const has = (field: string): boolean => node?.is !== "object" || field in node.fields
    fields = { words: WORDS.filter(has), summaries: SUMMARIES.filter(([field]) => has(field)) }
    known.set(type, fields)
  }
  return fields
}

function add(found: EventText[], field: string, text: unknown): void {
  if (typeof text === "string" && text.length > 0) found.push({ field, text })
}
