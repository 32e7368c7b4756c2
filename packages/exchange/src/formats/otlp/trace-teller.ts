import type { Link } from "@orangebox/contract"
import type { ForeignEvent } from "@orangebox/recorder"
import { RunTeller, type ToldStep } from "../run-teller.js"
import { wordOf } from "../told-values.js"
import { textFact } from "./names.js"
import type { Attributes, PlainLog, PlainSpan } from "./plain.js"
import { errorOf, meaningOf } from "./read-span.js"
import { tellEvent } from "./span-events.js"
import { openModel, openStep, openTool } from "./span-steps.js"
import { groupLogs, type SpanTree, timed, treeOf } from "./span-tree.js"
import { firstOf, flat, linksOf, OTLP, textBody, textOfFact } from "./span-values.js"

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
    const { resource } = first
    const agentVersion = firstOf(all, "agentVersion") ?? wordOf(resource["service.version"])
    teller.start({
      key: asRun?.spanId ?? "run",
      atMs: startedAtMs,
      payload: {
        app_id: service,
        environment: environmentOf(resource),
        entrypoint_name: (lateOf === undefined ? (named ?? (first.name || "trace")) : "late spans").slice(0, 512),
        user_session_ref: null,
        input_summary: null,
        ...(agentVersion === undefined ? {} : { agent_version: agentVersion.slice(0, 256) }),
      },
      ...(input === undefined ? {} : { summaries: { input_summary: input } }),
      bodies: [input === undefined ? undefined : textBody("input_summary", input)],
      attributes: {
        ...(asRun === undefined ? {} : flat(asRun.attributes)),
        ...Object.fromEntries(Object.entries(flat(resource)).map(([name, value]) => [`resource.${name}`, value])),
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

/** Where the process says that it runs, in our few words. */
function environmentOf(resource: Attributes): "local" | "ci" | "staging" | "prod" | "unknown" {
  const said = String(resource["deployment.environment.name"] ?? resource["deployment.environment"] ?? "").toLowerCase()
  if (/^prod(?:uction)?$/.test(said)) return "prod"
  if (/^stag(?:e|ing)$/.test(said)) return "staging"
  return /^(?:local|dev|development)$/.test(said) ? "local" : said === "ci" ? "ci" : "unknown"
}
