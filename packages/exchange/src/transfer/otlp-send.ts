import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { InputError, OrangeboxError, SystemError } from "@orangebox/contract"
import { decodeResponse, encodeJsonRequest, type Signal } from "../formats/otlp/decode-protobuf.js"
import { type RunAsOtlp, recordsAsEvents, SCHEMA_URL, type SpanJson } from "../formats/otlp/spans-of-run.js"
import type { Json } from "../formats/told-values.js"

export interface OtlpTarget {
  /** Of the server, with or without `/v1/traces`. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SendOptions {
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
  /** For tests: how waiting is done. */
  readonly wait?: (ms: number) => Promise<void>
}

export interface SentRun {
  readonly spans: number
  readonly records: number
  readonly requests: number
  /** What the target said it did not take. */
  readonly rejected: number
  readonly messages: readonly string[]
  /** The target takes no logs: what they would have said went along as events of the spans. */
  readonly logsAsEvents: boolean
}

/** What one request may hold before it is packed: less than what usual receivers accept. */
const MOST_REQUEST = 4 * 1024 * 1024
const MOST_TRIES = 6
const LONGEST_WAIT_MS = 30_000
const TIMEOUT_MS = 30_000
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * Sends a run: its log records first, because only their answer says whether the target takes any; where it does not, they become events of
 * the spans. Whatever the specification calls a passing trouble is tried again, nothing else.
 */
export async function sendRun(run: RunAsOtlp, target: OtlpTarget, options: SendOptions = {}): Promise<SentRun> {
  const sender = new Sender(target, options, run.spans.length + run.records.length)
  const takesLogs = run.records.length === 0 || (await sender.sendAll("logs", run.resource, run.records))
  const spans: readonly SpanJson[] = takesLogs ? run.spans : recordsAsEvents(run)
  if (!(await sender.sendAll("traces", run.resource, spans as never))) throw noSuchPlace(sender.addressOf("traces"))
  return { spans: run.spans.length, records: run.records.length, ...sender.report(), logsAsEvents: !takesLogs }
}

class Sender {
  readonly #target: OtlpTarget
  readonly #wait: (ms: number) => Promise<void>
  readonly #onProgress: SendOptions["onProgress"]
  readonly #total: number
  #requests = 0
  #rejected = 0
  #done = 0
  readonly #messages = new Set<string>()

  constructor(target: OtlpTarget, { wait = (ms) => sleep(ms), onProgress }: SendOptions, total: number) {
    this.#target = target
    this.#wait = wait
    this.#onProgress = onProgress
    this.#total = total
  }

