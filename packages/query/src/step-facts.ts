import {
  type AbsentReason,
  amountIn,
  countIn,
  type Event,
  isEventType,
  type LoosePayload,
  numberIn,
  payloadOf,
  payloadRefs,
  recordsIn,
  textIn,
  textsIn,
} from "@orangebox/contract"
import { type Step, usageRecordOf } from "@orangebox/runs"
import { firstLine } from "@orangebox/text"
import type { StepView } from "./run-view.js"

export interface ErrorView {
  readonly errorClass: string | undefined
  /** The first line of what was said; the rest is behind the step. */
  readonly line: string | undefined
  readonly exitCode: number | undefined
  readonly httpStatus: number | undefined
  /** The step below that failed with the same words: where this error came from. */
  readonly sameAs: number | undefined
  /** The step that the run itself blames. */
  readonly blames: number | undefined
}

/** An error that only passes through is shown once, at the step where it began. */
export function errorOf(
  closed: Event | undefined,
  children: readonly StepView[],
  numberOf: (stepId: string) => number | undefined,
): ErrorView | undefined {
  const payload = payloadOf(closed)
  const status = textIn(payload, "status")
  const errorClass = textIn(payload, "error_class")
  const summary = textIn(payload, "error_summary")
  const isFailure = status === "error" || status === "timeout" || status === "failed" || errorClass !== undefined
  if (!isFailure) return undefined
  const line = summary === undefined ? undefined : firstLine(summary)
  const blamed = textIn(payload, "failed_step_id")
  const origin = children.findLast(
    (child) => child.error !== undefined && child.error.errorClass === errorClass && child.error.line === line,
  )
  return {
    errorClass,
    line,
    exitCode: numberIn(payload, "exit_code"),
    httpStatus: numberIn(payload, "http_status"),
    sameAs: line === undefined && errorClass === undefined ? undefined : (origin?.error?.sameAs ?? origin?.n),
    blames: blamed === undefined ? undefined : numberOf(blamed),
  }
}

export type ModelView = ReturnType<typeof modelOf>

export function modelOf(step: Step) {
  const opening = payloadOf(step.opened)
  const closing = payloadOf(step.closed)
  const billing = payloadOf(usageRecordOf(step))
  const { tokens } = step
  return {
    provider: textIn(opening, "provider") ?? textIn(closing, "provider"),
    modelId: textIn(closing, "model_id") ?? textIn(opening, "model_id"),
    inputTokens: tokens.prompt ?? undefined,
    outputTokens: tokens.completion ?? undefined,
    cacheReadTokens: tokens.cacheRead ?? undefined,
    cacheWriteTokens: tokens.cacheWrite ?? undefined,
    cacheWrite1hTokens: countIn(billing, "cache_write_1h_tokens"),
    reasoningTokens: tokens.reasoning ?? undefined,
    serviceTier: textIn(billing, "service_tier"),
    thinkingMs: amountIn(closing, "thinking_ms"),
    firstByteMs: amountIn(closing, "first_byte_ms"),
    finishReason: textIn(closing, "finish_reason"),
    requestedTools: textsIn(closing, "requested_tools"),
    outputSummary: textIn(closing, "output_summary"),
    providerRequestId: textIn(closing, "provider_request_id"),
  }
}

export type ToolView = ReturnType<typeof toolOf>

export function toolOf(opened: Event | undefined, closed: Event | undefined) {
  const opening = payloadOf(opened)
  const closing = payloadOf(closed)
  const resultRef = textIn(closing, "result_ref")
  return {
    name: textIn(opening, "tool_name") ?? textIn(closing, "tool_name"),
    args: textIn(opening, "args_summary"),
    result: textIn(closing, "result_summary"),
    exitCode: numberIn(closing, "exit_code") ?? statedExitCode(textIn(closing, "result_summary")),
    resultBytes: closed?.artifact_refs.find((ref) => ref.artifact_hash === resultRef)?.byte_size,
    callId: textIn(opening, "tool_call_id") ?? textIn(closing, "tool_call_id"),
    effectClass: textIn(opening, "effect_class"),
  }
}

export type QueueView = ReturnType<typeof queueOf>

/** Where a message came from, where it should go, where it went and how. */
export function queueOf(attributes: StepView["attributes"]) {
  const text = (name: string): string | undefined => {
    const value = attributes[name]
    return typeof value === "string" ? value : undefined
  }
  const flag = (name: string): boolean | undefined => {
    const value = attributes[name]
    return typeof value === "boolean" ? value : undefined
  }
  const deliveryNo = attributes["delivery_no"]
  return {
    messageId: text("message_id"),
    source: text("source_conversation_id"),
    target: text("target_conversation_id"),
    delivered: text("delivered_conversation_id"),
    acknowledged: flag("acknowledged"),
    redelivered: flag("redelivered"),
    deliveryNo: typeof deliveryNo === "number" ? deliveryNo : undefined,
  }
}

