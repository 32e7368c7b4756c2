import { isNestedDeeper } from "@orangebox/contract"
import { type Json, listOf, recordOf } from "../told-values.js"
import {
  type Attributes,
  BadRequest,
  isSpanId,
  isTraceId,
  msOfNanos,
  NO_SERVICE,
  type PlainLog,
  type PlainRequest,
  type PlainSpan,
} from "./plain.js"

/*
 * OTLP/JSON: lowerCamelCase keys, ids in hex of either case, 64-bit integers as texts or numbers, enums as integers; unknown fields are
 * ignored.
 */

const DEEPEST = 100

export function decodeJsonRequest(text: string): PlainRequest {
  // Before it is parsed: a parser may run out of stack.
  if (isNestedDeeper(text, DEEPEST)) throw new BadRequest(`the body is nested more than ${DEEPEST} deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new BadRequest("the body is not JSON")
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadRequest("the body is no JSON object")
  return plainRequest(value as Json, valueOfJson)
}

/** The members of a request, once both encodings have the same shape. `read` turns an attribute's value into a plain one. */
export function plainRequest(request: Json, read: (value: unknown) => unknown): PlainRequest {
  const spans: PlainSpan[] = []
  const logs: PlainLog[] = []
  let rejected = 0
  for (const resourceSpans of listOf(request["resourceSpans"]).map(recordOf)) {
    const resource = resourceOf(resourceSpans, read)
    const service = serviceOf(resource)
    for (const scopeSpans of listOf(resourceSpans["scopeSpans"]).map(recordOf)) {
      const scope = String(recordOf(scopeSpans["scope"])["name"] ?? "")
      for (const span of listOf(scopeSpans["spans"])) {
        const plain = spanOf(recordOf(span), { service, scope, resource }, read)
        if (plain === undefined) rejected++
        else spans.push(plain)
      }
    }
  }
  for (const resourceLogs of listOf(request["resourceLogs"]).map(recordOf)) {
    const service = serviceOf(resourceOf(resourceLogs, read))
    for (const scopeLogs of listOf(resourceLogs["scopeLogs"]).map(recordOf)) {
      const scope = String(recordOf(scopeLogs["scope"])["name"] ?? "")
      for (const log of listOf(scopeLogs["logRecords"])) logs.push(logOf(recordOf(log), service, scope, read))
    }
  }
  const rejectedWhy =
    rejected === 0 ? "" : "spans without a trace id of 16 bytes and a span id of 8 bytes cannot be told apart"
  return { spans, logs, rejected, rejectedWhy }
}

const resourceOf = (of: Json, read: (value: unknown) => unknown): Attributes =>
  attributesOf(recordOf(of["resource"])["attributes"], read)

function serviceOf({ "service.name": name }: Attributes): string {
  return typeof name === "string" && name !== "" ? name.slice(0, 512) : NO_SERVICE
}

function spanOf(
  span: Json,
  from: Pick<PlainSpan, "service" | "scope" | "resource">,
  read: (value: unknown) => unknown,
): PlainSpan | undefined {
  const traceId = idOf(span["traceId"])
  const spanId = idOf(span["spanId"])
  if (!isTraceId(traceId) || !isSpanId(spanId)) return undefined
  const parent = idOf(span["parentSpanId"])
  const status = recordOf(span["status"])
  return {
    traceId,
    spanId,
    parentSpanId: isSpanId(parent) && parent !== spanId ? parent : null,
    name: String(span["name"] ?? ""),
    startMs: msOfNanos(span["startTimeUnixNano"]),
    endMs: msOfNanos(span["endTimeUnixNano"]),
    attributes: attributesOf(span["attributes"], read),
    events: listOf(span["events"])
      .map(recordOf)
      .map((event) => ({
        name: String(event["name"] ?? ""),
        atMs: msOfNanos(event["timeUnixNano"]),
        attributes: attributesOf(event["attributes"], read),
      })),
    links: listOf(span["links"])
      .map(recordOf)
      .map((link) => ({ traceId: idOf(link["traceId"]), spanId: idOf(link["spanId"]) }))
      .filter((link) => isTraceId(link.traceId) && isSpanId(link.spanId)),
    isError: status["code"] === 2 || status["code"] === "STATUS_CODE_ERROR",
    statusMessage: String(status["message"] ?? ""),
    ...from,
  }
}

function logOf(log: Json, service: string, scope: string, read: (value: unknown) => unknown): PlainLog {
  const traceId = idOf(log["traceId"])
  const spanId = idOf(log["spanId"])
  const attributes = attributesOf(log["attributes"], read)
  const { "event.name": named } = attributes
  const name = log["eventName"] || named
  const severity = Number(log["severityNumber"] ?? 0)
  return {
    traceId: isTraceId(traceId) ? traceId : null,
    spanId: isSpanId(spanId) ? spanId : null,
    atMs: msOfNanos(log["timeUnixNano"]) || msOfNanos(log["observedTimeUnixNano"]),
    severity: Number.isInteger(severity) ? severity : 0,
    name: typeof name === "string" ? name : "",
    body: log["body"] === undefined ? undefined : read(log["body"]),
    attributes,
    service,
    scope,
  }
}

/** What a span may say about itself; more is hostile, and is counted. */
const MOST_ATTRIBUTES = 2048

function attributesOf(list: unknown, read: (value: unknown) => unknown): Attributes {
  const given = listOf(list)
  const attributes: Record<string, unknown> = Object.create(null)
  for (const one of given.slice(0, MOST_ATTRIBUTES)) {
    const { key, value } = recordOf(one)
    if (typeof key === "string" && key !== "") attributes[key] = read(value)
  }
  if (given.length > MOST_ATTRIBUTES) attributes["orangebox.attributes_left_out"] = given.length - MOST_ATTRIBUTES
  return attributes
}

function idOf(value: unknown): string {
  if (typeof value === "string") return value.toLowerCase()
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex") : ""
}

function valueOfJson(value: unknown): unknown {
  const any = recordOf(value)
  if ("stringValue" in any) return String(any["stringValue"])
  if ("boolValue" in any) return any["boolValue"] === true
  if ("intValue" in any) return wholeOf(any["intValue"])
  if ("doubleValue" in any) return Number(any["doubleValue"])
  if ("arrayValue" in any) return listOf(recordOf(any["arrayValue"])["values"]).map(valueOfJson)
  if ("kvlistValue" in any) {
    const pairs = listOf(recordOf(any["kvlistValue"])["values"]).map(recordOf)
    return Object.fromEntries(pairs.map(({ key, value: inner }) => [String(key), valueOfJson(inner)]))
  }
  return "bytesValue" in any ? String(any["bytesValue"]) : null
}

/** A number where it fits, the digits where it does not. */
export function wholeOf(value: unknown): number | string | null {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value === null || value === undefined ? null : String(value)
}
