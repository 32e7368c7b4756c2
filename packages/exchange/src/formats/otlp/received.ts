import { listOf, recordOf, textOf } from "../told-values.js"
import { NAMES } from "./names.js"
import { type Attributes, NO_SERVICE, type PlainLog, type PlainSpan, type PlainSpanEvent } from "./plain.js"

/*
 * What was received, as it stands in the journal until runs are made of it. Spans of one request say the same things over and over: the model,
 * the address, the whole history of a conversation with every call. So each text is written once and spans name it by its number, and
 * whatever is searched for secrets is searched once:
 *
 *   texts   names of spans, services, scopes, messages of a status; pieces of long values, cut between messages
 *   pairs   an attribute, `{name: value}`: a secret is often known by its name, so the two stand together; of a long value, the numbers of its
 *           pieces in a list `{name: {pieces: […]}}`
 *   spans, logs   ids, times, numbers of texts and pairs. Counts of tokens, different on every span, stand there as they are: below zero
 *           the number of their name, then the count
 */
export function encodeReceived(spans: readonly PlainSpan[], logs: readonly PlainLog[]): string {
  const known = new WrittenOnce()
  const written = { spans: spans.map((span) => known.span(span)), logs: logs.map((log) => known.log(log)) }
  return JSON.stringify({ texts: known.texts, pairs: known.pairs, ...written })
}

class WrittenOnce {
  readonly texts: string[] = []
  readonly pairs: object[] = []
  readonly #texts = new Map<string, number>()
  readonly #pairs = new Map<string, Map<unknown, number>>()

