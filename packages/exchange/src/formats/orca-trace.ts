import { derivedIds, type TokenUsage } from "@orangebox/contract"
import { ConversationTeller } from "./conversation-teller.js"
import type { SessionPlaces, SessionReader } from "./session-file.js"
import { contentText, countOf, type Json, jsonText, recordOf, timeOf, wordOf } from "./told-values.js"

/*
 * orca-trace v0: `manifest.json`, `events.jsonl` (`seq, ts, mono_us, turn, type, actor, causes?, attrs?, payload?`), `blobs/<ab>/<sha256>`.
 *
 *   run          the manifest
 *   model call   an event whose type ends a model call, with the one that began it among its `causes`
 *   tools        the same, by `causes`
 *   usage        `attrs`
 *   copies       `seq`: one that was read before is skipped
 *   the rest     log lines, with their attributes
 */
export const ORCA_TRACE = "import:orca-trace"

export interface OrcaPlaces extends SessionPlaces {
  readonly session: string
  readonly manifest: Json
  /** The content behind a blob's hash; undefined where it is not there. */
  readonly blob: (hash: string) => string | undefined
}

export class OrcaTrace implements SessionReader {
  readonly #places: OrcaPlaces
  readonly #events = new Map<string, Json>()
  readonly #seen = new Set<string>()
  #told: ConversationTeller | undefined

  constructor(places: OrcaPlaces) {
    this.#places = places
  }

  take(value: unknown, lineNo: number): void {
    const event = recordOf(value)
    const seq = String(event["seq"] ?? `line ${lineNo}`)
    const atMs = timeOf(event["ts"])
    const type = wordOf(event["type"])
    if (type === undefined || atMs === undefined) {
      this.#places.problem({ line: lineNo, reason: "an event without a type or a usable time" })
      return
    }
    if (this.#seen.has(seq)) return
    this.#seen.add(seq)
    this.#events.set(seq, event)
    const told = this.#run(atMs)
    const content = this.#contentOf(event["payload"])
    const text = contentText(content) || (typeof content === "object" && content !== null ? jsonText(content) : "")
    const attrs = recordOf(event["attrs"])
    if (
      /(?:user|human).*(?:message|input|prompt)|^prompt$/i.test(type) ||
      (type === "message" && event["actor"] === "user")
    ) {
      told.prompt(seq, atMs, text)
    } else if (MODEL_END.test(type)) this.#call(told, seq, event, attrs, content, text, atMs)
    else if (TOOL_BEGIN.test(type))
      told.tool({
        key: seq,
        atMs,
        callId: wordOf(attrs["call_id"]) ?? wordOf(attrs["tool_call_id"]) ?? seq,
        name: wordOf(attrs["tool"]) ?? wordOf(attrs["name"]) ?? wordOf(attrs["tool_name"]) ?? "?",
        argumentText: jsonText(recordOf(content)["arguments"] ?? content ?? {}),
      })
    else if (TOOL_END.test(type)) this.#result(told, seq, event, attrs, text, atMs)
    else if (!MODEL_BEGIN.test(type))
      told.log(seq, atMs, /error/i.test(type) ? "error" : "info", text === "" ? type : `${type}: ${text}`, attrs)
  }

  finish(): void {
    this.#told?.complete("end", "the end of the trace")
  }

  #run(atMs: number): ConversationTeller {
    if (this.#told !== undefined) return this.#told
    const { manifest } = this.#places
    const session =
      wordOf(manifest["trace_id"]) ?? wordOf(manifest["id"]) ?? wordOf(manifest["session_id"]) ?? this.#places.session
    const agent = recordOf(manifest["agent"])
    const told = new ConversationTeller(
      {
        source: ORCA_TRACE,
        name: session,
        startedAtMs: atMs,
        traceId: derivedIds.trace(`${ORCA_TRACE}\0${session}`),
        conversationId: session,
      },
      this.#places.emit,
    )
    this.#told = told
    told.start("start", atMs, {
      app: wordOf(agent["name"]) ?? wordOf(manifest["agent"]) ?? wordOf(manifest["name"]) ?? "orca-trace",
      entrypoint: "trace",
      agentVersion: wordOf(agent["version"]),
      attributes: { session_id: session, not_in_the_record: "wire bytes" },
    })
    return told
  }

  #call(
    told: ConversationTeller,
    seq: string,
    event: Json,
    attrs: Json,
    content: unknown,
    text: string,
    atMs: number,
  ): void {
    const begun = this.#causes(event).find((cause) => MODEL_BEGIN.test(String(cause["type"])))
    const usage = recordOf(attrs["usage"])
    told.call({
      key: seq,
      calledAtMs: timeOf(begun?.["ts"]) ?? atMs,
      endedAtMs: atMs,
      provider: wordOf(attrs["provider"]) ?? wordOf(recordOf(begun?.["attrs"])["provider"]) ?? "unknown",
      model: wordOf(attrs["model"]) ?? wordOf(recordOf(begun?.["attrs"])["model"]) ?? null,
      messages: begun === undefined ? null : [this.#contentOf(begun["payload"]) ?? null],
      response: content ?? null,
      usage: usageOf({ ...attrs, ...usage }),
      finishReason: wordOf(attrs["finish_reason"]) ?? null,
      text,
      tools: [],
      error: /error|fail/i.test(String(event["type"])) ? { errorClass: "Error", message: text } : undefined,
    })
  }

  #result(told: ConversationTeller, seq: string, event: Json, attrs: Json, text: string, atMs: number): void {
    const begun = this.#causes(event).find((cause) => TOOL_BEGIN.test(String(cause["type"])))
    const callId = wordOf(attrs["call_id"]) ?? wordOf(attrs["tool_call_id"]) ?? (begun && String(begun["seq"]))
    const exitCode = Number.isInteger(attrs["exit_code"]) ? (attrs["exit_code"] as number) : undefined
    const isError = attrs["is_error"] === true || /error|fail/i.test(String(event["type"])) || (exitCode ?? 0) !== 0
    if (callId === undefined || !told.result({ key: seq, atMs, callId, text, isError, exitCode }))
      told.log(seq, atMs, "warn", `the result of a tool call that is not in this record: ${text}`)
  }

