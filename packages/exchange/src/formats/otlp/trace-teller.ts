import { canonicalJson, type Link, TOLD_MESSAGES } from "@orangebox/contract"
import type { ForeignBody, ForeignEvent } from "@orangebox/recorder"
import { RunTeller, type Told, type ToldStep } from "../run-teller.js"
import { jsonText, listOf, recordOf } from "../told-values.js"
import { indexed, messagesOf, parsed, textIn, toolsAskedIn } from "./messages.js"
import { countFact, factOf, isContent, numberFact, textFact } from "./names.js"
import type { Attributes, PlainLog, PlainSpan } from "./plain.js"
import { errorOf, finishReasonOf, meaningOf, type SpanMeaning, usageOf } from "./read-span.js"

/** Who deduced what no span states. */
export const OTLP = "otlp"

export interface TraceName {
  readonly traceId: string
  readonly service: string
  /** Tells runs of one trace and service apart, where there is more than one. */
  readonly part: string
  /** The run whose late spans these are. */
  readonly lateOf?: string | undefined
}

/**
 * Tells the spans of one trace and service as a run: a step per span, its id the span's, nested as the spans are. What is told follows from
 * the set of spans alone, not from the order they came in. Told once more with further spans, it goes on.
 */
export class TraceTeller {
  readonly #name: TraceName
  readonly #emit: (event: ForeignEvent) => void
  readonly #steps = new Map<string, ToldStep>()
  readonly #told = new Set<string>()
  #teller: RunTeller | undefined
  #rootSpanId: string | undefined

  constructor(name: TraceName, emit: (event: ForeignEvent) => void) {
    this.#name = name
    this.#emit = emit
  }

  get runId(): string | undefined {
    return this.#teller?.run.runId
  }

  get isEnded(): boolean {
    return this.#teller?.isEnded === true
  }