  span(span: PlainSpan): unknown[] {
    const { traceId, spanId, parentSpanId, name, startMs, endMs, service, scope, attributes } = span
    const { events, links, isError, statusMessage, resource } = span
    const row: unknown[] = [
      this.#text(traceId),
      spanId,
      parentSpanId === null ? -1 : this.#text(parentSpanId),
      this.#text(name),
      startMs,
      endMs,
      this.#text(service),
      this.#text(scope),
      this.#attributes(attributes),
      this.#resource(resource),
    ]
    const isPlain = events.length === 0 && links.length === 0 && !isError && statusMessage === ""
    if (!isPlain)
      row.push(
        isError ? 1 : 0,
        this.#text(statusMessage),
        events.map((event) => [this.#text(event.name), event.atMs, this.#attributes(event.attributes)]),
        links.flatMap((link) => [this.#text(link.traceId), link.spanId]),
      )
    return row
  }

  log({ traceId, spanId, atMs, severity, name, body, attributes, service, scope }: PlainLog): unknown[] {
    return [
      traceId === null ? -1 : this.#text(traceId),
      spanId ?? 0,
      atMs,
      severity,
      this.#text(name),
      this.#text(service),
      this.#text(scope),
      this.#attributes(attributes),
      ...(body === undefined ? [] : [this.#pair("body", body)]),
    ]
  }

  /** Spans of one process hold the same one. */
  #resource(resource: Attributes): number {
    if (this.#lastResource !== resource) this.#lastAt = this.#pair("resource", { ...resource })
    this.#lastResource = resource
    return this.#lastAt
  }
  #lastResource: Attributes | undefined
  #lastAt = 0

  #attributes(attributes: Attributes): number[] {
    const numbers: number[] = []
    for (const name in attributes) {
      const value = attributes[name]
      if (typeof value === "number" && COUNTS.has(name)) numbers.push(-1 - this.#text(name), value)
      else numbers.push(this.#pair(name, value))
    }
    return numbers
  }

  #text(text: string): number {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, this.texts.length)
    return this.texts.push(text) - 1
  }

  #pair(name: string, value: unknown): number {
    let ofName = this.#pairs.get(name)
    if (ofName === undefined) {
      ofName = new Map()
      this.#pairs.set(name, ofName)
    }
    const known = ofName.get(value)
    if (known !== undefined) return known
    const isLong = typeof value === "string" && value.length > SHORTEST_CUT
    const cut = isLong ? piecesOf(value) : undefined
    const written =
      cut !== undefined && cut.length > 0 ? { pieces: cut.map((piece) => this.#text(piece)) } : asWritten(value)
    ofName.set(value, this.pairs.length)
    return this.pairs.push({ [name]: written }) - 1
  }
}

const SHORTEST_CUT = 2048

const COUNTS: ReadonlySet<string> = new Set([
  ...[...NAMES.inputTokens, ...NAMES.outputTokens, ...NAMES.totalTokens],
  ...[...NAMES.cacheRead, ...NAMES.cacheWrite, ...NAMES.reasoning],
])

/**
 * Before the `"role"` of each message, which cannot stand inside a secret, and before what stands between two messages: so a conversation that
 * grew is made of the pieces it had and the new ones.
 */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  const add = (from: number, end: number): void => {
    let between = end
    while (between > from && BETWEEN.includes(text[between - 1]!)) between--
    if (between > from) pieces.push(text.slice(from, between))
    if (end > between) pieces.push(text.slice(between, end))
  }
  let from = 0
  for (let at = text.indexOf(ROLE, 1); at !== -1; at = text.indexOf(ROLE, at + ROLE.length)) {
    add(from, at)
    from = at
  }
  if (from > 0) add(from, text.length)
  return pieces
}

const BETWEEN = " \n,{}[]"
const ROLE = '"role"'

/** A value of an attribute that is an object must not be taken for pieces. */
const asWritten = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { value } : (value ?? null)

// ── Back ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function decodeReceived(text: string): { readonly spans: PlainSpan[]; readonly logs: PlainLog[] } {
  const request = recordOf(JSON.parse(text))
  const texts = listOf(request["texts"])
  const pairs = listOf(request["pairs"]).map((pair) => readPair(pair, texts))
  const textAt = (at: unknown): string => textOf(texts[at as number]) ?? ""
  const attributesOf = (numbers: unknown): Attributes => {
    const attributes: Record<string, unknown> = Object.create(null)
    const given = listOf(numbers) as readonly number[]
    for (let at = 0; at < given.length; at++) {
      const number = given[at]!
      const pair = pairs[number]
      if (number < 0) attributes[textAt(-1 - number)] = given[++at]
      else if (pair !== undefined) attributes[pair[0]] = pair[1]
    }
    return attributes
  }
  const eventOf = (row: unknown): PlainSpanEvent => {
    const [name, atMs, attributes] = listOf(row)
    return { name: textAt(name), atMs: Number(atMs), attributes: attributesOf(attributes) }
  }
  const spanOf = (row: unknown): PlainSpan => {
    const [traceId, spanId, parent, name, startMs, endMs, service, scope, attributes, resource, ...rest] = listOf(row)
    const [isError, message, events, links] = rest
    const ids = listOf(links)
    return {
      traceId: textAt(traceId),
      spanId: String(spanId),
      parentSpanId: parent === -1 ? null : textAt(parent),
      name: textAt(name),
      startMs: Number(startMs),
      endMs: Number(endMs),
      service: textAt(service) || NO_SERVICE,
      scope: textAt(scope),
      attributes: attributesOf(attributes),
      resource: recordOf(pairs[resource as number]?.[1]),
      isError: isError === 1,
      statusMessage: message === undefined ? "" : textAt(message),
      events: listOf(events).map(eventOf),
      links: ids.flatMap((id, at) => (at % 2 === 0 ? [{ traceId: textAt(id), spanId: String(ids[at + 1]) }] : [])),
    }
  }
  const logOf = (row: unknown): PlainLog => {
    const [traceId, spanId, atMs, severity, name, service, scope, attributes, body] = listOf(row)
    return {
      traceId: traceId === -1 ? null : textAt(traceId),
      spanId: textOf(spanId) ?? null,
      atMs: Number(atMs),
      severity: Number(severity),
      name: textAt(name),
      service: textAt(service) || NO_SERVICE,
      scope: textAt(scope),
      attributes: attributesOf(attributes),
      body: body === undefined ? undefined : pairs[body as number]?.[1],
    }
  }
  return { spans: listOf(request["spans"]).map(spanOf), logs: listOf(request["logs"]).map(logOf) }
}

function readPair(pair: unknown, texts: readonly unknown[]): readonly [string, unknown] | undefined {
  const [entry] = Object.entries(recordOf(pair))
  if (entry === undefined) return undefined
  const [name, written] = entry
  if (typeof written !== "object" || written === null || Array.isArray(written)) return [name, written]
  const { pieces, value } = recordOf(written)
  return Array.isArray(pieces) ? [name, pieces.map((at) => textOf(texts[at]) ?? "").join("")] : [name, value]
}
