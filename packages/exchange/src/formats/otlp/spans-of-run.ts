import { amountIn, type Event, numberIn, payloadOf, textIn } from "@orangebox/contract"
import type { DecisionEvent } from "@orangebox/decisions"
import { foldRun, type Run, type Step } from "@orangebox/runs"
import { type Json, listOf, recordOf } from "../told-values.js"
import { decisionRecords } from "./decision-records.js"
import { messageAttributes } from "./messages-out.js"
import { optional, optionalNumber, type Pair, text, whole } from "./pairs.js"

/** The version of the GenAI conventions whose names are written. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"

export interface ExportedRun {
  readonly events: readonly Event[]
  readonly runId: string
  /** Bytes of bodies, where content is to be sent; undefined for one that is not there. */
  readonly body: ((hash: string) => Uint8Array | undefined) | undefined
  readonly decisions?: readonly DecisionEvent[]
}

/** One span in OTLP/JSON. */
export interface SpanJson {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1 internal, 3 client. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Pair[]
  readonly events: readonly Json[]
  readonly status: { readonly code: number; readonly message?: string }
}

export interface RunAsOtlp {
  readonly resource: readonly Pair[]
  readonly spans: readonly SpanJson[]
  readonly records: readonly Json[]
  /** Steps without an end, which no span can tell: a span is sent when it is over. */
  readonly open: number
}

/**
 * A run as spans of the GenAI conventions, and what was said in it (logs, evaluations, decisions) as log records with trace and span. Content
 * of prompts, answers and tools goes along only where its bytes are handed in; otherwise bodies are named by their hash.
 */
export function otlpOfRun({ events, runId, body, decisions = [] }: ExportedRun): RunAsOtlp {
  const run = foldRun(events.filter(({ run_id }) => run_id === runId))
  const ended = run.steps.filter((step) => step.opened !== undefined && step.closed !== undefined && isId(step.id))
  const clock = clockOf(run)
  return {
    resource: [
      text("service.name", run.facts.app ?? "orangebox"),
      text("telemetry.sdk.name", "orangebox"),
      text("telemetry.sdk.language", "nodejs"),
    ],
    spans: ended.map((step) => spanOf(step, run, clock, body)),
    records: [
      ...run.own.flatMap((event) => logRecordsOf(event, run, clock, body !== undefined)),
      ...decisionRecords(decisions, (id) => run.stepOf(id) !== undefined, body !== undefined),
    ],
    open: run.steps.length - ended.length,
  }
}

const isId = (id: string): boolean => /^[0-9a-f]{16}$/.test(id)

// ── Spans ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function spanOf(step: Step, run: Run, clock: Clock, body: ExportedRun["body"]): SpanJson {
  const opened = step.opened!
  const closed = step.closed!
  const failed = step.status === "error" || step.status === "timeout" || closed.event_type === "run_failed"
  const said = textIn(payloadOf(closed), "error_summary")
  const parent = parentOf(step, run)
  return {
    traceId: opened.trace_id!,
    spanId: step.id,
    ...(parent === undefined ? {} : { parentSpanId: parent }),
    name: nameOf(step, run, body !== undefined).slice(0, 512),
    kind: step.kind === "model" ? 3 : 1,
    startTimeUnixNano: clock.nanos(opened),
    endTimeUnixNano: clock.nanos(closed),
    attributes: [
      ...attributesOf(step, run, body),
      text("orangebox.run_id", opened.run_id!),
      whole("orangebox.step_no", step.no),
      ...(step.inferredBy === undefined ? [] : [text("orangebox.inferred_by", step.inferredBy)]),
      ...(failed ? [text("error.type", step.errorClass ?? textIn(payloadOf(closed), "error_class") ?? "_OTHER")] : []),
      ...refsOf([opened, closed]),
      ...(body === undefined ? [] : ownAttributes([opened, closed])),
    ],
    events: [],
    status: failed
      ? { code: 2, ...(said === undefined || body === undefined ? {} : { message: said }) }
      : { code: closed.event_type === "run_completed" ? 1 : 0 },
  }
}

/** The step it stands in; of a run that another run started, the step that started it. */
function parentOf(step: Step, run: Run): string | undefined {
  if (step.parent !== undefined) return isId(step.parent.id) ? step.parent.id : undefined
  const by = run.own[0]?.links?.find(({ kind }) => kind === "spawned_by")
  return by?.step_id !== undefined && by.trace_id === run.own[0]?.trace_id ? by.step_id : undefined
}