  /** @param isWhole the root has closed and nothing more came: the run ends with it */
  tell(spans: readonly PlainSpan[], logs: readonly PlainLog[], isWhole: boolean): void {
    const fresh = spans.filter(({ spanId }) => !this.#told.has(spanId))
    if (fresh.length === 0 && this.#teller === undefined) return
    // What was told before is closed by now: whatever comes late stands in the run.
    this.#steps.clear()
    if (this.#rootSpanId !== undefined) this.#steps.set(this.#rootSpanId, this.#teller!.root)
    const tree = treeOf(timed(fresh))
    const root = tree.roots.length === 1 && this.#teller === undefined ? tree.roots[0] : undefined
    const meaning = root === undefined ? undefined : meaningOf(root)
    // A call by itself is no run; neither is one of several roots.
    const asRun =
      root !== undefined && meaning !== undefined && ["agent", "other"].includes(meaning.kind) ? root : undefined
    const teller = this.#teller ?? this.#start(tree.spans, asRun, isWhole)
    const logsOf = groupLogs(logs)
    this.#walk(teller, tree, asRun, logsOf)
    for (const span of fresh) this.#told.add(span.spanId)
    if (isWhole && !teller.isEnded) this.#end(teller, tree.spans, asRun)
  }

  #start(spans: readonly PlainSpan[], asRun: PlainSpan | undefined, isWhole: boolean): RunTeller {
    const { traceId, service, part, lateOf } = this.#name
    // They are in the order of their start.
    const startedAtMs = spans[0]!.startMs
    const all = asRun === undefined ? spans : [asRun, ...spans]
    const conversationId = firstOf(all, "conversation")
    const teller = new RunTeller(
      {
        source: OTLP,
        name: [traceId, service, part].join("\0"),
        startedAtMs,
        traceId,
        conversationId,
        rootId: asRun?.spanId,
        keepsTimes: true,
      },
      this.#emit,
    )
    this.#teller = teller
    if (asRun !== undefined) {
      this.#rootSpanId = asRun.spanId
      this.#steps.set(asRun.spanId, teller.root)
    }
    const input = asRun === undefined ? undefined : textOfFact(asRun.attributes, "runInput")
    const first = asRun ?? spans.find(({ parentSpanId }) => parentSpanId === null) ?? spans[0]!
    const named = asRun === undefined ? undefined : textFact(asRun.attributes, "agentName")
    const links: Link[] = []
    if (asRun?.parentSpanId) links.push({ kind: "spawned_by", trace_id: traceId, step_id: asRun.parentSpanId })
    if (lateOf !== undefined) links.push({ kind: "follows", run_id: lateOf, reason: "spans of it that came late" })
    const agentVersion = firstOf(all, "agentVersion")
    teller.start({
      key: asRun?.spanId ?? "run",
      atMs: startedAtMs,
      payload: {
        app_id: service,
        environment: "unknown",
        entrypoint_name: (lateOf === undefined ? (named ?? (first.name || "trace")) : "late spans").slice(0, 512),
        user_session_ref: null,
        input_summary: null,
        ...(agentVersion === undefined ? {} : { agent_version: agentVersion.slice(0, 256) }),
      },
      ...(input === undefined ? {} : { summaries: { input_summary: input } }),
      bodies: [input === undefined ? undefined : textBody("input_summary", input)],
      attributes: {
        ...(asRun === undefined ? {} : flat(asRun.attributes)),
        ...(first.scope === "" ? {} : { "otel.scope.name": first.scope }),
        not_in_the_record: "wire bytes",
      },
      ...(links.length === 0 ? {} : { links }),
      // A root span is a run only by our reading, unless it says so.
      ...(asRun !== undefined && meaningOf(asRun).kind === "agent" && isWhole ? {} : { inferredBy: OTLP }),
    })
    return teller
  }

  /** Depth first, without recursion: how deep spans are nested is up to whoever sent them. */
  #walk(
    teller: RunTeller,
    tree: SpanTree,
    asRun: PlainSpan | undefined,
    logsOf: ReadonlyMap<string, PlainLog[]>,
  ): void {
    type Work = { readonly span: PlainSpan; readonly close?: () => void }
    const work: Work[] = tree.roots.toReversed().map((span) => ({ span }))
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const { span, close } = next
      if (close !== undefined) {
        close()
        continue
      }
      const logs = logsOf.get(span.spanId) ?? []
      const children = tree.childrenOf.get(span.spanId) ?? []
      if (span === asRun) {
        this.#within(teller, teller.root, span, logs)
      } else {
        const parent = (span.parentSpanId !== null && this.#steps.get(span.parentSpanId)) || teller.root
        const { step, end } = this.#open(teller, span, parent, logs)
        this.#steps.set(span.spanId, step)
        this.#within(teller, step, span, logs)
        work.push({ span, close: end })
      }
      for (const child of children.toReversed()) work.push({ span: child })
    }
  }

  #open(
    teller: RunTeller,
    span: PlainSpan,
    parent: ToldStep,
    logs: readonly PlainLog[],
  ): { step: ToldStep; end: () => void } {
    const meaning = meaningOf(span)
    const isMisplaced = span.parentSpanId !== null && parent === teller.root && this.#rootSpanId !== span.parentSpanId
    const told = {
      key: span.spanId,
      stepId: span.spanId,
      atMs: span.startMs,
      attributes: {
        ...flat(span.attributes),
        ...(isMisplaced ? { "otlp.parent_span_id": span.parentSpanId } : {}),
        ...(span.endMs < span.startMs ? { "otlp.negative_duration": true } : {}),
      },
      ...(meaning.isDeduced ? { inferredBy: OTLP } : {}),
      ...(span.links.length === 0 ? {} : { links: linksOf(span) }),
    }
    switch (meaning.kind) {
      case "model":
        return openModel(teller, span, parent, told, logs)
      case "tool":
        return openTool(teller, span, parent, told)
      default:
        return openStep(teller, span, parent, told, meaning)
    }
  }

