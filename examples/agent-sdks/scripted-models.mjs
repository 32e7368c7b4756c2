// Two model servers on this machine that say what a script says, so that the examples beside this file need no key and no network.
import { createServer } from "node:http"

/** Speaks the Messages protocol. `answer(request)` gives the content of the next message. */
export const anthropicModel = (answer) =>
  listening((request, response) => {
    const content = answer(request)
    const isAsking = content.some(({ type }) => type === "tool_use")
    const message = { id: `msg_${Date.now()}`, type: "message", role: "assistant", model: request.model }
    const usage = { input_tokens: 100, output_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
    response.setHeader("content-type", "text/event-stream")
    const send = (type, rest) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`)
    send("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } })
    for (const [index, block] of content.entries()) {
      const isText = block.type === "text"
      const empty = isText ? { type: "text", text: "" } : { ...block, input: {} }
      send("content_block_start", { index, content_block: empty })
      const delta = isText
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
      send("content_block_delta", { index, delta })
      send("content_block_stop", { index })
    }
    send("message_delta", { delta: { stop_reason: isAsking ? "tool_use" : "end_turn", stop_sequence: null }, usage })
    send("message_stop", {})
    response.end()
  })

/** Speaks the Responses protocol. `answer(request)` gives the items of the next response. */
export const openAiModel = (answer) =>
  listening((request, response) => {
    response.setHeader("content-type", "application/json")
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 112,
    }
    const said = { id: `resp_${Date.now()}`, object: "response", created_at: 1, status: "completed", usage }
    response.end(JSON.stringify({ ...said, model: request.model, output: answer(request), tools: [] }))
  })

async function listening(speak) {
  const server = createServer((request, response) => {
    const chunks = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      const isCall = request.method === "POST" && /\/(?:messages|responses)(?:\?|$)/.test(request.url)
      if (isCall) speak(JSON.parse(Buffer.concat(chunks)), response)
      else response.writeHead(404).end("{}")
    })
  })
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
