import { booleanAt, memberOf, stringAt } from "../json/node.js"
import type { RequestShape } from "../request/shape.js"

export const geminiShape: RequestShape = {
  members: {
    model: "model",
    tools: "tools",
    systemInstruction: "system",
    system_instruction: "system",
    contents: "history",
    cachedContent: "server_state",
  },
  roles: { model: "assistant", function: "tool" },
  blocks: "parts",
  texts: ["parts", "text"],
  toolGroups: ["functionDeclarations", "function_declarations"],
  toolWrappers: [],
  toolSchemas: ["parameters", "parametersJsonSchema"],
  // Calls and results are paired by name and order; not every client sends ids.
  toolTraffic(node) {
    const called = stringAt(node, "functionCall", "name")
    if (called !== null) return { calls: [{ id: null, name: called }] }
    const result = memberOf(node, "functionResponse")
    if (result === undefined) return undefined
    const name = stringAt(result, "name")
    return { result: { id: null, content: memberOf(result, "response"), ...(name === null ? {} : { name }) } }
  },
  isReasoning: (block) => booleanAt(block, "thought") === true,
  modelInAddress: /(?<=\/models\/)[^/:?]+(?=:)/,
}