  /** Events of the span and log records that name it, but for those that were messages. */
  #within(teller: RunTeller, step: ToldStep, span: PlainSpan, logs: readonly PlainLog[]): void {
    for (const [at, event] of span.events.entries())
      tellEvent(teller, step, { ...event, severity: 0, body: undefined }, `${span.spanId}\0event ${at}`, span.startMs)
    for (const [at, log] of logs.entries()) tellEvent(teller, step, log, `${span.spanId}\0log ${at}`, span.startMs)
  }

  #end(teller: RunTeller, spans: readonly PlainSpan[], asRun: PlainSpan | undefined): void {
    const endMs = asRun?.endMs ?? spans.reduce((last, span) => Math.max(last, span.endMs), teller.startedAtMs)
    const failed = asRun === undefined ? undefined : errorOf(asRun)
    const output = asRun === undefined ? undefined : textOfFact(asRun.attributes, "runOutput")
    if (output !== undefined)
      teller.within("final_output", teller.root, {
        key: "output",
        atMs: endMs,
        payload: { response_channel: null },
        bodies: [textBody("output", output)],
        summaries: { output_summary: output },
      })
    const inferred = asRun === undefined ? { inferredBy: OTLP } : {}
    if (failed === undefined) teller.complete({ key: "end", atMs: endMs, ...inferred })
    else
      teller.fail({
        key: "end",
        atMs: endMs,
        errorClass: failed.errorClass,
        bodies: [textBody("error_message", failed.message)],
        summaries: { error_summary: failed.message },
        ...inferred,
      })
  }
}

// ── What each kind of span becomes ──────────────────────────────────────────────────────────────────────────────────────────

type Opening = Told & { readonly stepId: string }

function openModel(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
  logs: readonly PlainLog[],
): { step: ToldStep; end: () => void } {
  const attributes = withSettings(span.attributes)
  const provider = (textFact(attributes, "provider") ?? "unknown").slice(0, 512)
  const model = textFact(attributes, "requestModel") ?? textFact(attributes, "responseModel") ?? null
  const { input, output, tools } = messagesOf(span, logs)
  const request =
    input === null && tools === undefined
      ? { request: "not in the record" }
      : { messages: input, ...(tools === undefined ? {} : { tools }) }
  const step = teller.open("model", model ?? provider, parent, {
    ...told,
    payload: {
      provider,
      model_id: model === null ? null : model.slice(0, 512),
      model_api_version: null,
      temperature: numberFact(attributes, "temperature"),
      top_p: numberFact(attributes, "topP"),
      max_tokens: countFact(attributes, "maxTokens"),
      seed: numberFact(attributes, "seed"),
      ...(typeof factOf(attributes, "stream") === "boolean" ? { stream: factOf(attributes, "stream") } : {}),
    },
    bodies: [jsonBody("request", request)],
  })
  const { usage, isAdded } = usageOf(attributes)
  const error = errorOf(span)
  const asked = toolsAskedIn(output)
  const text = textIn(output)
  const firstChunk = numberFact(attributes, "firstChunkSeconds")
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        provider,
        model_id: (textFact(attributes, "responseModel") ?? model)?.slice(0, 512) ?? null,
        finish_reason: finishReasonOf(attributes),
        token_usage: usage,
        response_ref: null,
        latency_ms: latencyOf(span),
        status: error === undefined ? "success" : "error",
        ...(error === undefined ? {} : { error_class: error.errorClass }),
        ...(firstChunk === null || firstChunk < 0 ? {} : { first_byte_ms: firstChunk * 1000 }),
        ...(textFact(attributes, "responseId") === undefined
          ? {}
          : { provider_request_id: textFact(attributes, "responseId")!.slice(0, 512) }),
        ...(asked.length === 0
          ? {}
          : {
              requested_tools: asked.map(({ name }) => name.slice(0, 512) || "?"),
              requested_tool_ids: asked.map(({ id }) => id?.slice(0, 512) ?? null),
            }),
      },
      bodies: [
        output === null ? undefined : jsonBody("response", { messages: output }),
        error === undefined ? undefined : textBody("error", error.message),
      ],
      summaries: {
        ...(text === "" ? {} : { output_summary: text }),
        ...(error === undefined ? {} : { error_summary: error.message }),
      },
      ...(isAdded
        ? {
            attributes: { "otlp.usage": "cached tokens were counted beside the input, and are added to it" },
            inferredBy: OTLP,
          }
        : {}),
      ...(told.inferredBy === undefined ? {} : { inferredBy: told.inferredBy }),
    })
  return { step, end }
}

/** OpenInference has what was asked for in one JSON text, and under its own name the model that answered. */
function withSettings(attributes: Attributes): Attributes {
  const settings = recordOf(parsed(attributes["llm.invocation_parameters"]))
  const asked = {
    model: settings["model"],
    temperature: settings["temperature"],
    top_p: settings["top_p"],
    max_tokens: settings["max_tokens"],
    seed: settings["seed"],
  }
  const given = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[`gen_ai.request.${name}`, value]],
  )
  return given.length === 0 ? attributes : { ...Object.fromEntries(given), ...attributes }
}

