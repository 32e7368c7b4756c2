import type { JsonNode } from "@orangebox/contract"
import { memberOf, stringAt } from "@orangebox/text"
import type { Splice } from "../json/splice.js"
import type { AskedRequest } from "../match/ask.js"
import { resultIn } from "../match/comparable.js"
import { insertItem, type JsonArrayNode, removeItems, setMember } from "./json-edit.js"
import type { OverrideOp } from "./profile.js"
import { absent, inJson, inTurn, type RequestEdit, refused } from "./request-edit.js"
import { historyOf, historyParts, toolNames, toolsOf } from "./request-parts.js"

type ToolsEdit = Extract<OverrideOp, { type: "tools.edit" }>

/** Changes what tools a request offers. */
export function editTools(request: AskedRequest, op: ToolsEdit): RequestEdit {
  return inTurn(request, [
    (current) => patchTools(current, op),
    ...(op.add ?? []).map((tool) => (current: AskedRequest) => addTool(current, tool)),
  ])
}

function patchTools(request: AskedRequest, op: ToolsEdit): RequestEdit {
  return inJson(request, (_text, root) => {
    const splices: Splice[] = []
    const unknown = new Set([...(op.remove ?? []), ...Object.keys(op.patch ?? {})])
    for (const list of toolLists(root)) {
      const gone = new Set<number>()
      for (const [index, tool] of list.items.entries()) {
        const definition = memberOf(tool, "function") ?? tool
        const name = stringAt(definition, "name")
        if (name === undefined) continue
        unknown.delete(name)
        if (op.remove?.includes(name)) gone.add(index)
        else if (definition.kind === "object") {
          for (const [key, value] of Object.entries(op.patch?.[name] ?? {})) {
            splices.push(setMember(definition, key, JSON.stringify(value)))
          }
        }
      }
      splices.push(...removeItems(list, gone))
    }
    const [missing] = unknown
    return missing === undefined ? splices : absent(`it offers no tool ${missing}`)
  })
}

function addTool(request: AskedRequest, tool: object): RequestEdit {
  return inJson(request, (_text, root) => {
    const list = toolLists(root)[0]
    if (list) return [insertItem(list, list.items.length, JSON.stringify(tool))]
    if (root.kind !== "object") return refused("the request is no JSON object")
    return [setMember(root, "tools", JSON.stringify([tool]))]
  })
}

/** Gemini puts its tools one level deeper. */
function toolLists(root: JsonNode): JsonArrayNode[] {
  const tools = toolsOf(root)
  if (!tools) return []
  const nested = tools.items.flatMap((item) => {
    const inner = memberOf(item, "functionDeclarations") ?? memberOf(item, "function_declarations")
    return inner?.kind === "array" ? [inner] : []
  })
  return nested.length > 0 ? nested : [tools]
}

/**
 * What a tool gave back, replaced in a request that carries it: the way to change a result where the agent runs its tools by itself.
 * @param picks tells by tool call id and tool name whether a result is meant
 */
export function editToolResults(
  request: AskedRequest,
  picks: (callId: string, tool: string | undefined) => boolean,
  result: { readonly text: string; readonly isError: boolean },
): RequestEdit {
  return inJson(request, (_text, root) => {
    const history = historyOf(root)
    if (!history) return absent("it has no history")
    const names = toolNames(history)
    const splices: Splice[] = []
    for (const { node, results } of historyParts(history)) {
      const [id] = results
      if (id === undefined || !picks(id, names.get(id) ?? id.replace(/#\d+$/, ""))) continue
      const content = resultIn(node)
      if (!content) continue
      const isObject = content.kind === "object"
      const json = JSON.stringify(result.text)
      splices.push({ start: content.start, end: content.end, with: isObject ? `{"result":${json}}` : json })
      const mark = memberOf(node, "is_error")
      if (mark) splices.push({ start: mark.start, end: mark.end, with: String(result.isError) })
      else if (result.isError && stringAt(node, "type") === "tool_result" && node.kind === "object") {
        splices.push(setMember(node, "is_error", "true"))
      }
    }
    return splices.length > 0 ? splices : absent("the result is not in it")
  })
}
