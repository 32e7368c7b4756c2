import { bodyHash } from "@orangebox/contract"
import { type Dialect, detectDialect, dialectOfBytes, foldResponse, streamAnswer } from "@orangebox/dialects"
import type { OverrideOp, OverrideValue } from "../generated.js"
import type { Ask } from "../match/ask.js"
import { readStored } from "../tape/stored-body.js"
import type { Bodies, RecordedAnswer, TapeCall } from "../tape/tape.js"
import { jsonPatched } from "./json-patch.js"

/** Where values of other runs come from; undefined where they are not to be had. */
export type FromRun = (
  runId: string,
  stepId: string,
) => { readonly bytes: Uint8Array; readonly mimeType: string } | undefined

export interface AnswerSources {
  readonly bodies: Bodies
  readonly fromRun: FromRun
}

export type MadeAnswer =
  | { readonly ok: true; readonly answer: RecordedAnswer; readonly bytes: Uint8Array | null }
  | { readonly ok: false; readonly reason: string }

type AnswerOp = Extract<OverrideOp, { type: "tool.result" | "retrieval.result" | "response.replace" | "fault" }>

export const isAnswerOp = (op: OverrideOp): op is AnswerOp =>
  op.type === "tool.result" || op.type === "retrieval.result" || op.type === "response.replace" || op.type === "fault"

/** The answer a rule gives in the place of the recorded one. */
export function overrideAnswer(
  op: AnswerOp,
  ask: Pick<Ask, "kind" | "stream" | "request">,
  source: TapeCall | null,
  sources: AnswerSources,
): MadeAnswer {
  switch (op.type) {
    case "tool.result": {
      const value = valueFrom(op.result, source, sources)
      if (!value.ok) return value
      const error = op.is_error ? { errorClass: "ToolError", message: value.text, code: null } : null
      return made({ status: op.is_error ? "error" : "success", error }, value.bytes, value.mimeType)
    }
    case "retrieval.result":
      return retrievalAnswer(op, source, sources)
    case "response.replace": {
      const value = valueFrom(op.response, source, sources)
      return value.ok ? modelResponse(value, ask) : value
    }
    case "fault":
      return faultAnswer(op, source, sources)
  }
}

const STREAM = "text/event-stream"

/** An answer in the form that is asked for, whichever it was given in. */
function modelResponse(
  { bytes, text, mimeType }: Extract<FoundValue, { ok: true }>,
  { stream, request }: Pick<Ask, "stream" | "request">,
): MadeAnswer {
  const isStream = isEventStream(text)
  const answer = (body: Uint8Array, type: string): MadeAnswer => made({ httpStatus: 200 }, body, type)
  if (isStream === (stream === true)) return answer(bytes, isStream ? STREAM : mimeType)
  const dialect = spokenIn(request) ?? dialectOfBytes(bytes)
  if (isStream) {
    const whole = dialect && foldResponse(dialect, bytes).message
    return whole == null ? { ok: false, reason: NO_FORM } : answer(jsonBytes(whole), "application/json")
  }
  const streamed = dialect && streamAnswer(dialect, bytes)
  return streamed ? answer(streamed, STREAM) : { ok: false, reason: NO_FORM }
}

const NO_FORM =
  "the call is asked in another form, streamed or whole, and the response is no answer of its provider that could be put into it"

const isEventStream = (text: string): boolean => /^(?::|event:|data:|id:|retry:)/.test(text)
const jsonBytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value), "utf8")

function spokenIn(request: Ask["request"]): Dialect | undefined {
  if (request?.url == null || request.method === null) return undefined
  const { pathname, search, host } = new URL(request.url, "http://recorded.invalid")
  const call = { method: request.method, path: pathname + search, host, requestBody: request.body }
  return detectDialect(call)?.dialect
}

/** A value that was made up, as an answer. */
export function inlineAnswer(value: unknown, kind: Ask["kind"], isError: boolean): Extract<MadeAnswer, { ok: true }> {
  const isText = typeof value === "string"
  const text = isText ? value : (JSON.stringify(value) ?? "null")
  const error = isError ? { errorClass: "ToolError", message: text, code: null } : null
  const httpStatus = kind === "model" || kind === "http" ? (isError ? 500 : 200) : null
  const mimeType = isText ? "text/plain; charset=utf-8" : "application/json"
  return made({ status: isError ? "error" : "success", error, httpStatus }, Buffer.from(text, "utf8"), mimeType)
}

function made(
  over: Partial<RecordedAnswer>,
  bytes: Uint8Array | null,
  mimeType: string,
): Extract<MadeAnswer, { ok: true }> {
  const answer: RecordedAnswer = {
    status: "success",
    httpStatus: null,
    body: bytes && {
      hash: bodyHash(bytes),
      byteSize: bytes.length,
      mimeType,
      contentEncoding: "identity",
      absent: null,
      isCut: false,
      masks: [],
      maskCount: 0,
    },
    headers: bytes ? [["content-type", mimeType]] : null,
    index: null,
    end: "complete",
    error: null,
    latencyMs: 0,
    unfinishedIn: [],
    notDecoded: null,
    firstByteMs: null,
    model: null,
    exitCode: null,
    ...over,
  }
  return { ok: true, answer, bytes }
}

type FoundValue =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly text: string; readonly mimeType: string }
  | { readonly ok: false; readonly reason: string }