function openTool(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
): { step: ToldStep; end: () => void } {
  const { attributes } = span
  const name =
    (textFact(attributes, "toolName") ?? span.name.replace(/^(?:execute_tool|running tool:?) /, "")).slice(0, 512) ||
    "?"
  const callId = textFact(attributes, "toolCallId")?.slice(0, 512)
  const step = teller.open("tool", name, parent, {
    ...told,
    payload: {
      tool_name: name,
      tool_version: null,
      timeout_ms: null,
      ...(callId === undefined ? {} : { tool_call_id: callId }),
    },
    bodies: [
      { field: "args", content: jsonText(factOf(attributes, "toolArguments") ?? {}), mimeType: "application/json" },
    ],
  })
  const error = errorOf(span)
  const result = factOf(attributes, "toolResult")
  const text = result === undefined ? undefined : jsonText(result)
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        tool_name: name,
        status: error === undefined ? "success" : "error",
        result_ref: null,
        error_class: error?.errorClass ?? null,
        error_message_ref: null,
        latency_ms: latencyOf(span),
        ...(callId === undefined ? {} : { tool_call_id: callId }),
      },
      bodies: [
        text === undefined ? undefined : textBody("result", text),
        error === undefined ? undefined : textBody("error_message", error.message),
      ],
      summaries: {
        ...(text === undefined ? {} : { result_summary: text }),
        ...(error === undefined ? {} : { error_summary: error.message }),
      },
      ...(told.inferredBy === undefined ? {} : { inferredBy: told.inferredBy }),
    })
  return { step, end }
}

function openStep(
  teller: RunTeller,
  span: PlainSpan,
  parent: ToldStep,
  told: Opening,
  meaning: SpanMeaning,
): { step: ToldStep; end: () => void } {
  const { attributes } = span
  const input = textOfFact(attributes, "runInput")
  const name =
    ((meaning.kind === "agent" ? textFact(attributes, "agentName") : undefined) ?? span.name).slice(0, 512) || "span"
  const step = teller.open("step", name, parent, {
    ...told,
    payload: { name, kind: meaning.work },
    bodies: [input === undefined || meaning.kind === "retrieval" ? undefined : textBody("body", input)],
  })
  if (meaning.kind === "retrieval") tellRetrieval(teller, step, span)
  if (meaning.kind === "guardrail") tellGuardrail(teller, step, span)
  if (meaning.kind === "evaluator")
    tellEvaluation(
      teller,
      step,
      span,
      `${span.spanId}\0evaluation`,
      { ...attributes, "gen_ai.evaluation.name": span.name },
      endOf(span),
    )
  const error = errorOf(span)
  const output = textOfFact(attributes, "runOutput")
  const end = (): void =>
    teller.close(step, {
      key: span.spanId,
      atMs: endOf(span),
      payload: {
        status: error === undefined ? "success" : "error",
        latency_ms: latencyOf(span),
        ...(error === undefined ? {} : { error_class: error.errorClass }),
      },
      bodies: [
        output === undefined ? undefined : textBody("body", output),
        error === undefined ? undefined : textBody("error", error.message),
      ],
      summaries: error === undefined ? {} : { error_summary: error.message },
    })
  return { step, end }
}

function tellRetrieval(teller: RunTeller, step: ToldStep, span: PlainSpan): void {
  const { attributes } = span
  const documents =
    listOf(parsed(attributes["gen_ai.retrieval.documents"])).length > 0
      ? listOf(parsed(attributes["gen_ai.retrieval.documents"]))
      : (indexed(attributes, "retrieval.documents", "document") ??
        indexed(attributes, "reranker.output_documents", "document") ??
        [])
  const candidates = documents.map(recordOf).map((document, rank) => ({
    rank,
    chunk_id: nameOrNull(document["id"]),
    document_id: nameOrNull(document["id"]),
    score: typeof document["score"] === "number" ? document["score"] : null,
    source_uri: null,
    content_ref: null,
  }))
  teller.within("retrieval_executed", step, {
    key: span.spanId,
    atMs: endOf(span),
    payload: {
      retriever_id: span.name.slice(0, 512) || "retriever",
      retriever_version: null,
      top_k: null,
      filters: {},
      candidate_count: candidates.length,
      latency_ms: latencyOf(span),
    },
    bodies: [
      textBody("query_text", textFact(attributes, "query") ?? ""),
      { field: "candidate_list", content: canonicalJson(candidates), mimeType: "application/json" },
    ],
  })
  if (documents.length > 0)
    teller.within("log", step, {
      key: `${span.spanId}\0documents`,
      atMs: endOf(span),
      payload: { level: "info", message: `${documents.length} documents` },
      bodies: [jsonBody("body", documents)],
    })
}