function nameOf(step: Step, run: Run, hasContent: boolean): string {
  const name = step.name ?? ""
  if (step.kind === "run") return `invoke_agent ${run.facts.app ?? ""}`.trim()
  if (step.kind === "model") return `chat ${name}`.trim()
  if (step.kind === "tool") return `execute_tool ${name}`.trim()
  // A turn is called what the user said in it.
  if (textIn(payloadOf(step.opened), "kind") === "turn" && !hasContent) return "turn"
  return name === "" ? "step" : name
}

function attributesOf(step: Step, run: Run, body: ExportedRun["body"]): Pair[] {
  const opened = payloadOf(step.opened)
  const closed = payloadOf(step.closed)
  const conversation = step.opened?.conversation_id
  const shared =
    conversation === undefined ? [] : [text("gen_ai.conversation.id", conversation), text("session.id", conversation)]
  switch (step.kind) {
    case "run": {
      const input = bodyText(opened, "input_summary_ref", body)
      return [
        ...shared,
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.agent.name", run.facts.app ?? "agent"),
        ...optional("gen_ai.agent.version", run.facts.agentVersion ?? undefined),
        ...(input === undefined
          ? []
          : [
              text(
                "gen_ai.input.messages",
                JSON.stringify([{ role: "user", parts: [{ type: "text", content: input }] }]),
              ),
            ]),
      ]
    }
    case "model":
      return [...shared, ...modelAttributes(step, opened, closed, body)]
    case "tool":
      return [
        ...shared,
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", step.name ?? "?"),
        ...optional("gen_ai.tool.call.id", textIn(opened, "tool_call_id")),
        ...optional("gen_ai.tool.call.arguments", bodyText(opened, "args_ref", body)),
        ...optional("gen_ai.tool.call.result", bodyText(closed, "result_ref", body)),
      ]
    default:
      return [
        ...shared,
        ...optional("orangebox.kind", textIn(opened, "kind")),
        ...(textIn(opened, "kind") === "retrieval" ? [text("gen_ai.operation.name", "retrieval")] : []),
      ]
  }
}

function modelAttributes(step: Step, opened: Json, closed: Json, body: ExportedRun["body"]): Pair[] {
  const usage = recordOf(closed["token_usage"])
  const count = (name: string, of: string): Pair[] => {
    const value = usage[of]
    return typeof value === "number" ? [whole(name, value)] : []
  }
  const finish = textIn(closed, "finish_reason")
  const firstByte = amountIn(closed, "first_byte_ms")
  return [
    text("gen_ai.operation.name", "chat"),
    text("gen_ai.provider.name", textIn(opened, "provider") ?? "unknown"),
    ...optional("gen_ai.request.model", textIn(opened, "model_id")),
    ...optional("gen_ai.response.model", textIn(closed, "model_id")),
    ...optional("gen_ai.response.id", textIn(closed, "provider_request_id")),
    ...optionalNumber("gen_ai.request.temperature", numberIn(opened, "temperature")),
    ...optionalNumber("gen_ai.request.top_p", numberIn(opened, "top_p")),
    ...(typeof opened["max_tokens"] === "number" ? [whole("gen_ai.request.max_tokens", opened["max_tokens"])] : []),
    ...(finish === undefined
      ? []
      : [{ key: "gen_ai.response.finish_reasons", value: { arrayValue: { values: [{ stringValue: finish }] } } }]),
    ...(firstByte === undefined
      ? []
      : [{ key: "gen_ai.response.time_to_first_chunk", value: { doubleValue: firstByte / 1000 } }]),
    ...count("gen_ai.usage.input_tokens", "prompt"),
    ...count("gen_ai.usage.output_tokens", "completion"),
    ...count("gen_ai.usage.cache_read.input_tokens", "cache_read"),
    ...count("gen_ai.usage.cache_creation.input_tokens", "cache_write"),
    ...count("gen_ai.usage.reasoning.output_tokens", "reasoning"),
    ...(step.attemptNo === undefined ? [] : [whole("orangebox.attempt_no", step.attemptNo)]),
    ...messageAttributes(bytesIn(opened, "request_ref", body), bytesIn(closed, "response_ref", body), finish),
  ]
}

const bytesIn = (payload: Json, field: string, body: ExportedRun["body"]): Uint8Array | undefined => {
  const hash = textIn(payload, field)
  return hash === undefined ? undefined : body?.(hash)
}

function bodyText(payload: Json, field: string, body: ExportedRun["body"]): string | undefined {
  const bytes = bytesIn(payload, field, body)
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8").toWellFormed()
}

