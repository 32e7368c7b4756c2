import { memberOf, stringAt } from "../json/node.js"
import type { RequestShape } from "../request/shape.js"

export const anthropicShape: RequestShape = {
  members: { model: "model", tools: "tools", system: "system", messages: "history", container: "server_state" },
  roles: { system: "system", assistant: "assistant" },
  blocks: "content",
  texts: ["content", "text"],
  toolGroups: [],
  toolWrappers: [],
  toolSchemas: ["input_schema"],
  toolTraffic(node) {
    const type = stringAt(node, "type") ?? ""
    if (type.endsWith("tool_use")) return { calls: [{ id: stringAt(node, "id"), name: stringAt(node, "name") }] }
    if (!type.endsWith("tool_result")) return undefined
    const saysFailure = type === "tool_result" || type === "mcp_tool_result"
    const result = { id: stringAt(node, "tool_use_id"), content: memberOf(node, "content") }
    return { result: saysFailure ? { ...result, errorMember: "is_error" } : result }
  },
  isReasoning: (block) => /^(?:redacted_)?thinking$/.test(stringAt(block, "type") ?? ""),
  // Vertex names the model in the address.
  modelInAddress: /(?<=\/models\/)[^/:?]+(?=:(?:stream)?rawPredict)/i,
}
