import { historyOf, historyParts, toolDefinitionOf, toolListsOf } from "@orangebox/dialects"
import { memberOf, stringAt } from "@orangebox/text"
import type { OverrideOp } from "../generated.js"
import { insertItem, removeItems, type Splice, setMember } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"
import { absent, inJson, inTurn, type RequestEdit, refused } from "./request-edit.js"

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
    for (const list of toolListsOf(root)) {
      const gone = new Set<number>()
      for (const [index, tool] of list.items.entries()) {
        const definition = toolDefinitionOf(tool)
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
    const list = toolListsOf(root)[0]
    if (list) return [insertItem(list, list.items.length, JSON.stringify(tool))]
    if (root.kind !== "object") return refused("the request is no JSON object")
    return [setMember(root, "tools", JSON.stringify([tool]))]
  })
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
    const { parts, toolNames } = historyParts(history)
    const splices: Splice[] = []
    for (const { node, answers, result: given } of parts) {
      const content = given?.content
      if (answers === undefined || !content || !picks(answers, toolNames.get(answers) ?? given.name)) continue
      const isObject = content.kind === "object"
      const json = JSON.stringify(result.text)
      splices.push({ start: content.start, end: content.end, with: isObject ? `{"result":${json}}` : json })
      const { errorMember } = given
      if (errorMember === undefined || node.kind !== "object") continue
      if (result.isError || memberOf(node, errorMember)) {
        splices.push(setMember(node, errorMember, String(result.isError)))
      }
    }
    return splices.length > 0 ? splices : absent("the result is not in it")
  })
}
