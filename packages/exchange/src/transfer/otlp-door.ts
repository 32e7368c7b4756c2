import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { ForeignWriter, type Recorder } from "@orangebox/recorder"
import { decodeJsonRequest } from "../formats/otlp/decode-json.js"
import { decodeProtobufRequest, encodeResponse, encodeStatus, type Signal } from "../formats/otlp/decode-protobuf.js"
import { BadRequest, type PlainRequest } from "../formats/otlp/plain.js"
import { decodeReceived, encodeReceived } from "../formats/otlp/received.js"
import type { LookUpRun } from "./run-intake.js"
import { type KnownSteps, TraceAssembler } from "./trace-assembler.js"

/** What is accepted of one request, packed and unpacked. */
export const MOST_BYTES = 20 * 1024 * 1024

export interface OtlpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface OtlpDoorOptions {
  readonly recorder: Recorder
  readonly lookUp: LookUpRun
  /** The steps a store has of a trace, so that what is sent again after a restart adds nothing. */
  readonly knownSteps?: KnownSteps
  /** Milliseconds on a clock that only goes on. */
  readonly now?: () => number
}

export interface OtlpCounts {
  readonly requests: number
  readonly spans: number
  readonly logs: number
  /** Requests with metrics, which are not kept. */
  readonly metrics: number
}

/**
 * Receives OTLP over any web server: a request's headers and body in, an answer out. It answers 200 only when what was sent, with its secrets
 * masked, is in the journal; runs are made of it when a trace is complete, and again from the journal should this process die before.
 */
export class OtlpDoor {
  readonly #writer: ForeignWriter | undefined
  readonly #assembler: TraceAssembler
  #counts = { requests: 0, spans: 0, logs: 0, metrics: 0 }

  constructor(options: OtlpDoorOptions) {
    this.#writer = ForeignWriter.open(options.recorder)
    this.#assembler = new TraceAssembler({
      writer: this.#writer,
      lookUp: options.lookUp,
      knownSteps: options.knownSteps ?? (async () => new Set()),
      now: options.now ?? (() => performance.now()),
    })
  }

  get counts(): OtlpCounts {
    return this.#counts
  }

  /** @param path `/v1/traces`, `/v1/logs` or `/v1/metrics` */
  async handle(
    path: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Uint8Array,
  ): Promise<OtlpAnswer> {
    const signal = /^\/v1\/(traces|logs|metrics)\/?$/.exec(path.split("?", 1)[0]!)?.[1] as
      | Signal
      | "metrics"
      | undefined
    const form = formOf(headers["content-type"])
    if (signal === undefined)
      return refusal(form ?? "json", 404, `there is no ${path} here: /v1/traces, /v1/logs and /v1/metrics are`)
    if (form === undefined)
      return refusal("json", 415, "the content type has to be application/x-protobuf or application/json")
    try {
      const bytes = await unpacked(headers["content-encoding"], body)
      if (bytes === undefined) return refusal(form, 415, "the content encoding has to be gzip, or none")
      this.#counts.requests++
      if (signal === "metrics") {
        this.#counts.metrics++
        return answer("traces", form, { rejected: 0, errorMessage: "" })
      }
      const request = form === "protobuf" ? decodeProtobufRequest(signal, bytes) : decodeJsonRequest(text(bytes))
      return this.#take(signal, form, request)
    } catch (error) {
      if (error instanceof TooLarge) return refusal(form, 413, error.message)
      if (error instanceof BadRequest) return refusal(form, 400, error.message)
      return refusal(form, 500, "the request could not be taken in")
    }
  }

  #take(signal: Signal, form: Form, request: PlainRequest): OtlpAnswer {
    const { spans, logs, rejected, rejectedWhy } = request
    if (spans.length + logs.length > 0 && !this.#keep(request)) {
      return {
        ...refusal(form, 503, "the journal cannot take it now; send it again"),
        headers: { ...refusal(form, 503, "").headers, "retry-after": "5" },
      }
    }
    this.#counts.spans += spans.length
    this.#counts.logs += logs.length
    this.#assembler.take(spans, logs)
    return answer(signal, form, { rejected, errorMessage: rejectedWhy })
  }

  /** Whether what was sent is in the journal. */
  #keep({ spans, logs }: PlainRequest): boolean {
    const writer = this.#writer
    if (writer === undefined || !writer.keepsBodies) return false
    const before = writer.dropped
    writer.note({
      source: "otlp",
      level: "debug",
      message: RECEIVED,
      body: { content: encodeReceived(spans, logs), mimeType: RECEIVED_MIME },
      attributes: { otlp_spans: spans.length, otlp_logs: logs.length },
    })
    return writer.dropped === before
  }

  /** What a process that died had received and not made into runs yet. */
  recover(received: Uint8Array): void {
    try {
      const { spans, logs } = decodeReceived(text(received))
      this.#assembler.take(spans, logs)
    } catch {
      // A request that was masked beyond reading; what it was is still in the journal.
    }
  }

  /** Makes runs of the traces that are complete by now. To be called every second or so. */
  settle(): Promise<void> {
    return this.#assembler.settle(false)
  }

  /** Makes runs of everything that is here. */
  flush(): Promise<void> {
    return this.#assembler.settle(true)
  }
}

export const RECEIVED = "OTLP request received"
export const RECEIVED_MIME = "application/vnd.orangebox.otlp+json"

type Form = "protobuf" | "json"

function formOf(type: string | string[] | undefined): Form | undefined {
  const [word] = String(Array.isArray(type) ? type[0] : (type ?? "")).split(";", 1)
  const mime = word!.trim().toLowerCase()
  return mime === "application/x-protobuf" ? "protobuf" : mime === "application/json" ? "json" : undefined
}

class TooLarge extends Error {}

const unzip = promisify(gunzip)

async function unpacked(encoding: string | string[] | undefined, body: Uint8Array): Promise<Uint8Array | undefined> {
  if (body.length > MOST_BYTES) throw new TooLarge(`the body is larger than ${MOST_BYTES} bytes`)
  const word = String(encoding ?? "identity")
    .trim()
    .toLowerCase()
  if (word === "identity" || word === "") return body
  if (word !== "gzip") return undefined
  try {
    return await unzip(body, { maxOutputLength: MOST_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new TooLarge(`the body unpacks to more than ${MOST_BYTES} bytes`)
    throw new BadRequest("the body is not gzip")
  }
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")

const TYPES = { protobuf: "application/x-protobuf", json: "application/json" } as const

function answer(
  signal: Signal,
  form: Form,
  said: { readonly rejected: number; readonly errorMessage: string },
): OtlpAnswer {
  const headers = { "content-type": TYPES[form] }
  if (form === "protobuf") return { status: 200, headers, body: encodeResponse(signal, said) }
  const count =
    signal === "traces" ? { rejectedSpans: String(said.rejected) } : { rejectedLogRecords: String(said.rejected) }
  const partial = said.rejected === 0 ? {} : { partialSuccess: { ...count, errorMessage: said.errorMessage } }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(partial)) }
}

function refusal(form: Form, status: number, message: string): OtlpAnswer {
  const body = form === "protobuf" ? encodeStatus(message) : Buffer.from(JSON.stringify({ message }))
  return { status, headers: { "content-type": TYPES[form] }, body }
}
