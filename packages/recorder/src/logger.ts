import { type Level, MAX_LOG_MESSAGE, type PayloadOf } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import { describeError } from "./described-error.js"
import type { EventBuilder, EventExtras } from "./event-builder.js"
import { safeStringify } from "./safe-stringify.js"
import type { Step } from "./step.js"

/** Flat attributes; anything nested is kept as JSON text and marked. */
export type LogAttributes = { readonly [name: string]: unknown }

/**
 * Lines of a step, in four levels, with flat attributes.
 *
 * ```ts
 * step.log.info("file read", { path: "a.txt", bytes: 120 })
 * step.log.error("cannot parse", { err: new Error("line 3") })
 * ```
 */
export interface Logger {
  debug(message: string, attributes?: LogAttributes): void
  info(message: string, attributes?: LogAttributes): void
  warn(message: string, attributes?: LogAttributes): void
  /** `err` keeps class, message, stack and cause chain. */
  error(message: string, attributes?: LogAttributes & { readonly err?: unknown }): void
  /** A logger that adds these attributes to everything it says. */
  child(context: { readonly attributes?: LogAttributes }): Logger
  /** A step below the one this logger belongs to. */
  span(name: string, attributes?: LogAttributes, options?: { readonly body?: unknown }): Step
}

/** Where a logger's lines go and what its spans hang under. */
export interface LogPlace {
  readonly source: string
  emitLog(payload: PayloadOf<"log">, extras: EventExtras | undefined): void
  openStep(name: string, attributes: LogAttributes | undefined, body: unknown): Step
}

const RANK: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 }

export class RecordingLogger implements Logger {
  readonly #builder: EventBuilder
  readonly #place: LogPlace
  readonly #bound: LogAttributes | undefined
  readonly #minimum: number
  readonly #sample: number
  #untilNextSample = 0

  constructor(builder: EventBuilder, place: LogPlace, bound?: LogAttributes) {
    this.#builder = builder
    this.#place = place
    this.#bound = bound
    const rules = builder.sources.get(place.source) ?? builder.sources.get("*")
    this.#minimum = RANK[rules?.level ?? "debug"]
    this.#sample = rules?.sample ?? 1
  }

  debug(message: string, attributes?: LogAttributes): void {
    this.#write("debug", message, attributes)
  }
  info(message: string, attributes?: LogAttributes): void {
    this.#write("info", message, attributes)
  }
  warn(message: string, attributes?: LogAttributes): void {
    this.#write("warn", message, attributes)
  }
  error(message: string, attributes?: LogAttributes & { readonly err?: unknown }): void {
    this.#write("error", message, attributes)
  }

  child(context: { readonly attributes?: LogAttributes }): Logger {
    return new RecordingLogger(this.#builder, this.#place, merged(this.#bound, context?.attributes))
  }

  span(name: string, attributes?: LogAttributes, options?: { readonly body?: unknown }): Step {
    return this.#place.openStep(name, merged(this.#bound, attributes), options?.body)
  }

  #write(level: Level, message: string, attributes: LogAttributes | undefined): void {
    if (RANK[level] < this.#minimum) return
    if (this.#sample > 1 && RANK[level] < RANK.warn && this.#isSampledOut()) return

    const { err, rest } = attributes === undefined ? NO_ATTRIBUTES : splitError(attributes)
    if (err === undefined && typeof message === "string" && message.length <= MAX_LOG_MESSAGE) {
      const all = this.#bound === undefined ? rest : merged(this.#bound, rest)
      this.#place.emitLog({ level, message }, all === undefined ? undefined : { attributes: all })
      return
    }
    this.#writeLong(level, typeof message === "string" ? message : safeStringify(message), err, rest)
  }

  #writeLong(level: Level, message: string, err: unknown, attributes: LogAttributes | undefined): void {
    const bodies = new BodiesOfEvent(this.#builder, "log")
    const isLong = message.length > MAX_LOG_MESSAGE
    const error = err === undefined ? undefined : describeError(err, this.#builder.summarize)
    this.#place.emitLog(
      {
        level,
        // Searched before it is cut: half a secret has no form to be known by.
        message: isLong
          ? this.#builder.capture.text(message.slice(0, 2 * MAX_LOG_MESSAGE)).slice(0, MAX_LOG_MESSAGE)
          : message,
        message_ref: isLong ? bodies.ref("message", message) : undefined,
        error_class: error?.errorClass,
        error_summary: error?.summary,
        error_ref: error && bodies.ref("error", error.chain),
      },
      { attributes: merged(this.#bound, attributes), ...bodies.extras() },
    )
  }

  #isSampledOut(): boolean {
    if (this.#untilNextSample === 0) {
      this.#untilNextSample = this.#sample - 1
      return false
    }
    this.#untilNextSample--
    this.#builder.logsSampledOut++
    return true
  }
}

const NO_ATTRIBUTES = { err: undefined, rest: undefined }

function splitError(attributes: LogAttributes): { err: unknown; rest: LogAttributes | undefined } {
  try {
    if (!("err" in attributes)) return { err: undefined, rest: attributes }
    const { err, ...rest } = attributes
    return { err, rest }
  } catch {
    return { err: undefined, rest: attributes }
  }
}

/** Both sets in one, the later winning. A careless second set (a proxy, a string) must not take the first along. */
export function merged(first: LogAttributes | undefined, second: LogAttributes | undefined): LogAttributes | undefined {
  if (first === undefined) return second
  if (second === undefined) return first
  try {
    return { ...first, ...second }
  } catch {
    return first
  }
}
