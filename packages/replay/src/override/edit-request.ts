import { type JsonNode, readJson } from "@orangebox/contract"
import { type Splice, spliced } from "../json/splice.js"
import { memberOf, nodeAt, pointerParts, stringAt } from "../json/walk.js"
import type { AskedRequest } from "../match/ask.js"
import { resultIn } from "../match/comparable.js"
import {
  insertItem,
  type JsonArrayNode,
  type JsonObjectNode,
  removeItems,
  removeMembers,
  setMember,
} from "./json-edit.js"
import type { OverrideOp } from "./profile.js"
import {
  type HistoryPart,
  historyOf,
  historyParts,
  isReasoning,
  messageHash,
  systemTexts,
  textsIn,
  toolNames,
  toolsOf,
} from "./request-parts.js"
import { editTexts } from "./text-edit.js"

/** A message by what it says, and by which of its kind it is where it is said more than once. */
export interface MessageAnchor {
  readonly hash: string
  /** Undefined means every message that says this. */
  readonly nth: number | undefined
}

export type RequestEdit =
  | {
      readonly ok: true
      readonly request: AskedRequest
      readonly isChanged: boolean
      readonly strippedReasoning: boolean
    }
  /** `absent`: what the edit is about is not in this request; that may be so. `refused`: it is, and the edit cannot be made. */
  | { readonly ok: false; readonly why: "absent" | "refused"; readonly reason: string }

