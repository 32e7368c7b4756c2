import type { AnswerText, StreamEvent } from "../dialect.js"
import { isRecord, type JsonRecord, type JsonValue, recordOf, recordsOf } from "../json/value.js"

/** The chunks of a whole answer: for each choice who speaks, what is said and why it ended, then the usage, then the end. */
export function chatEvents({ value }: AnswerText): readonly StreamEvent[] {
  const { choices, usage, object, ...head } = recordOf(value)
  if (choices === undefined) return [chunk(recordOf(value))]
  // The completions that were there before chats stream under the name they have when they are whole.
  const isText = object === "text_completion"
  const name = { ...head, object: isText ? "text_completion" : "chat.completion.chunk" }
  const chunks = recordsOf(choices).flatMap((choice) =>
    (isText ? [choice] : choiceParts(choice)).map((part) => ({ ...name, choices: [part] })),
  )
  const told = usage === undefined ? [] : [{ ...name, choices: [], usage }]
  return [...[...chunks, ...told].map(chunk), { event: null, data: "[DONE]" }]
}

const chunk = (data: JsonRecord): StreamEvent => ({ event: null, data: JSON.stringify(data) })

function choiceParts(choice: JsonRecord): JsonRecord[] {
  const { message, index = 0, finish_reason = null, logprobs, ...rest } = choice
  const { role = "assistant", tool_calls, ...said } = recordOf(message)
  const delta: JsonRecord = { ...said, ...(tool_calls === undefined ? {} : { tool_calls: numbered(tool_calls) }) }
  return [
    { index, delta: { role }, finish_reason: null },
    { index, delta, finish_reason: null, ...(logprobs === undefined ? {} : { logprobs }) },
    { ...rest, index, delta: {}, finish_reason },
  ]
}

/** Streams number the entries of their lists; the API's whole answer does not. */
const numbered = (calls: JsonValue): JsonValue =>
  Array.isArray(calls) ? calls.map((call, index) => (isRecord(call) ? { index, ...call } : call)) : calls
