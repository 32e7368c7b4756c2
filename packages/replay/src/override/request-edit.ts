import { type JsonNode, readJson } from "@orangebox/contract"
import { type Splice, spliced } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"

export type RequestEdit = EditedRequest | Refusal

export interface EditedRequest {
  readonly ok: true
  readonly request: AskedRequest
  readonly isChanged: boolean
  readonly strippedReasoning: boolean
}

/** `absent`: what the edit is about is not in this request; that may be so. `refused`: it is, and the edit cannot be made. */
export interface Refusal {
  readonly ok: false
  readonly why: "absent" | "refused"
  readonly reason: string
}

export const refused = (reason: string): Refusal => ({ ok: false, why: "refused", reason })
export const absent = (reason: string): Refusal => ({ ok: false, why: "absent", reason })

export type Changes = readonly Splice[] | Refusal
const isRefusal = (result: Changes): result is Refusal => "ok" in result

/** Edits a request's JSON text. Whatever the splices do not name keeps its bytes, so a body that does not come back from text is refused. */
export function inJson(request: AskedRequest, edit: (text: string, root: JsonNode) => Changes): RequestEdit {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(request.body)
  } catch {
    return refused("the request is not UTF-8, so editing it would change bytes the edit is not about")
  }
  const reading = readJson(text)
  if (!reading.ok) return refused("the request is not JSON")
  const result = edit(text, reading.node)
  if (isRefusal(result)) return result
  const body = Buffer.from(spliced(text, result), "utf8")
  if (body.equals(request.body)) return untouched(request)
  return { ok: true, request: { ...request, body, masks: [] }, isChanged: true, strippedReasoning: false }
}

export const untouched = (request: AskedRequest): EditedRequest => ({
  ok: true,
  request,
  isChanged: false,
  strippedReasoning: false,
})

/** One edit after another; the first that is refused ends it. */
export function inTurn(request: AskedRequest, edits: readonly ((request: AskedRequest) => RequestEdit)[]): RequestEdit {
  let edited: EditedRequest = untouched(request)
  for (const edit of edits) {
    const next = edit(edited.request)
    if (!next.ok) return next
    edited = {
      ...next,
      isChanged: edited.isChanged || next.isChanged,
      strippedReasoning: edited.strippedReasoning || next.strippedReasoning,
    }
  }
  return edited
}
