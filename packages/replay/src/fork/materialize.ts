import { readJson } from "@orangebox/contract"
import { detectDialect, foldResponse, readBody } from "@orangebox/dialects"
import { memberOf, stringAt } from "@orangebox/text"
import { spliced } from "../json/splice.js"
import type { AskedRequest } from "../match/ask.js"
import { recordedRequest } from "../match/comparable.js"
import { type JsonObjectNode, removeMembers, setMember } from "../override/json-edit.js"
import { addressOf } from "../tape/sign.js"
import { readStored } from "../tape/stored-body.js"
import type { Tape, TapeCall } from "../tape/tape.js"

export type Materialized =
  | { readonly ok: true; readonly request: AskedRequest; readonly isChanged: boolean }
  | { readonly ok: false; readonly reason: string }

/** An upstream that never saw the recorded conversation cannot go on from it, so what it would have remembered is sent along. */
export function materialized(request: AskedRequest, tape: Tape): Materialized {
  const text = Buffer.from(request.body).toString("utf8")
  const reading = readJson(text)
  const root = reading.ok && reading.node.kind === "object" ? reading.node : undefined
  const previous = stringAt(root, "previous_response_id")
  if (!root || previous === undefined) return { ok: true, request, isChanged: false }
  const before = historyUpTo(previous, tape, new Set())
  if (typeof before === "string") return { ok: false, reason: before }
  if (before === undefined) return { ok: true, request, isChanged: false }
  // Joined as text: what was recorded goes out as it was, numbers beyond 2^53 included.
  const input = `[${[...before, ...itemsOf(memberOf(root, "input"), text)].join(",")}]`
  const withInput = spliced(text, [setMember(root, "input", input)])
  const again = readJson(withInput)
  if (!again.ok) return { ok: false, reason: "the expanded request is not JSON" }
  const body = spliced(
    withInput,
    removeMembers(withInput, again.node as JsonObjectNode, new Set(["previous_response_id"])),
  )
  return { ok: true, request: { ...request, body: Buffer.from(body, "utf8"), masks: [] }, isChanged: true }
}

/** Undefined for an id no recorded answer made: then the upstream made it, in this very run, and knows it. A text says what is missing. */
function historyUpTo(id: string, tape: Tape, seen: Set<string>): readonly string[] | string | undefined {
  if (seen.has(id)) return "the recorded conversation goes in circles"
  seen.add(id)
  const producer = producerOf(id, tape)
  if (producer === undefined) return undefined
  const request = recordedRequest(producer.call, tape.bodies)
  if (request === undefined) return `the request that led to ${id} is not recorded`
  const text = Buffer.from(request.body).toString("utf8")
  const reading = readJson(text)
  if (!reading.ok) return `the request that led to ${id} is not JSON`
  const earlier = stringAt(reading.node, "previous_response_id")
  const before = earlier === undefined ? [] : historyUpTo(earlier, tape, seen)
  if (typeof before === "string") return before
  if (before === undefined) return `the conversation before ${id} is not recorded`
  return [...before, ...itemsOf(memberOf(reading.node, "input"), text), ...producer.output]
}

function producerOf(
  id: string,
  tape: Tape,
): { readonly call: TapeCall; readonly output: readonly string[] } | undefined {
  for (const call of tape.calls) {
    const { method, url } = call.request
    const body = call.answer?.body
    if (call.kind !== "model" || method === null || url === null || !body) continue
    const request = recordedRequest(call, tape.bodies)
    const requestBody = request && readBody(request.body)
    const dialect = detectDialect({ ...addressOf(method, url), requestBody })?.dialect
    const reading = readStored(body, tape.bodies)
    if (!dialect || !reading.ok) continue
    const { message } = foldResponse(dialect, reading.bytes)
    if (typeof message !== "object" || message === null || Array.isArray(message) || message["id"] !== id) continue
    const output = message["output"]
    return { call, output: Array.isArray(output) ? output.map((item) => JSON.stringify(item)) : [] }
  }
  return undefined
}

/** Input as a list of items, each as JSON text; a bare text is one message of the user. */
function itemsOf(input: ReturnType<typeof memberOf>, text: string): string[] {
  if (input?.kind === "string") return [JSON.stringify({ role: "user", content: input.value })]
  return input?.kind === "array" ? input.items.map((item) => text.slice(item.start, item.end)) : []
}