const STATED = /^\s*\{.*?"(?:exit_code|exitCode|returncode|return_code)"\s*:\s*(-?\d{1,10})\b/s
const SAID = /^\s*(?:Exit code:? |Process exited with code )(-?\d{1,10})\b/

/** The exit code that a tool returned, as far as the beginning of its result tells: a call that succeeded may be of a command that did not. */
function statedExitCode(result: string | undefined): number | undefined {
  const found = result === undefined ? null : (STATED.exec(result) ?? SAID.exec(result))
  return found ? Number(found[1]) : undefined
}

export interface PromptView {
  readonly segments: readonly PromptSegment[]
  /** Read off the request, and not told by the application. */
  readonly isInferred: boolean
  /** What the sizes count: tokens when every segment has them, else characters. */
  readonly unit: "tokens" | "chars"
  readonly total: number
  readonly tokenBudget: number | undefined
  readonly excluded: number | undefined
}

export interface PromptSegment {
  readonly kind: string
  readonly contributor: string
  readonly size: number
  /** Equal for equal content; undefined where it was not hashed. */
  readonly hash: string | undefined
}

export function promptOf(event: Event, unsent: readonly number[] = []): PromptView {
  const payload = payloadOf(event)
  const segments = recordsIn(payload, "segments").filter((_, at) => !unsent.includes(at))
  const tokens = promptTokens(payload, segments)
  const hasTokens = tokens !== undefined
  const sized = segments.map((segment) => ({
    kind: textIn(segment, "kind") ?? "other",
    contributor: textIn(segment, "contributor") ?? "?",
    size: countIn(segment, hasTokens ? "tokens" : "length") ?? 0,
    hash: textIn(segment, "segment_hash") ?? textIn(segment, "content_ref"),
  }))
  const sum = sized.reduce((total, segment) => total + segment.size, 0)
  return {
    segments: sized,
    isInferred: event.inferred_by !== undefined,
    unit: hasTokens ? "tokens" : "chars",
    total: tokens ?? (unsent.length > 0 ? sum : (countIn(payload, "total_length") ?? sum)),
    tokenBudget: countIn(payload, "token_budget"),
    excluded: countIn(payload, "excluded_count"),
  }
}

/** How many tokens a prompt has, where every part of it was counted: as the whole was counted, else as its parts add up. */
export function promptTokens(payload: LoosePayload, segments: readonly LoosePayload[]): number | undefined {
  const counts = segments.map((segment) => countIn(segment, "tokens"))
  if (counts.length === 0 || counts.includes(undefined)) return undefined
  // Of a prompt that was not sent as it was put together the whole was not counted.
  const isWhole = counts.length === recordsIn(payload, "segments").length
  return (
    (isWhole ? countIn(payload, "total_tokens") : undefined) ??
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  )
}

export interface BodyView {
  /** The payload field that names it without `_ref`, or what the event says it is. */
  readonly role: string
  readonly hash: string
  readonly byteSize: number
  readonly mimeType: string
  readonly absent: AbsentReason | undefined
  /** Set when only the first part was kept. */
  readonly fullByteSize: number | undefined
  readonly redactionProfile: string
}

/** Every body the events of a step name, each once per role. */
export function bodiesOf(events: readonly Event[]): readonly BodyView[] {
  const bodies: BodyView[] = []
  const seen = new Set<string>()
  for (const event of events) {
    if (event.artifact_refs.length === 0) continue
    const named = isEventType(event.event_type) ? payloadRefs(event.event_type, event.payload) : []
    for (const ref of event.artifact_refs) {
      const field = named.find((candidate) => candidate.hash === ref.artifact_hash)?.field
      const role = field?.replace(/_ref$/, "") ?? ref.artifact_type
      const key = `${role} ${ref.artifact_hash}`
      if (seen.has(key)) continue
      seen.add(key)
      bodies.push({
        role,
        hash: ref.artifact_hash,
        byteSize: ref.byte_size,
        mimeType: ref.mime_type,
        absent: ref.absent,
        fullByteSize: ref.full_byte_size,
        redactionProfile: ref.redaction_profile,
      })
    }
  }
  return bodies
}

export function bodyBytesOf(events: readonly Event[]): number {
  let bytes = 0
  for (const event of events) for (const ref of event.artifact_refs) bytes += ref.byte_size
  return bytes
}