/** Only where the span says what was decided: a guardrail of which nothing more is known has not let anything pass. */
function tellGuardrail(teller: RunTeller, step: ToldStep, span: PlainSpan): void {
  const said = String(span.attributes["guardrail.decision"] ?? span.attributes["output.value"] ?? "").toLowerCase()
  const decision = /\b(?:block|deny|denied|fail|reject)/.test(said)
    ? "block"
    : /\b(?:allow|pass|ok)\b/.test(said)
      ? "allow"
      : undefined
  if (decision === undefined) return
  teller.within("safety_decision", step, {
    key: span.spanId,
    atMs: endOf(span),
    payload: { policy_name: span.name.slice(0, 512) || "guardrail", policy_version: null, decision, reason_ref: null },
    inferredBy: OTLP,
  })
}

function tellEvaluation(
  teller: RunTeller,
  step: ToldStep,
  span: PlainSpan | undefined,
  key: string,
  attributes: Attributes,
  atMs: number,
): void {
  const score = attributes["gen_ai.evaluation.score.value"] ?? attributes["eval.score"]
  const label = String(attributes["gen_ai.evaluation.score.label"] ?? attributes["eval.label"] ?? "").toLowerCase()
  const quality = /^(?:pass|passed|correct|true)$/.test(label)
    ? "pass"
    : /^(?:fail|failed|incorrect|false)$/.test(label)
      ? "fail"
      : "unknown"
  const explanation = attributes["gen_ai.evaluation.explanation"] ?? (span && textFact(span.attributes, "runOutput"))
  teller.within("evaluation", step, {
    key,
    atMs,
    payload: {
      evaluator: String(attributes["gen_ai.evaluation.name"] ?? "evaluation").slice(0, 512) || "evaluation",
      subject_step_id: step.id,
      alignment: "unknown",
      quality,
      policy: "unknown",
      score: typeof score === "number" && Number.isFinite(score) ? score : null,
      evaluation_ref: null,
    },
    bodies: [explanation === undefined ? undefined : textBody("evaluation", jsonText(explanation))],
    ...(label === "" ? {} : { attributes: { label } }),
  })
}

const MESSAGE_EVENT =
  /^gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice|client\.inference\.operation\.details|content\.(?:prompt|completion))$/

function tellEvent(
  teller: RunTeller,
  step: ToldStep,
  event: {
    readonly name: string
    readonly atMs: number
    readonly attributes: Attributes
    readonly severity: number
    readonly body: unknown
  },
  key: string,
  otherwiseMs: number,
): void {
  const atMs = event.atMs || otherwiseMs
  // Part of the call's messages by now.
  if (MESSAGE_EVENT.test(event.name) && step.kind === "model") return
  if (event.name === "gen_ai.evaluation.result") {
    tellEvaluation(teller, step, undefined, key, event.attributes, atMs)
    return
  }
  const isException = event.name === "exception"
  const said = event.body === undefined ? "" : jsonText(event.body)
  const message = isException
    ? `${String(event.attributes["exception.type"] ?? "exception")}: ${String(event.attributes["exception.message"] ?? "")}`
    : said === ""
      ? event.name || "event"
      : event.name === ""
        ? said
        : `${event.name}: ${said}`
  const trace = event.attributes["exception.stacktrace"]
  teller.within("log", step, {
    key,
    atMs,
    payload: { level: isException ? "error" : levelOf(event.severity), message: "" },
    summaries: { message },
    bodies: [
      typeof trace === "string" ? textBody("error", trace) : undefined,
      message.length > 200 ? textBody("body", message) : undefined,
    ],
    attributes: flat(event.attributes),
  })
}

export const levelOf = (severity: number): "debug" | "info" | "warn" | "error" =>
  severity === 0 ? "info" : severity <= 8 ? "debug" : severity <= 12 ? "info" : severity <= 16 ? "warn" : "error"

