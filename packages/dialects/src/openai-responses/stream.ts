import type { AnswerText, StreamEvent } from "../dialect.js"
import { type JsonRecord, recordOf, recordsOf, textOf } from "../json/value.js"

/** The events of a whole answer: that it began, each item as it grows, and the answer once more as a whole. */
export function responsesEvents({ value }: AnswerText): readonly StreamEvent[] {
  const response = recordOf(value)
  const status = textOf(response["status"]) ?? "completed"
  const begun = { ...response, status: "in_progress", output: [], usage: null }
  const events: JsonRecord[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...recordsOf(response["output"]).flatMap((item, output_index) => itemEvents(item, output_index)),
    { type: ENDS.has(status) ? `response.${status}` : "response.completed", response },
  ]
  return events.map((event, sequence_number) => ({
    event: textOf(event["type"]),
    data: JSON.stringify({ ...event, sequence_number }),
  }))
}

const ENDS = new Set(["completed", "incomplete", "failed", "cancelled"])

function itemEvents(item: JsonRecord, output_index: number): JsonRecord[] {
  const place = { output_index, item_id: item["id"] ?? null }
  const { begins, events } = grown(item)
  return [
    { type: "response.output_item.added", output_index, item: begins },
    ...events.map((event) => ({ ...place, ...event })),
    { type: "response.output_item.done", output_index, item },
  ]
}

/** How an item begins, and what is added to it. An item of a kind that does not grow comes whole. */
function grown(item: JsonRecord): { readonly begins: JsonRecord; readonly events: JsonRecord[] } {
  switch (item["type"]) {
    case "message":
      return {
        begins: { ...item, status: "in_progress", content: [] },
        events: recordsOf(item["content"]).flatMap((part, content_index) => contentEvents(part, content_index)),
      }
    case "reasoning":
      return {
        begins: { ...item, summary: [] },
        events: recordsOf(item["summary"]).flatMap((part, summary_index) => summaryEvents(part, summary_index)),
      }
    case "function_call":
      return {
        begins: { ...item, status: "in_progress", arguments: "" },
        events: textEvents("response.function_call_arguments", "arguments", item["arguments"] ?? "", {}),
      }
    case "custom_tool_call":
      return {
        begins: { ...item, status: "in_progress", input: "" },
        events: textEvents("response.custom_tool_call_input", "input", item["input"] ?? "", {}),
      }
    default:
      return { begins: item, events: [] }
  }
}

function contentEvents(part: JsonRecord, content_index: number): JsonRecord[] {
  const place = { content_index }
  const member = part["type"] === "refusal" ? "refusal" : "text"
  const kind = part["type"] === "refusal" ? "response.refusal" : "response.output_text"
  return [
    { type: "response.content_part.added", ...place, part: { ...part, [member]: "" } },
    ...textEvents(kind, member, part[member] ?? "", place),
    { type: "response.content_part.done", ...place, part },
  ]
}

function summaryEvents(part: JsonRecord, summary_index: number): JsonRecord[] {
  const place = { summary_index }
  return [
    { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
    ...textEvents("response.reasoning_summary_text", "text", part["text"] ?? "", place),
    { type: "response.reasoning_summary_part.done", ...place, part },
  ]
}

const textEvents = (kind: string, member: string, text: JsonRecord[string], place: JsonRecord): JsonRecord[] => [
  { type: `${kind}.delta`, ...place, delta: text },
  { type: `${kind}.done`, ...place, [member]: text },
]
