// Stands for a model, so that this example needs no key: whoever is told to clean up deletes, everybody else reads.
import { createServer } from "node:http"

export function startModel() {
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const piece of request) body += piece
    const { system, messages } = JSON.parse(body)
    const isDone = messages.length > 1
    const name = /clean|delete|remove/i.test(system) ? "delete_file" : "read_file"
    const content = isDone
      ? [{ type: "text", text: /please/i.test(system) ? "That was a pleasure." : "It is looked after." }]
      : [{ type: "tool_use", id: "toolu_1", name, input: { path: "notes.txt" } }]
    const usage = { input_tokens: 90, output_tokens: 12 }
    response.writeHead(200, { "content-type": "application/json" })
    response.end(
      JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-x",
        content,
        stop_reason: isDone ? "end_turn" : "tool_use",
        usage,
      }),
    )
  })
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({ origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }),
    ),
  )
}
