import type { JsonNode } from "@orangebox/contract"
import { modelMemberOf, systemTexts, textsIn, withModelInAddress } from "@orangebox/dialects"
import { nodeAt, pointerParts } from "@orangebox/text"
import type { OverrideOp } from "../generated.js"
import { insertItem, type JsonObjectNode, removeMembers, type Splice, setMember } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"
import { dropMessages, stripReasoning } from "./drop-context.js"
import { editTools } from "./edit-tools.js"
import { inMessages, type MessageAnchor } from "./message-anchor.js"
import { absent, type Changes, inJson, inTurn, type RequestEdit, refused } from "./request-edit.js"
import { editTexts } from "./text-edit.js"

/** Everything a rule may do to a request before it is sent. Bytes the edit is not about stay what they are. */
export function editRequest(
  request: AskedRequest,
  op: OverrideOp,
  anchors: readonly MessageAnchor[] = [],
): RequestEdit {
  switch (op.type) {
    case "model.swap":
      return swapModel(request, op)
    case "param.set":
      return setParams(request, op)
    case "system.edit":
      return inJson(request, (text, root) => editSystem(text, root, op.edit))
    case "message.edit":
      return inMessages(request, anchors, (text, _history, messages) => {
        const splices: Splice[] = []
        for (const { node } of messages) {
          const edited = editTexts(text, textsIn(node), op.edit)
          if (!edited.ok) return refused(edited.reason)
          splices.push(...edited.splices)
        }
        return splices
      })
    case "context.drop":
      return dropMessages(request, anchors, op.pairing)
    case "context.insert":
      return inMessages(request, anchors, (_text, history, messages) =>
        messages.map(({ index }) =>
          insertItem(history, op.position === "before" ? index : index + 1, JSON.stringify(op.item)),
        ),
      )
    case "tools.edit":
      return editTools(request, op)
    default:
      return refused(`${op.type} does not change a request`)
  }
}

function editSystem(text: string, root: JsonNode, edit: Extract<OverrideOp, { type: "system.edit" }>["edit"]): Changes {
  const texts = systemTexts(root)
  if (texts.length === 0) return absent("it has no system prompt")
  const edited = editTexts(text, texts, edit)
  if (edited.ok) return edited.splices
  const isMissing = "find" in edit && !texts.some((node) => node.value.includes(edit.find))
  return isMissing ? absent(edited.reason) : refused(edited.reason)
}

function swapModel(request: AskedRequest, op: Extract<OverrideOp, { type: "model.swap" }>): RequestEdit {
  const swapped = swapInUrl(request, op.model) ?? swapInBody(request, op.model)
  if (!swapped.ok) return swapped
  const isKept = op.reasoning_blocks === "keep" || (op.reasoning_blocks === "auto" && !swapped.isChanged)
  return isKept ? swapped : inTurn(request, [() => swapped, stripReasoning])
}

function swapInUrl(request: AskedRequest, model: string): RequestEdit | undefined {
  const url = request.url === null ? undefined : withModelInAddress(request.url, model)
  if (url === undefined) return undefined
  return { ok: true, request: { ...request, url }, isChanged: url !== request.url, strippedReasoning: false }
}

function swapInBody(request: AskedRequest, model: string): RequestEdit {
  return inJson(request, (_text, root) => {
    const named = modelMemberOf(root)
    if (root.kind !== "object" || named?.value.kind !== "string") return refused("it names no model")
    return named.value.value === model ? [] : [setMember(root, named.key, JSON.stringify(model))]
  })
}

function setParams(request: AskedRequest, op: Extract<OverrideOp, { type: "param.set" }>): RequestEdit {
  const sets = Object.entries(op.set ?? {}).map(
    ([name, value]) =>
      (current: AskedRequest) =>
        inJson(current, (_text, root) => {
          const { parent, key } = placeOf(root, name)
          return parent
            ? [setMember(parent, key, JSON.stringify(value))]
            : refused(`there is no object to set ${name} in`)
        }),
  )
  const unsets = (op.unset ?? []).map(
    (name) => (current: AskedRequest) =>
      inJson(current, (text, root) => {
        const { parent, key } = placeOf(root, name)
        return parent ? removeMembers(text, parent, new Set([key])) : []
      }),
  )
  return inTurn(request, [...sets, ...unsets])
}

/** A parameter by its name, or by a pointer to it. */
function placeOf(root: JsonNode, name: string): { readonly parent: JsonObjectNode | undefined; readonly key: string } {
  if (!name.startsWith("/")) return { parent: root.kind === "object" ? root : undefined, key: name }
  const at = name.lastIndexOf("/")
  const parent = nodeAt(root, name.slice(0, at))
  return { parent: parent?.kind === "object" ? parent : undefined, key: pointerParts(name.slice(at))[0] ?? "" }
}
