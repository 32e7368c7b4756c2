import {
  type ArtifactRef,
  asRecord,
  type CaptureMode,
  countIn,
  type Event,
  type LoosePayload,
  listIn,
  payloadOf,
  recordsIn,
  type TokenUsage,
  textIn,
} from "@orangebox/contract"
import { type Dialect, detectDialect, parseJson, type ToolCall } from "@orangebox/dialects"
import { dialectOfBytes, foldedAnswer, isFailure, isOpen, type Run, type Step, usageRecordOf } from "@orangebox/runs"
import { type CapturedText, capturedText } from "./captured-text.js"
import { type BodyLookup, bodyBytes, bodyText } from "./recorded-run.js"

/** A logical model call: its tries are folded into it, and what was sent is what the last of them sent. */
export interface ModelCall {
  readonly step: Step
  /** The try whose bytes went out last: the call itself when it has no tries of its own. */
  readonly sent: Step
  readonly provider: string
  readonly modelId: string | null
  readonly requestRef: string | null
  readonly responseRef: string | null
  readonly result: Event | null
  /** The record that says what it used. */
  readonly usageRecord: Event | null
  /** A call the harness makes for itself, such as counting tokens or naming a conversation. */
  readonly sideCall: string | null
  readonly dialect: Dialect | undefined
  readonly answer: ModelAnswer
}

/** What the model answered. Null texts are not kept. */
export interface ModelAnswer {
  readonly id: string | null
  readonly text: string | null
  readonly toolCalls: readonly RequestedTool[]
  /** Whether there is an answer at all, kept or not. */
  readonly exists: boolean
  /** As the recording tells it, else as the answer itself does. */
  readonly usage: TokenUsage | null
  /** What the provider sent in the place of an answer. */
  readonly error?: string
}

/** A call that came to nothing, or was never answered before its run stopped. */
export const hasNoAnswer = ({ step, answer }: ModelCall): boolean =>
  isFailure(step.status) || step.status === "open" || (step.status === "partial" && !answer.exists)

export interface RequestedTool {
  readonly id: string | null
  readonly name: string
  /** JSON text as the model wrote it; null when only the name is kept. */
  readonly arguments: string | null
  readonly runsAt: ToolCall["runsAt"]
}

/** Every logical model call of the run, in opening order. Each answer is folded once. */
export function modelCallsOf(index: Run, bodies: BodyLookup): ModelCall[] {
  const calls: ModelCall[] = []
  for (const step of index.steps) {
    if (step.kind === "model" && step.attemptNo === undefined) calls.push(modelCallOf(step, bodies))
  }
  return calls
}

function modelCallOf(step: Step, bodies: BodyLookup): ModelCall {
  const sent = step.attempts.at(-1) ?? step
  const opening = payloadOf(sent.opened ?? step.opened)
  const result = step.closed ?? sent.closed ?? null
  const closing = payloadOf(result)
  const usageRecord = usageRecordOf(step) ?? result
  const responseRef = textIn(closing, "response_ref") ?? textIn(payloadOf(sent.closed), "response_ref") ?? null
  const bytes = bodyBytes(bodies, responseRef)
  const dialect = dialectOfCall(opening) ?? (bytes && dialectOfBytes(bytes))
  return {
    step,
    sent,
    provider: textIn(opening, "provider") ?? "other",
    modelId: textIn(closing, "model_id") ?? textIn(opening, "model_id") ?? null,
    requestRef: textIn(opening, "request_ref") ?? null,
    responseRef,
    result,
    usageRecord,
    sideCall: sideCallOf(step),
    dialect,
    answer: answerOf(dialect, bytes, responseRef, closing, usageIn(payloadOf(usageRecord))),
  }
}

/** Why a call has no answer, in the words of the first that says so: its own record, its last try's, the provider's. */
export function errorOf(
  { step, sent, result, answer }: ModelCall,
  bodies: BodyLookup,
): { class: string | null; httpStatus: number | null; message: CapturedText | null } {
  const records = [result, sent.closed].map((event) => payloadOf(event))
  const said = (name: string): string | null => records.map((one) => textIn(one, name)).find(Boolean) ?? null
  const status = records.map((one) => countIn(one, "http_status")).find((one) => one !== undefined)
  const ref = said("error_ref")
  const text = said("error_summary") ?? bodyText(bodies, ref) ?? answer.error ?? null
  return {
    class: step.errorClass ?? said("error_class") ?? (isOpen(step.status) ? step.status : null),
    httpStatus: status ?? null,
    message: capturedText(text, ref),
  }
}

const wordsOf = (error: unknown): string => {
  const record = asRecord(error)
  return (
    (record && (textIn(record, "message") ?? textIn(record, "type"))) ??
    (typeof error === "string" ? error : JSON.stringify(error))
  )
}

function sideCallOf(step: Step): string | null {
  const attributes = step.opened?.attributes
  if (typeof attributes?.["side_call"] === "string") return attributes["side_call"]
  return attributes?.["auxiliary"] === true ? "auxiliary" : null
}

