import type { Event } from "@orangebox/contract"
import { type BodyReading, cutWords, readStored, storedBody, storedJson } from "./stored-body.js"
import type { Bodies, HeaderPairs, RecordedAnswer, RecordedError, StreamEnd, StreamIndex } from "./tape.js"

const NOTHING_MORE = {
  headers: null,
  index: null,
  end: null,
  unfinishedIn: [],
  notDecoded: null,
  firstByteMs: null,
  model: null,
  exitCode: null,
} as const

export function modelAnswer(event: Event<"model_result">, bodies: Bodies): RecordedAnswer {
  const { payload } = event
  return {
    ...NOTHING_MORE,
    status: payload.status ?? "success",
    httpStatus: payload.http_status ?? null,
    body: storedBody(event, payload.response_ref),
    headers: headersOf(payload.response_headers_ref, bodies),
    index: indexOf(payload.stream_index_ref, bodies),
    end: payload.stream_end ?? null,
    ...decodingOf(event, payload.stream_end ?? null),
    error: errorOf(payload.error_class, payload.error_ref, payload.error_summary, bodies),
    latencyMs: payload.latency_ms,
    firstByteMs: payload.first_byte_ms ?? null,
    model: {
      modelId: payload.model_id,
      finishReason: payload.finish_reason,
      usage: payload.token_usage,
      requestId: payload.provider_request_id ?? null,
      requestedTools: payload.requested_tools ?? [],
      outputSummary: payload.output_summary ?? null,
    },
  }
}

export function toolAnswer(event: Event<"tool_result">, bodies: Bodies): RecordedAnswer {
  const { payload } = event
  return {
    ...NOTHING_MORE,
    status: payload.status,
    httpStatus: null,
    body: storedBody(event, payload.result_ref),
    error: errorOf(payload.error_class, payload.error_message_ref, payload.error_summary, bodies),
    latencyMs: payload.latency_ms,
    exitCode: payload.exit_code ?? null,
  }
}

export function retrievalAnswer(event: Event<"retrieval_executed">): RecordedAnswer {
  const { payload } = event
  return {
    ...NOTHING_MORE,
    status: payload.status ?? "success",
    httpStatus: null,
    body: storedBody(event, payload.candidate_list_ref),
    error: null,
    latencyMs: payload.latency_ms ?? 0,
  }
}

/** A plain request keeps status and ending in attributes, and of its headers only the type of its body. */
export function httpAnswer(event: Event<"step_ended">): RecordedAnswer {
  const { payload, attributes } = event
  const body = storedBody(event, payload.body_ref)
  const status = attributes?.["http_status"]
  const end = streamEnd(attributes?.["stream_end"])
  return {
    ...NOTHING_MORE,
    status: payload.status,
    httpStatus: typeof status === "number" ? status : null,
    body,
    headers: body ? [["content-type", body.mimeType]] : null,
    end,
    ...decodingOf(event, end),
    error:
      payload.error_class === undefined
        ? null
        : { errorClass: payload.error_class, message: payload.error_summary ?? "", code: null },
    latencyMs: payload.latency_ms,
  }
}

/** What the recorder says of an answer whose content encoding did not come to its end. */
function decodingOf(
  { attributes = {} }: Event,
  end: StreamEnd | null,
): Pick<RecordedAnswer, "unfinishedIn" | "notDecoded"> {
  const { response_wire_encoding: encoding, response_wire_bytes: byteSize, response_not_decoded: problem } = attributes
  const isBroken = end === "upstream_reset" || end === "timeout"
  const isUnfinished = problem === undefined ? isBroken : problem === UNFINISHED
  const unfinishedIn = isUnfinished && typeof encoding === "string" && byteSize !== 0 ? encoding.split(", ") : []
  return { unfinishedIn, notDecoded: problem === undefined || isUnfinished ? null : String(problem) }
}

/** The bytes to give once more, or why they cannot be; undefined for an answer without a body. */
export function readAnswer({ body, notDecoded }: RecordedAnswer, bodies: Bodies): BodyReading | undefined {
  if (body === null) return undefined
  const reading = readStored(body, bodies)
  if (!reading.ok) return reading
  if (body.isCut) return { ok: false, why: "cut", reason: cutWords(body) }
  if (notDecoded === null || body.contentEncoding !== "identity") return reading
  const reason = `its content encoding was damaged (${notDecoded}), and what came behind the first ${body.byteSize} bytes was not kept`
  return { ok: false, why: "cut", reason }
}

/** What zlib says of bytes that end too early. */
const UNFINISHED = "unexpected end of file"

export const headersOf = (hash: string | undefined, bodies: Bodies): HeaderPairs | null =>
  headersIn(storedJson(hash, bodies))

/** Headers as they are stored; null where it is something else. */
export function headersIn(json: unknown): HeaderPairs | null {
  if (!Array.isArray(json)) return null
  return json.filter(
    (pair): pair is [string, string] =>
      Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string",
  )
}

function indexOf(hash: string | undefined, bodies: Bodies): StreamIndex | null {
  const json = storedJson(hash, bodies)
  if (typeof json !== "object" || json === null) return null
  const { end, bytes, reads } = json as { end?: unknown; bytes?: unknown; reads?: unknown }
  if (typeof bytes !== "number" || !Array.isArray(reads)) return null
  const sound = reads.filter(
    (read): read is [number, number] =>
      Array.isArray(read) && Number.isSafeInteger(read[0]) && typeof read[1] === "number",
  )
  return { end: streamEnd(end) ?? "complete", bytes, reads: sound }
}

const ENDS: readonly string[] = ["complete", "client_abort", "upstream_reset", "timeout"] satisfies StreamEnd[]
const streamEnd = (value: unknown): StreamEnd | null =>
  typeof value === "string" && ENDS.includes(value) ? (value as StreamEnd) : null

/** Class and message of the outermost error of the recorded chain; the one-line summary where the chain is gone. */
export function errorOf(
  errorClass: string | null | undefined,
  hash: string | null | undefined,
  summary: string | undefined,
  bodies: Bodies,
): RecordedError | null {
  if (typeof errorClass !== "string") return null
  const chain = storedJson(hash, bodies)
  const outermost: unknown = Array.isArray(chain) ? chain[0] : undefined
  const { message, code } = (outermost ?? {}) as { message?: unknown; code?: unknown }
  return {
    errorClass,
    message: typeof message === "string" ? message : (summary ?? ""),
    code: typeof code === "string" ? code : null,
  }
}