function valueFrom(value: OverrideValue, source: TapeCall | null, { bodies, fromRun }: AnswerSources): FoundValue {
  if ("inline" in value) {
    const isText = typeof value.inline === "string"
    const text = isText ? (value.inline as string) : JSON.stringify(value.inline)
    return found(Buffer.from(text, "utf8"), isText ? "text/plain; charset=utf-8" : "application/json")
  }
  if ("artifact" in value) {
    const bytes = bodies.get(value.artifact)
    return bytes
      ? found(bytes, "application/octet-stream")
      : { ok: false, reason: `there is no body ${value.artifact}` }
  }
  if ("from_run" in value) {
    const other = fromRun(value.from_run, value.step_id)
    return other
      ? found(other.bytes, other.mimeType)
      : { ok: false, reason: `${value.from_run} ${value.step_id} has no answer to take` }
  }
  const recorded = recordedBytes(source, bodies)
  if (recorded === undefined) return { ok: false, reason: "there is no recorded value to patch" }
  const json = recordedJson(recorded)
  if (json === undefined) return { ok: false, reason: "the recorded value is not JSON" }
  const patched = jsonPatched(json, value.json_patch)
  return patched.ok ? found(jsonBytes(patched.value), "application/json") : patched
}

/** A streamed answer is patched as what it comes to. */
function recordedJson(recorded: Uint8Array): unknown {
  const text = Buffer.from(recorded).toString("utf8")
  const dialect = isEventStream(text) ? dialectOfBytes(recorded) : undefined
  return dialect ? (foldResponse(dialect, recorded).message ?? undefined) : parsed(text)
}

const found = (bytes: Uint8Array, mimeType: string): FoundValue => ({
  ok: true,
  bytes,
  text: Buffer.from(bytes).toString("utf8"),
  mimeType,
})

function recordedBytes(source: TapeCall | null, bodies: Bodies): Uint8Array | undefined {
  const body = source?.answer?.body
  const reading = body ? readStored(body, bodies) : undefined
  return reading?.ok ? reading.bytes : undefined
}

/** Candidates as a retriever's recording lists them; `content` stands inline where the rule brought it. */
function retrievalAnswer(
  op: Extract<OverrideOp, { type: "retrieval.result" }>,
  source: TapeCall | null,
  sources: AnswerSources,
): MadeAnswer {
  let list: unknown
  if (op.documents !== undefined) {
    const value = valueFrom(op.documents, source, sources)
    if (!value.ok) return value
    list = parsed(value.text)
  } else {
    const recorded = recordedBytes(source, sources.bodies)
    if (recorded === undefined) return { ok: false, reason: "there are no recorded documents to drop or reorder" }
    list = parsed(Buffer.from(recorded).toString("utf8"))
  }
  if (!Array.isArray(list)) return { ok: false, reason: "the documents are no list" }
  const documents = list.map((entry) => entry as Record<string, unknown>)
  const idOf = (entry: Record<string, unknown>): string => String(entry["chunk_id"] ?? entry["document_id"] ?? "")
  const dropped = new Set(op.drop_ids ?? [])
  const missing = [...dropped, ...(op.reorder ?? [])].find((id) => !documents.some((entry) => idOf(entry) === id))
  if (missing !== undefined) return { ok: false, reason: `there is no document ${missing}` }
  const kept = documents.filter((entry) => !dropped.has(idOf(entry)))
  const order = new Map((op.reorder ?? []).map((id, index) => [id, index]))
  const rank = (entry: Record<string, unknown>): number => order.get(idOf(entry)) ?? order.size
  const sorted = kept
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => rank(a.entry) - rank(b.entry) || a.index - b.index)
  const result = sorted.map(({ entry }, index) => ({ ...entry, rank: index }))
  return made({}, Buffer.from(JSON.stringify(result), "utf8"), "application/json")
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultAnswer(
  op: Extract<OverrideOp, { type: "fault" }>,
  source: TapeCall | null,
  { bodies }: AnswerSources,
): MadeAnswer {
  const before = recordedBytes(source, bodies)?.subarray(0, op.after_bytes ?? 0) ?? new Uint8Array(0)
  const mimeType = source?.answer?.body?.mimeType ?? "application/octet-stream"
  const httpStatus = source?.answer?.httpStatus ?? 200
  switch (op.fault) {
    case "http_status": {
      const status = op.status ?? 500
      const message = `HTTP ${status}, injected by an override rule`
      const body = Buffer.from(JSON.stringify({ type: "error", error: { type: "injected_fault", message } }), "utf8")
      const error = { errorClass: `HTTP ${status}`, message, code: null }
      return made({ status: "error", httpStatus: status, error }, body, "application/json")
    }
    case "timeout":
      return made({ status: "timeout", end: "timeout", error: faultError("TimeoutError", "timed out") }, null, mimeType)
    case "reset":
      return made(
        {
          status: "error",
          end: "upstream_reset",
          httpStatus: before.length > 0 ? httpStatus : null,
          error: faultError("ConnectionReset", "connection reset"),
        },
        before.length > 0 ? before : null,
        mimeType,
      )
    case "truncate_stream":
      if (before.length === 0)
        return { ok: false, reason: "there are no recorded bytes to cut a stream from; say after_bytes" }
      return made({ status: "partial", httpStatus, end: "upstream_reset" }, before, mimeType)
  }
}

const faultError = (errorClass: string, what: string): NonNullable<RecordedAnswer["error"]> => ({
  errorClass,
  message: `${what}, injected by an override rule`,
  code: null,
})
