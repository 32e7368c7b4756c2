import { type JsonNode, readJson } from "@orangebox/contract"
import { type Continuation, continuationOf, detectDialect, foldResponse, readBody } from "@orangebox/dialects"
import { memberOf } from "@orangebox/text"
import { type JsonObjectNode, removeMembers, setMember, spliced } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"
import { recordedRequest } from "../match/comparable.js"
import { addressOf } from "../tape/sign.js"
import { readStored } from "../tape/stored-body.js"
import type { Tape, TapeCall } from "../tape/tape.js"

export type Materialized =
  | { readonly ok: true; readonly request: AskedRequest; readonly isChanged: boolean }
  | { readonly ok: false; readonly reason: string }

type Continued = NonNullable<ReturnType<typeof continuationOf>>

/** An upstream that never saw the recorded conversation cannot go on from it, so what it would have remembered is sent along. */
export function materialized(request: AskedRequest, tape: Tape): Materialized {
  const text = Buffer.from(request.body).toString("utf8")
  const reading = readJson(text)
  const root = reading.ok && reading.node.kind === "object" ? reading.node : undefined
  const previous = root && continuationOf(root)
  if (!root || !previous) return { ok: true, request, isChanged: false }
  const before = historyUpTo(previous, tape, new Set())
  if (typeof before === "string") return { ok: false, reason: before }
  if (before === undefined) return { ok: true, request, isChanged: false }
  // Joined as text: what was recorded goes out as it was, numbers beyond 2^53 included.
  const history = `[${[...before, ...itemsIn(root, text, previous)].join(",")}]`
  const expanded = spliced(text, [setMember(root, previous.history, history)])
  const again = readJson(expanded)
  if (!again.ok) return { ok: false, reason: "the expanded request is not JSON" }
  const body = spliced(expanded, removeMembers(expanded, again.node as JsonObjectNode, new Set([previous.member])))
  return { ok: true, request: { ...request, body: Buffer.from(body, "utf8"), masks: [] }, isChanged: true }
}

/** Undefined for an id no recorded answer made: then the upstream made it, in this very run, and knows it. A text says what is missing. */
function historyUpTo(
  { id, ...continuation }: Continued,
  tape: Tape,
  seen: Set<string>,
): readonly string[] | string | undefined {
  if (seen.has(id)) return "the recorded conversation goes in circles"
  seen.add(id)
  const producer = producerOf(id, continuation, tape)
  if (producer === undefined) return undefined
  const request = recordedRequest(producer.call, tape.bodies)
  if (request === undefined) return `the request that led to ${id} is not recorded`
  const text = Buffer.from(request.body).toString("utf8")
  const reading = readJson(text)
  if (!reading.ok) return `the request that led to ${id} is not JSON`
  const earlier = continuationOf(reading.node)
  const before = earlier === undefined ? [] : historyUpTo(earlier, tape, seen)
  if (typeof before === "string") return before
  if (before === undefined) return `the conversation before ${id} is not recorded`
  return [...before, ...itemsIn(reading.node, text, continuation), ...producer.output]
}

function producerOf(
  id: string,
  continuation: Continuation,
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
    return { call, output: continuation.itemsOf(message).map((item) => JSON.stringify(item)) }
  }
  return undefined
}

/** The history a request carries, each item as JSON text. */
function itemsIn(root: JsonNode, text: string, { history, itemOfText }: Continuation): string[] {
  const sent = memberOf(root, history)
  if (sent?.kind === "string") return [JSON.stringify(itemOfText(sent.value))]
  return sent?.kind === "array" ? sent.items.map((item) => text.slice(item.start, item.end)) : []
}
