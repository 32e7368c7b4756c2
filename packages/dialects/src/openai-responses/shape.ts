import { memberOf, stringAt } from "../json/node.js"
import { listOf } from "../json/value.js"
import type { RequestShape } from "../request/shape.js"

export const responsesShape: RequestShape = {
  members: {
    model: "model",
    tools: "tools",
    instructions: "system",
    input: "history",
    previous_response_id: "server_state",
    conversation: "server_state",
    container: "server_state",
  },
  roles: { system: "system", developer: "system", assistant: "assistant" },
  blocks: "content",
  texts: ["content", "text", "output"],
  toolGroups: [],
  toolWrappers: [],
  toolSchemas: ["parameters"],
  toolTraffic(node) {
    const id = stringAt(node, "call_id")
    const type = stringAt(node, "type") ?? ""
    if (type.endsWith("_call_output") || (id !== null && type.endsWith("_output")))
      return { result: { id, content: memberOf(node, "output") } }
    return id === null ? undefined : { calls: [{ id, name: stringAt(node, "name") }] }
  },
  isReasoning: (block) => stringAt(block, "type") === "reasoning",
  continuation: {
    member: "previous_response_id",
    history: "input",
    itemsOf: (answer) => listOf(answer["output"]),
    itemOfText: (text) => ({ role: "user", content: text }),
  },
}
