import { canonicalJson } from "@orangebox/contract"
import type { ForeignWriter } from "@orangebox/recorder"
import { isClaudeCode, promptOf, tellClaudeCodeLogs } from "../formats/otlp/claude-code-logs.js"
import type { PlainLog, PlainSpan } from "../formats/otlp/plain.js"
import { levelOf } from "../formats/otlp/span-events.js"
import { TraceTeller } from "../formats/otlp/trace-teller.js"
import { jsonText } from "../formats/told-values.js"
import { type LookUpRun, RunIntake } from "./run-intake.js"

export type KnownSteps = (traceId: string) => Promise<ReadonlySet<string>>

/** After the root has closed, children may still be on their way for so long. */
const AFTER_ROOT_MS = 5_000
/** Without a root a trace is told as far as it came when nothing came for so long. */
const WITHOUT_ROOT_MS = 30_000
/** Records of a prompt end by silence. */
const PROMPT_REST_MS = 300_000
/** How long a trace that was told is remembered, for spans that come late. */
const REMEMBERED_MS = 600_000
/** More spans than this are not held: the oldest traces are told as they are. */
const MOST_SPANS = 200_000

interface Waiting {
  readonly traceId: string
  readonly service: string
  readonly spans: Map<string, PlainSpan>
  readonly logs: PlainLog[]
  seenAt: number
  teller: TraceTeller | undefined
  /** Every span of it that was told, in whichever run. */
  readonly told: Set<string>
}

/** Gathers spans and records until what belongs together is complete, and tells it as runs. */
export class TraceAssembler {
  readonly #writer: ForeignWriter | undefined
  readonly #intake: RunIntake
  readonly #knownSteps: KnownSteps
  readonly #now: () => number
  readonly #traces = new Map<string, Waiting>()
  readonly #prompts = new Map<string, { readonly logs: PlainLog[]; seenAt: number; part: number }>()
  #spans = 0
  #settling: Promise<void> = Promise.resolve()

  constructor(places: {
    readonly writer: ForeignWriter | undefined
    readonly lookUp: LookUpRun
    readonly knownSteps: KnownSteps
    readonly now: () => number
  }) {
    this.#writer = places.writer
    this.#intake = new RunIntake(places.writer, places.lookUp)
    this.#knownSteps = places.knownSteps
    this.#now = places.now
  }

  take(spans: readonly PlainSpan[], logs: readonly PlainLog[]): void {
    for (const span of spans) this.#takeSpan(span)
    for (const log of logs) this.#takeLog(log)
  }

  /** One settling after the other. @param all whether what is not complete is told as well */
  settle(all: boolean): Promise<void> {
    this.#settling = this.#settling.then(() => this.#settle(all))
    return this.#settling
  }

  #takeSpan(span: PlainSpan): void {
    const waiting = this.#waitingFor(span.traceId, span.service)
    const known = waiting.spans.get(span.spanId)
    if (known === undefined) this.#spans++
    // Exporters send twice by design. Two spans with one id are told as the one that says more, whichever came first.
    if (known === undefined || isRicher(span, known)) waiting.spans.set(span.spanId, span)
  }

  #takeLog(log: PlainLog): void {
    if (log.traceId !== null) {
      this.#waitingFor(log.traceId, log.service).logs.push(log)
      return
    }
    if (isClaudeCode(log)) {
      const key = promptOf(log)
      const prompt = this.#prompts.get(key) ?? { logs: [], seenAt: 0, part: 0 }
      prompt.logs.push(log)
      prompt.seenAt = this.#now()
      this.#prompts.set(key, prompt)
      return
    }
    this.#note(log)
  }

  #waitingFor(traceId: string, service: string): Waiting {
    const key = `${traceId}\0${service}`
    const waiting = this.#traces.get(key) ?? {
      traceId,
      service,
      spans: new Map(),
      logs: [],
      seenAt: 0,
      teller: undefined,
      told: new Set(),
    }
    waiting.seenAt = this.#now()
    this.#traces.set(key, waiting)
    return waiting
  }

  async #settle(all: boolean): Promise<void> {
    const now = this.#now()
    for (const [key, waiting] of this.#traces) {
      const rest = now - waiting.seenAt
      const isWhole = [...waiting.spans.values()].some(({ parentSpanId }) => parentSpanId === null)
      const isDue = all || rest >= (isWhole ? AFTER_ROOT_MS : WITHOUT_ROOT_MS) || this.#spans > MOST_SPANS
      if (isDue && waiting.spans.size + waiting.logs.length > 0) await this.#tell(waiting, isWhole)
      else if (rest > REMEMBERED_MS) this.#traces.delete(key)
    }
    for (const [key, prompt] of this.#prompts) {
      if (!all && now - prompt.seenAt < PROMPT_REST_MS) continue
      if (prompt.logs.length === 0) {
        this.#prompts.delete(key)
        continue
      }
      const logs = prompt.logs.splice(0)
      tellClaudeCodeLogs(logs, prompt.part === 0 ? "" : `late ${prompt.part}`, this.#intake.emit)
      prompt.part++
    }
    await this.#intake.flush()
  }

  async #tell(waiting: Waiting, isWhole: boolean): Promise<void> {
    const { traceId, service } = waiting
    const known = await this.#knownSteps(traceId)
    const spans = [...waiting.spans.values()].filter(({ spanId }) => !known.has(spanId) && !waiting.told.has(spanId))
    const { logs } = waiting
    this.#spans -= waiting.spans.size
    waiting.spans.clear()
    if (spans.length > 0) {
      const open = waiting.teller !== undefined && !waiting.teller.isEnded ? waiting.teller : undefined
      const before = waiting.teller?.runId
      const isLate = known.size > 0 || before !== undefined
      const part = open !== undefined || !isLate ? "" : `late ${spans.map(({ spanId }) => spanId).sort()[0]}`
      const teller =
        open ?? new TraceTeller({ traceId, service, part, ...(isLate ? { lateOf: before } : {}) }, this.#intake.emit)
      teller.tell(spans, distinct(logs), isWhole || part !== "")
      waiting.teller = teller
    }
    for (const { spanId } of spans) waiting.told.add(spanId)
    // A record whose span is not here, or never came, belongs to no step that could hold it.
    for (const log of logs.splice(0))
      if (log.spanId === null || (!waiting.told.has(log.spanId) && !known.has(log.spanId))) this.#note(log)
    await this.#intake.flush()
  }

  /** A record outside any run. */
  #note(log: PlainLog): void {
    const body = log.body === undefined ? "" : jsonText(log.body)
    this.#writer?.note({
      source: "otlp",
      level: levelOf(log.severity),
      message: [log.name, body].filter((word) => word !== "").join(": ") || "record",
      attributes: {
        ...Object.fromEntries(
          Object.entries(log.attributes).map(([name, value]) => [
            name,
            typeof value === "object" ? JSON.stringify(value) : (value as string),
          ]),
        ),
        "service.name": log.service,
        ...(log.traceId === null ? {} : { "otlp.trace_id": log.traceId }),
      },
    })
  }
}

/** The longer one; of two as long, always the same one. */
function isRicher(span: PlainSpan, than: PlainSpan): boolean {
  if (span.endMs !== than.endMs) return span.endMs > than.endMs
  return canonicalJson(span) > canonicalJson(than)
}

const distinct = (logs: readonly PlainLog[]): PlainLog[] => [
  ...new Map(logs.map((log) => [canonicalJson(log), log])).values(),
]