  report(): Pick<SentRun, "requests" | "rejected" | "messages"> {
    return { requests: this.#requests, rejected: this.#rejected, messages: [...this.#messages] }
  }

  /** False where the target has no place for them. */
  async sendAll(signal: Signal, resource: RunAsOtlp["resource"], items: readonly Json[]): Promise<boolean> {
    for (const group of groupsOf(items)) {
      if (!(await this.#sendGroup(signal, resource, group))) return false
      this.#done += group.length
      this.#onProgress?.(this.#done, this.#total, "sending")
    }
    return true
  }

  async #sendGroup(signal: Signal, resource: RunAsOtlp["resource"], group: readonly Json[]): Promise<boolean> {
    const answer = await this.#post(signal, encodeJsonRequest(signal, requestOf(signal, resource, group)))
    if (answer === "absent") return false
    if (answer === "too_large") {
      if (group.length === 1) {
        this.#rejected++
        this.#messages.add("one span is larger than the target accepts")
        return true
      }
      const half = Math.ceil(group.length / 2)
      return (
        (await this.#sendGroup(signal, resource, group.slice(0, half))) &&
        this.#sendGroup(signal, resource, group.slice(half))
      )
    }
    return true
  }

  async #post(signal: Signal, bytes: Uint8Array): Promise<"taken" | "absent" | "too_large"> {
    const url = this.addressOf(signal)
    const body = await pack(bytes)
    for (let tries = 1; ; tries++) {
      this.#requests++
      const response = await this.#try(url, body)
      if (response instanceof Error) {
        if (tries >= MOST_TRIES) throw unreachable(url, response)
        await this.#wait(backOff(tries))
        continue
      }
      const { status } = response
      const answered = new Uint8Array(await response.arrayBuffer())
      if (status >= 200 && status < 300) {
        this.#read(signal, answered)
        return "taken"
      }
      if (status === 413) return "too_large"
      if (status === 404 || status === 405) return "absent"
      if (!RETRIED.has(status) || tries >= MOST_TRIES) throw refused(url, status, answered)
      await this.#wait(waitSaid(response.headers.get("retry-after")) ?? backOff(tries))
    }
  }

  async #try(url: string, body: Uint8Array): Promise<Response | Error> {
    try {
      return await fetch(url, {
        method: "POST",
        headers: { ...this.#target.headers, "content-type": "application/x-protobuf", "content-encoding": "gzip" },
        body: body as never,
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** A partial success is a success that is not to be tried again. */
  #read(signal: Signal, bytes: Uint8Array): void {
    try {
      const { rejected, errorMessage } = decodeResponse(signal, bytes)
      this.#rejected += rejected
      if (errorMessage !== "") this.#messages.add(errorMessage.slice(0, 500))
    } catch {
      // Some targets answer with a text of their own, which says no more than their status.
    }
  }

  addressOf(signal: Signal): string {
    let url: URL
    try {
      url = new URL(this.#target.url)
    } catch {
      throw new InputError("USAGE", {
        what: `${this.#target.url} is no address`,
        next: "Give one like http://127.0.0.1:4318",
      })
    }
    if (!/^https?:$/.test(url.protocol))
      throw new InputError("USAGE", {
        what: `${url.protocol} is not spoken here`,
        next: "Give an http or https address; OTLP over gRPC is not sent",
      })
    url.pathname = `${url.pathname.replace(/\/+$/, "").replace(/\/v1\/(?:traces|logs)$/, "")}/v1/${signal}`
    return url.href
  }
}

const pack = promisify(gzip)

function requestOf(signal: Signal, attributes: RunAsOtlp["resource"], items: readonly Json[]): object {
  const scope = { name: "orangebox" }
  return signal === "traces"
    ? {
        resourceSpans: [
          {
            resource: { attributes },
            scopeSpans: [{ scope, spans: items, schemaUrl: SCHEMA_URL }],
            schemaUrl: SCHEMA_URL,
          },
        ],
      }
    : {
        resourceLogs: [
          {
            resource: { attributes },
            scopeLogs: [{ scope, logRecords: items, schemaUrl: SCHEMA_URL }],
            schemaUrl: SCHEMA_URL,
          },
        ],
      }
}

/** So many at a time that a request stays below the limit; by their JSON, which is never shorter than their protobuf. */
function* groupsOf(items: readonly Json[]): Generator<Json[]> {
  let group: Json[] = []
  let size = 0
  for (const item of items) {
    const length = Buffer.byteLength(JSON.stringify(item))
    if (group.length > 0 && size + length > MOST_REQUEST) {
      yield group
      group = []
      size = 0
    }
    group.push(item)
    size += length
  }
  if (group.length > 0) yield group
}

const backOff = (tries: number): number =>
  Math.min(LONGEST_WAIT_MS, 500 * 2 ** (tries - 1)) * (0.75 + Math.random() / 2)

/** Seconds, or a date. */
function waitSaid(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(LONGEST_WAIT_MS, Math.max(0, ms)) : undefined
}

function unreachable(url: string, cause: Error): SystemError {
  const why = cause.cause instanceof Error ? cause.cause.message : cause.message
  return new SystemError({
    what: `${url} cannot be reached: ${why}`,
    next: "Is it running, and is the address right?",
    cause,
  })
}

function refused(url: string, status: number, answer: Uint8Array): OrangeboxError {
  const said = Buffer.from(answer)
    .toString("utf8")
    .replace(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 200)
  return new OrangeboxError("OTLP_REFUSED", {
    what: `${url} answered ${status}${said === "" ? "" : `: ${said}`}`,
    next:
      status === 401 || status === 403
        ? "Give its key with --header 'authorization=…'"
        : "Its own log should say why; nothing was changed here",
  })
}

const noSuchPlace = (url: string): OrangeboxError =>
  new OrangeboxError("OTLP_REFUSED", {
    what: `${url} is not there: the server has no such path`,
    next: "Give the address of an OTLP receiver",
  })