// ── Log records ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const SEVERITIES: Readonly<Record<string, readonly [number, string]>> = {
  debug: [5, "DEBUG"],
  info: [9, "INFO"],
  warn: [13, "WARN"],
  error: [17, "ERROR"],
}

function logRecordsOf(event: Event, run: Run, clock: Clock, hasContent: boolean): Json[] {
  const step = run.stepOf(event.step_id ?? "")
  const spanId = step !== undefined && isId(step.id) ? { spanId: step.id } : {}
  const at = clock.nanos(event)
  const place = { timeUnixNano: at, observedTimeUnixNano: at, traceId: event.trace_id, ...spanId }
  const mark = [text("orangebox.run_id", event.run_id ?? ""), text("orangebox.event_id", event.event_id)]
  if (event.event_type === "log") {
    const { level, message } = event.payload
    const [severityNumber, severityText] = SEVERITIES[level] ?? SEVERITIES["info"]!
    const body = hasContent ? { body: { stringValue: message } } : {}
    return [{ ...place, severityNumber, severityText, eventName: "orangebox.log", ...body, attributes: mark }]
  }
  if (event.event_type !== "evaluation") return []
  const { evaluator, score, alignment, quality, policy } = event.payload
  return [
    {
      ...place,
      severityNumber: 9,
      severityText: "INFO",
      eventName: "gen_ai.evaluation.result",
      attributes: [
        ...mark,
        text("gen_ai.evaluation.name", evaluator),
        ...(score === null ? [] : [{ key: "gen_ai.evaluation.score.value", value: { doubleValue: score } }]),
        text(
          "gen_ai.evaluation.score.label",
          [quality, alignment, policy].find((verdict) => verdict !== "unknown") ?? "unknown",
        ),
        text("orangebox.evaluation.alignment", alignment),
        text("orangebox.evaluation.quality", quality),
        text("orangebox.evaluation.policy", policy),
      ],
    },
  ]
}

/** Log records as events of the spans they belong to, for targets that take no logs. One whose span is not sent stands at the root. */
export function recordsAsEvents({ spans, records }: Pick<RunAsOtlp, "spans" | "records">): SpanJson[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const root = spans.find(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))?.spanId
  const bySpan = new Map<string, Json[]>()
  for (const record of records) {
    const spanId = String(record["spanId"] ?? "")
    const at = ids.has(spanId) ? spanId : root
    if (at === undefined) continue
    const said = recordOf(record["body"])["stringValue"]
    const attributes = [
      ...(listOf(record["attributes"]) as Pair[]),
      ...(typeof said === "string" ? [text("log.body", said)] : []),
    ]
    const list = bySpan.get(at) ?? []
    list.push({ name: String(record["eventName"] ?? "log"), timeUnixNano: record["timeUnixNano"], attributes })
    bySpan.set(at, list)
  }
  return spans.map((span) => ({ ...span, events: bySpan.get(span.spanId) ?? [] }))
}

// ── Values ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Clock {
  nanos(event: Event): string
}

/** Times of one run by its monotonic clock from its wall time on, so that durations are those recorded. */
function clockOf(run: Run): Clock {
  const first = run.own[0]
  const startMs = Date.parse(first?.timestamp_utc ?? "")
  const base = BigInt(Number.isNaN(startMs) ? 0 : startMs) * 1_000_000n
  const mono = first?.mono_us ?? 0
  return {
    nanos: ({ mono_us, timestamp_utc }) =>
      String(
        typeof mono_us === "number" && mono_us >= mono
          ? base + BigInt(Math.round(mono_us - mono)) * 1000n
          : BigInt(Date.parse(timestamp_utc) || 0) * 1_000_000n,
      ),
  }
}

function refsOf(events: readonly Event[]): Pair[] {
  return events.flatMap(({ artifact_refs }) =>
    artifact_refs
      .slice(0, 16)
      .map(({ artifact_type, artifact_hash }) => text(`orangebox.ref.${artifact_type}`, artifact_hash)),
  )
}

/** What the application said about a step goes along with content: its values may be anything. */
function ownAttributes(events: readonly Event[]): Pair[] {
  const all = Object.assign({}, ...events.map(({ attributes }) => attributes ?? {})) as Record<string, unknown>
  return Object.entries(all).flatMap(([key, value]): Pair[] =>
    typeof value === "string"
      ? [text(key, value)]
      : typeof value === "boolean"
        ? [{ key, value: { boolValue: value } }]
        : typeof value === "number"
          ? [Number.isSafeInteger(value) ? whole(key, value) : { key, value: { doubleValue: value } }]
          : [],
  )
}