// ── The tree ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface SpanTree {
  readonly spans: readonly PlainSpan[]
  /** Spans whose parent is not among them, in order. */
  readonly roots: readonly PlainSpan[]
  readonly childrenOf: ReadonlyMap<string, readonly PlainSpan[]>
}

function treeOf(given: readonly PlainSpan[]): SpanTree {
  const spans = [...given].sort(byStart)
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const childrenOf = new Map<string, PlainSpan[]>()
  const roots: PlainSpan[] = []
  const reached = new Set<string>()
  for (const span of spans) {
    const { parentSpanId } = span
    if (parentSpanId === null || !byId.has(parentSpanId)) roots.push(span)
    else if (childrenOf.has(parentSpanId)) childrenOf.get(parentSpanId)!.push(span)
    else childrenOf.set(parentSpanId, [span])
  }
  const reach = (from: PlainSpan): void => {
    const work = [from]
    for (let span = work.pop(); span !== undefined; span = work.pop()) {
      if (reached.has(span.spanId)) continue
      reached.add(span.spanId)
      work.push(...(childrenOf.get(span.spanId) ?? []))
    }
  }
  for (const root of roots) reach(root)
  // Spans that name each other as parents hang on nothing: the first of each circle is taken out of it.
  for (const span of spans) {
    if (reached.has(span.spanId)) continue
    const siblings = childrenOf.get(span.parentSpanId!) ?? []
    childrenOf.set(
      span.parentSpanId!,
      siblings.filter((one) => one !== span),
    )
    roots.push(span)
    reach(span)
  }
  return { spans, roots: roots.sort(byStart), childrenOf }
}

const byStart = (a: PlainSpan, b: PlainSpan): number =>
  a.startMs - b.startMs || b.endMs - a.endMs || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0)

/** A span without a start began with the first one that has one. */
function timed(spans: readonly PlainSpan[]): PlainSpan[] {
  const known = spans.flatMap(({ startMs }) => (startMs > 0 ? [startMs] : []))
  const first = known.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const instead = Number.isFinite(first) ? first : 0
  return spans.map((span) =>
    span.startMs > 0
      ? span
      : { ...span, startMs: span.endMs > 0 ? Math.min(span.endMs, instead || span.endMs) : instead },
  )
}

function groupLogs(logs: readonly PlainLog[]): ReadonlyMap<string, PlainLog[]> {
  const groups = new Map<string, PlainLog[]>()
  for (const log of logs) {
    const spanId = log.spanId ?? ""
    const group = groups.get(spanId)
    if (group === undefined) groups.set(spanId, [log])
    else group.push(log)
  }
  for (const group of groups.values())
    group.sort((a, b) => a.atMs - b.atMs || compare(canonicalJson(a), canonicalJson(b)))
  return groups
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

// ── Values ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const endOf = ({ startMs, endMs }: PlainSpan): number => Math.max(startMs, endMs)
const latencyOf = (span: PlainSpan): number => endOf(span) - span.startMs

const textBody = (field: string, content: string): ForeignBody => ({
  field,
  content,
  mimeType: "text/plain; charset=utf-8",
})
const jsonBody = (field: string, value: unknown): ForeignBody => ({
  field,
  content: canonicalJson(value),
  mimeType: TOLD_MESSAGES,
})

function firstOf(spans: readonly PlainSpan[], fact: "conversation" | "agentVersion"): string | undefined {
  for (const { attributes } of spans) {
    const value = textFact(attributes, fact)
    if (value !== undefined) return value
  }
  return undefined
}

function textOfFact(attributes: Attributes, fact: "runInput" | "runOutput"): string | undefined {
  const value = factOf(attributes, fact)
  return value === undefined || value === "" ? undefined : jsonText(value)
}

/** Attributes that are not content; what is no scalar stands as JSON. */
function flat(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => !isContent(name))
      .map(([name, value]) => [name, typeof value === "object" && value !== null ? JSON.stringify(value) : value]),
  )
}

const linksOf = ({ links }: PlainSpan): Link[] =>
  links.slice(0, 128).map(({ traceId, spanId }) => ({ kind: "mentions", trace_id: traceId, step_id: spanId }))

const nameOrNull = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, 512) : null