  #causes({ causes }: Json): Json[] {
    const list: readonly unknown[] = Array.isArray(causes) ? causes : causes === undefined ? [] : [causes]
    return list.flatMap((cause): Json[] => {
      const event = this.#events.get(String(recordOf(cause)["seq"] ?? cause))
      return event === undefined ? [] : [event]
    })
  }

  #contentOf(payload: unknown): unknown {
    const { blob, sha256 } = recordOf(payload)
    const hash = wordOf(blob) ?? wordOf(sha256)
    if (hash === undefined) return payload
    const text = this.#places.blob(hash.replace(/^sha256:/, ""))
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
}

const MODEL_BEGIN = /(?:model|llm|completion).*(?:request|call|start|began)/i
const MODEL_END = /(?:model|llm|completion).*(?:response|result|end|complete|error|fail)|^assistant/i
const TOOL_BEGIN = /tool.*(?:call|start|request|invoke)/i
const TOOL_END = /tool.*(?:result|response|end|output|complete|error|fail)/i

function usageOf(attrs: Json): TokenUsage {
  const first = (...names: string[]): number | null =>
    names.map((name) => countOf(attrs[name])).find((count) => count !== null) ?? null
  const prompt = first("input_tokens", "prompt_tokens")
  const completion = first("output_tokens", "completion_tokens")
  return {
    prompt,
    completion,
    total: prompt === null || completion === null ? null : prompt + completion,
    cache_read: first("cache_read_tokens", "cached_tokens"),
    cache_write: first("cache_write_tokens"),
    reasoning: first("reasoning_tokens"),
  }
}
