import type { AnswerText, StreamEvent } from "../dialect.js"
import { type JsonRecord, type JsonValue, listOf, recordOf, textOf } from "../json/value.js"
import { argumentTexts } from "./answer.js"

/** The events of a whole answer, as the API would have sent them: what is known at the start, each block, what is known at the end. */
export function anthropicEvents({ value, text }: AnswerText): readonly StreamEvent[] {
  const message = recordOf(value)
  if (message["type"] === "error") return [event(message)]
  const { content, stop_reason = null, stop_sequence = null, usage = {}, ...head } = message
  const inputs = argumentTexts(text)
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
  return [
    { type: "message_start", message: start },
    ...listOf(content).flatMap((block, index) => blockEvents(recordOf(block), index, inputs[index] ?? "")),
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ].map(event)
}

const event = (data: JsonRecord): StreamEvent => ({ event: textOf(data["type"]), data: JSON.stringify(data) })

function blockEvents(block: JsonRecord, index: number, input: string): JsonRecord[] {
  const { begins, deltas } = grown(block, input)
  return [
    { type: "content_block_start", index, content_block: begins },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]
}

/** How a block begins, and what is added to it. A block of a kind that does not grow comes whole. */
function grown(block: JsonRecord, input: string): { readonly begins: JsonRecord; readonly deltas: JsonRecord[] } {
  const { citations, signature, ...rest } = block
  switch (block["type"]) {
    case "text":
      return {
        begins: { ...rest, text: "" },
        deltas: [
          { type: "text_delta", text: block["text"] ?? "" },
          ...listOf(citations).map((citation): JsonRecord => ({ type: "citations_delta", citation })),
        ],
      }
    case "thinking":
      return {
        begins: { ...rest, thinking: "", ...given("signature", signature === undefined ? undefined : "") },
        deltas: [
          { type: "thinking_delta", thinking: block["thinking"] ?? "" },
          ...(signature === undefined ? [] : [{ type: "signature_delta", signature }]),
        ],
      }
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      // As it is written: a number with twenty digits keeps them only there.
      return { begins: { ...block, input: {} }, deltas: [{ type: "input_json_delta", partial_json: input }] }
    default:
      return { begins: block, deltas: [] }
  }
}

const given = (key: string, value: JsonValue | undefined): JsonRecord => (value === undefined ? {} : { [key]: value })