export function dialectOfCall(opening: LoosePayload): Dialect | undefined {
  const url = textIn(opening, "url")
  if (url === undefined) return undefined
  const parts = /^[a-z]+:\/\/([^/?#]*)([^#]*)/i.exec(url)
  const [, host, path] = parts ?? [undefined, undefined, url]
  const method = textIn(opening, "http_method") ?? "POST"
  return detectDialect({ method, path: path || "/", ...(host === undefined ? {} : { host }) })?.dialect
}

function answerOf(
  dialect: Dialect | undefined,
  bytes: Uint8Array | undefined,
  responseRef: string | null,
  closing: LoosePayload,
  usage: TokenUsage | null,
): ModelAnswer {
  if (bytes === undefined) {
    return { id: null, text: null, toolCalls: namedTools(closing), exists: responseRef !== null, usage }
  }
  if (dialect !== undefined) {
    const { id, text, toolCalls, parts, error, usage: folded } = foldedAnswer(bytes, dialect)!
    if (parts.length > 0 || id !== null) {
      return {
        id,
        text,
        toolCalls,
        exists: parts.length > 0,
        usage: usage ?? (folded.raw === null ? null : folded.tokens),
      }
    }
    if (error !== null) return { id: null, text: "", toolCalls: [], exists: false, usage, error: wordsOf(error) }
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  return { id: null, ...plainAnswer(text, closing), exists: text !== "", usage }
}

/** Null when none of the counts is known. */
function usageIn(closing: LoosePayload): TokenUsage | null {
  const recorded = asRecord(closing["token_usage"])
  if (!recorded) return null
  const [prompt, completion, total] = ["prompt", "completion", "total"].map((name) => countIn(recorded, name) ?? null)
  if (prompt === null && completion === null && total === null) return null
  return {
    prompt: prompt ?? null,
    completion: completion ?? null,
    total: total ?? null,
    cache_read: countIn(recorded, "cache_read") ?? null,
    cache_write: countIn(recorded, "cache_write") ?? null,
    reasoning: countIn(recorded, "reasoning") ?? null,
  }
}

function namedTools(closing: LoosePayload): RequestedTool[] {
  const ids = listIn(closing, "requested_tool_ids")
  return listIn(closing, "requested_tools").flatMap((name, at) => {
    const id = ids[at]
    if (typeof name !== "string") return []
    return [{ id: typeof id === "string" ? id : null, name, arguments: null, runsAt: "client" as const }]
  })
}

/** An answer an application recorded in a shape of its own: the usual names for text and tool calls are looked for, else it is all text. */
function plainAnswer(body: string, closing: LoosePayload): Pick<ModelAnswer, "text" | "toolCalls"> {
  const value = parseJson(body)
  if (typeof value === "string") return { text: value, toolCalls: namedTools(closing) }
  const record = asRecord(value)
  const streamed = value === undefined ? streamedParts(body) : undefined
  if (streamed !== undefined) {
    const deltas = streamed.flatMap((part) => (part["type"] === "text-delta" ? (textIn(part, "delta") ?? []) : []))
    const calls = streamed.filter((part) => part["type"] === "tool-call")
    return { text: deltas.join(""), toolCalls: calls.flatMap(requestedTool) }
  }
  if (!record) return { text: body, toolCalls: namedTools(closing) }
  const message = asRecord(record["message"]) ?? record
  const parts = [
    ...recordsIn(message, "content"),
    ...recordsIn(message, "toolCalls"),
    ...recordsIn(message, "tool_calls"),
  ]
  const toolCalls = parts.flatMap(requestedTool)
  const texts = recordsIn(message, "content").flatMap((part) => textIn(part, "text") ?? [])
  const text =
    ["content", "text", "output_text", "output", "answer"].map((name) => textIn(message, name)).find(Boolean) ??
    (texts.length > 0 ? texts.join("\n") : undefined) ??
    (toolCalls.length > 0 ? "" : body)
  return { text, toolCalls: toolCalls.length > 0 ? toolCalls : namedTools(closing) }
}

/** The parts of an answer that the AI SDK streamed: a line of JSON for each. */
function streamedParts(body: string): LoosePayload[] | undefined {
  const parts: LoosePayload[] = []
  for (const line of body.split("\n")) {
    if (line.trim() === "") continue
    const part = asRecord(parseJson(line))
    // The last line may have been cut where its process died.
    if (part === undefined || textIn(part, "type") === undefined) break
    parts.push(part)
  }
  return parts.some(({ type }) => type === "text-start" || type === "tool-call" || type === "finish")
    ? parts
    : undefined
}

function requestedTool(part: LoosePayload): RequestedTool[] {
  const made = asRecord(part["function"]) ?? part
  const name = textIn(made, "name") ?? textIn(made, "toolName") ?? textIn(made, "tool_name")
  if (name === undefined) return []
  const given = ["arguments", "args", "input"].map((key) => made[key]).find((value) => value !== undefined)
  return [
    {
      id: textIn(part, "id") ?? textIn(part, "toolCallId") ?? textIn(part, "tool_call_id") ?? null,
      name,
      arguments: typeof given === "string" ? given : given === undefined ? null : JSON.stringify(given),
      runsAt: "client",
    },
  ]
}

/** What an event says about a body it names. */
export function refOf(event: Event | null | undefined, hash: string | null): ArtifactRef | undefined {
  return event?.artifact_refs.find((ref) => ref.artifact_hash === hash)
}

export const captureOf = (index: Run, step: Step): ReturnType<typeof captureIn> =>
  captureIn(step.opened) ?? captureIn(index.steps[0]?.opened)

export function captureIn(event: Event | undefined): CaptureMode | null {
  const mode = textIn(payloadOf(event), "capture_mode")
  return mode === "full" || mode === "redacted" || mode === "hashed" ? mode : null
}
