import { itemsAt, memberOf, stringAt } from "../json/node.js"
import type { RequestShape } from "../request/shape.js"

export const chatShape: RequestShape = {
  members: { model: "model", tools: "tools", functions: "tools", messages: "history" },
  roles: { system: "system", developer: "system", assistant: "assistant", tool: "tool", function: "tool" },
  blocks: "content",
  texts: ["content", "text"],
  toolGroups: [],
  toolWrappers: ["function", "custom"],
  toolSchemas: ["parameters"],
  toolTraffic(node) {
    const content = memberOf(node, "content")
    const id = stringAt(node, "tool_call_id")
    if (id !== null || (content && /^(?:tool|function)$/.test(stringAt(node, "role") ?? "")))
      return { result: { id, content } }
    const calls = itemsAt(node, "tool_calls").map((call) => {
      const made = memberOf(call, "function") ?? memberOf(call, "custom")
      return { id: stringAt(call, "id"), name: stringAt(made, "name") }
    })
    return calls.length > 0 ? { calls } : undefined
  },
  isReasoning: (block) => stringAt(block, "type") === "thinking",
}