const refused = (reason: string): RequestEdit => ({ ok: false, why: "refused", reason })
const absent = (reason: string): RequestEdit => ({ ok: false, why: "absent", reason })

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
      return inJson(request, (text, root) => {
        const texts = systemTexts(root)
        if (texts.length === 0) return absent("it has no system prompt")
        return textEdit(text, texts, op.edit)
      })
    case "message.edit":
      return inMessages(request, anchors, (text, _root, messages) => {
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

type Changes = readonly Splice[] | Extract<RequestEdit, { ok: false }>
const isChanges = (result: Changes): result is readonly Splice[] => Array.isArray(result)

function inJson(request: AskedRequest, edit: (text: string, root: JsonNode) => Changes | RequestEdit): RequestEdit {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(request.body)
  } catch {
    return refused("the request is not UTF-8, so editing it would change bytes the edit is not about")
  }
  const reading = readJson(text)
  if (!reading.ok) return refused("the request is not JSON")
  const result = edit(text, reading.node)
  if (!isChanges(result as Changes)) return result as RequestEdit
  return done(request, spliced(text, result as readonly Splice[]))
}

function done(request: AskedRequest, text: string, strippedReasoning = false): RequestEdit {
  const body = Buffer.from(text, "utf8")
  const isChanged = !body.equals(request.body)
  return { ok: true, request: isChanged ? { ...request, body, masks: [] } : request, isChanged, strippedReasoning }
}

function textEdit(
  text: string,
  texts: Parameters<typeof editTexts>[1],
  edit: Parameters<typeof editTexts>[2],
): Changes {
  const edited = editTexts(text, texts, edit)
  if (edited.ok) return edited.splices
  const isMissing = "find" in edit && !texts.some((node) => node.value.includes(edit.find))
  return { ok: false, why: isMissing ? "absent" : "refused", reason: edited.reason }
}

function inMessages(
  request: AskedRequest,
  anchors: readonly MessageAnchor[],
  edit: (
    text: string,
    history: JsonArrayNode,
    messages: readonly { readonly node: JsonNode; readonly index: number }[],
  ) => Changes | RequestEdit,
): RequestEdit {
  return inJson(request, (text, root) => {
    const history = historyOf(root)
    const messages = history ? messagesAt(history, anchors) : []
    if (!history || messages.length === 0) return absent("the message is not in it")
    return edit(text, history, messages)
  })
}

/** The messages an anchor names, wherever in the history they stand by now. */
export function messagesAt(
  history: JsonArrayNode,
  anchors: readonly MessageAnchor[],
): { readonly node: JsonNode; readonly index: number }[] {
  const seen = new Map<string, number>()
  return history.items.flatMap((node, index) => {
    const hash = messageHash(node)
    const nth = seen.get(hash) ?? 0
    seen.set(hash, nth + 1)
    return anchors.some((anchor) => anchor.hash === hash && (anchor.nth ?? nth) === nth) ? [{ node, index }] : []
  })
}

function swapModel(request: AskedRequest, op: Extract<OverrideOp, { type: "model.swap" }>): RequestEdit {
  const edited = inJson(request, (text, root) => {
    if (root.kind !== "object") return refused("the request is no JSON object")
    const named = memberOf(root, "model")
    if (named?.kind === "string")
      return named.value === op.model ? [] : [setMember(root, "model", JSON.stringify(op.model))]
    // Gemini names the model in its address.
    const url = request.url?.replace(/(\/models\/)[^/:?]+/, `$1${encodeURIComponent(op.model)}`)
    if (request.url === null || url === undefined || url === request.url) return refused("it names no model")
    return { ...done({ ...request, url }, text), isChanged: true } as RequestEdit
  })
  if (!edited.ok) return edited
  const isOther = edited.isChanged
  if (op.reasoning_blocks === "keep" || (op.reasoning_blocks === "auto" && !isOther)) return edited
  const stripped = stripReasoning(edited.request)
  if (!stripped.ok) return stripped
  return { ...stripped, isChanged: edited.isChanged || stripped.isChanged }
}

/** Another model, or the same on another platform, cannot verify these blocks. */
function stripReasoning(request: AskedRequest): RequestEdit {
  const stripped = inJson(request, (_text, root) => {
    const history = historyOf(root)
    return history
      ? removeParts(
          history,
          historyParts(history).filter(({ node }) => isReasoning(node)),
        )
      : []
  })
  return stripped.ok ? { ...stripped, strippedReasoning: stripped.isChanged } : stripped
}

function setParams(request: AskedRequest, op: Extract<OverrideOp, { type: "param.set" }>): RequestEdit {
  let edited: RequestEdit = { ok: true, request, isChanged: false, strippedReasoning: false }
  const apply = (edit: (text: string, root: JsonNode) => Changes): void => {
    if (!edited.ok) return
    const next = inJson(edited.request, edit)
    edited = next.ok ? { ...next, isChanged: next.isChanged || edited.isChanged } : next
  }
  for (const [name, value] of Object.entries(op.set ?? {})) {
    apply((_text, root) => {
      const { parent, key } = placeOf(root, name)
      if (parent === undefined) return refusedChange(`there is no object to set ${name} in`)
      return [setMember(parent, key, JSON.stringify(value))]
    })
  }
  for (const name of op.unset ?? []) {
    apply((text, root) => {
      const { parent, key } = placeOf(root, name)
      return parent ? removeMembers(text, parent, new Set([key])) : []
    })
  }
  return edited
}

const refusedChange = (reason: string): Extract<RequestEdit, { ok: false }> => ({ ok: false, why: "refused", reason })

/** A parameter by its name, or by a pointer to it. */
function placeOf(root: JsonNode, name: string): { readonly parent: JsonObjectNode | undefined; readonly key: string } {
  if (!name.startsWith("/")) return { parent: root.kind === "object" ? root : undefined, key: name }
  const at = name.lastIndexOf("/")
  const parent = nodeAt(root, name.slice(0, at))
  return { parent: parent?.kind === "object" ? parent : undefined, key: pointerParts(name.slice(at))[0] ?? "" }
}

function dropMessages(
  request: AskedRequest,
  anchors: readonly MessageAnchor[],
  pairing: "refuse" | "drop_pair",
): RequestEdit {
  return inMessages(request, anchors, (_text, history, messages) => {
    const parts = historyParts(history)
    const wanted = new Set(messages.map(({ index }) => index))
    const dropped = new Set(parts.filter((part) => wanted.has(part.item)))
    const partners = partnersOf(parts, dropped)
    if (partners.size > 0 && pairing === "refuse") {
      return refusedChange("it holds a tool call or a result whose other half would stay behind; use drop_pair")
    }
    return removeParts(history, [...dropped, ...partners])
  })
}

/** The other halves of what is dropped: providers refuse a result without its call, and a call without its result. */
function partnersOf(parts: readonly HistoryPart[], dropped: ReadonlySet<HistoryPart>): Set<HistoryPart> {
  const partners = new Set<HistoryPart>()
  for (;;) {
    const gone = [...dropped, ...partners]
    const calls = new Set(gone.flatMap((part) => part.calls))
    const results = new Set(gone.flatMap((part) => part.results))
    const found = parts.filter(
      (part) =>
        !dropped.has(part) &&
        !partners.has(part) &&
        (part.results.some((id) => calls.has(id)) || part.calls.some((id) => results.has(id))),
    )
    if (found.length === 0) return partners
    for (const part of found) partners.add(part)
  }
}

/** Takes parts out; a message none of whose blocks stays goes as a whole. */
function removeParts(history: JsonArrayNode, parts: readonly HistoryPart[]): Splice[] {
  const items = new Set<number>()
  const blocks = new Map<number, Set<number>>()
  for (const { item, block } of parts) {
    if (block === undefined) items.add(item)
    else blocks.set(item, (blocks.get(item) ?? new Set()).add(block))
  }
  const splices: Splice[] = []
  for (const [item, indexes] of blocks) {
    const node = history.items[item]!
    const content = memberOf(node, "content") ?? memberOf(node, "parts")
    if (content?.kind !== "array" || indexes.size === content.items.length) items.add(item)
    else splices.push(...removeItems(content, indexes))
  }
  return [...removeItems(history, items), ...splices]
}

function editTools(request: AskedRequest, op: Extract<OverrideOp, { type: "tools.edit" }>): RequestEdit {
  let edited = inJson(request, (_text, root) => {
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
  for (const tool of op.add ?? []) {
    if (!edited.ok) return edited
    const next = inJson(edited.request, (_text, root) => {
      const list = toolLists(root)[0]
      if (list) return [insertItem(list, list.items.length, JSON.stringify(tool))]
      return root.kind === "object"
        ? [setMember(root, "tools", JSON.stringify([tool]))]
        : refused("it is no JSON object")
    })
    edited = next.ok ? { ...next, isChanged: true } : next
  }
  return edited
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
