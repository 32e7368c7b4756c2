import { derivedIds, SERIALISED_BODY } from "@orangebox/contract"
import { createRequestMemory, type Dialect, foldResponse, type RequestAnatomy } from "@orangebox/dialects"
import { RunTeller, type ToldStep } from "./run-teller.js"
import { readSerialised } from "./serialised-request.js"
import type { SessionPlaces } from "./session-file.js"
import { type Json, timeOf, wordOf } from "./told-values.js"

/*
 * Raw bodies of a client (`OTEL_LOG_RAW_API_BODIES=file:<dir>`): `<uuid>.request.json`, `<request id>.response.json`, `index.jsonl`.
 *
 *   run          `session_id`
 *   lanes        `query_source`, as an attribute of the call
 *   model call   a request and its response; the request is the whole prompt, so what it is made of is read off it
 *   usage        of the response
 *   absent       HTTP bytes: these are bodies as the client serialised them once more
 */
export const RAW_BODIES = "import:raw-bodies"

export interface RawCall {
  readonly entry: Json
  readonly key: string
  readonly request: Uint8Array | undefined
  readonly response: Uint8Array | undefined
  /** Of the file, where the index does not say when it was. */
  readonly fileAtMs: number
}

export function tellRawBodies(calls: readonly RawCall[], places: SessionPlaces & { readonly session: string }): void {
  const bySession = new Map<string, RawCall[]>()
  for (const call of calls) {
    const session = wordOf(call.entry["session_id"]) ?? places.session
    bySession.set(session, [...(bySession.get(session) ?? []), call])
  }
  for (const [session, own] of bySession) tellSession(session, own, places)
}

function tellSession(session: string, calls: readonly RawCall[], places: SessionPlaces): void {
  const timed = calls
    .map((call) => ({ call, atMs: timeOf(call.entry["timestamp"]) ?? call.fileAtMs }))
    .sort((a, b) => a.atMs - b.atMs)
  const startedAtMs = timed[0]!.atMs
  const teller = new RunTeller(
    {
      source: RAW_BODIES,
      name: session,
      startedAtMs,
      traceId: derivedIds.trace(`${RAW_BODIES}\0${session}`),
      conversationId: session,
    },
    places.emit,
  )
  teller.start({
    key: "start",
    atMs: startedAtMs,
    payload: {
      app_id: "claude-code",
      environment: "unknown",
      entrypoint_name: "raw bodies",
      user_session_ref: null,
      input_summary: null,
    },
    attributes: { session_id: session, not_in_the_record: "HTTP bytes, headers" },
  })
  const raw = new RawSession(teller, places)
  for (const { call, atMs } of timed) raw.call(call, atMs)
}

/** The calls of a session in their order, and the tools between them: asked for in an answer, answered in a later request. */
class RawSession {
  readonly #teller: RunTeller
  readonly #places: SessionPlaces
  readonly #tools = new Map<string, ToldStep>()
  readonly #memory = createRequestMemory()

  constructor(teller: RunTeller, places: SessionPlaces) {
    this.#teller = teller
    this.#places = places
  }

  call({ request, response, entry, key }: RawCall, atMs: number): void {
    if (request === undefined) {
      this.#places.problem({ line: undefined, reason: `${key} is too large and left out` })
      return
    }
    const teller = this.#teller
    const read = readSerialised(request, this.#memory)
    if (read === undefined) {
      this.#places.problem({ line: undefined, reason: `${key} is no request that is known here, and left out` })
      return
    }
    const { dialect, anatomy } = read
    this.#answerTools(anatomy, key, atMs)
    const model = anatomy.model ?? wordOf(entry["model"]) ?? null
    const { provider } = dialect
    const step = teller.open("model", model ?? provider, teller.root, {
      key,
      atMs,
      payload: { provider, model_id: model, model_api_version: null, ...read.payload },
      bodies: [read.body],
      attributes: wordOf(entry["query_source"]) === undefined ? {} : { query_source: entry["query_source"] },
    })
    teller.within("prompt_assembled", step, { key, atMs, payload: read.assembled, inferredBy: "dialects" })
    if (response !== undefined) this.#answer(step, dialect, response, { provider, model, key, atMs })
  }

  #answer(
    step: ToldStep,
    dialect: Dialect,
    response: Uint8Array,
    { provider, model, key, atMs }: { provider: string; model: string | null; key: string; atMs: number },
  ): void {
    const folded = foldResponse(dialect, response)
    const { toolCalls, usage } = folded
    this.#teller.close(step, {
      key,
      atMs,
      payload: {
        ...{ provider, model_id: folded.model ?? model, finish_reason: folded.finishReason },
        token_usage: usage.tokens,
        response_ref: null,
        // When the request left is not in the record.
        latency_ms: 0,
        status: folded.error === null ? "success" : "error",
        ...(folded.error === null ? {} : { error_class: folded.error.type ?? "Error" }),
        ...(toolCalls.length === 0 ? {} : { requested_tools: toolCalls.map(({ name }) => name || "?") }),
      },
      bodies: [{ field: "response", content: response, mimeType: SERIALISED_BODY }],
      summaries: folded.text === "" ? {} : { output_summary: folded.text },
      attributes: { timing: "not in the record" },
    })
    for (const [at, tool] of toolCalls.entries()) {
      if (tool.runsAt !== "client" || tool.id === null || this.#tools.has(tool.id)) continue
      const opened = this.#teller.open("tool", tool.name || "?", this.#teller.root, {
        key: `${key}\0${at}`,
        atMs,
        payload: {
          tool_name: tool.name || "?",
          tool_version: null,
          timeout_ms: null,
          tool_call_id: tool.id.slice(0, 512),
        },
        bodies: [{ field: "args", content: tool.arguments, mimeType: "application/json" }],
        links: [{ kind: "follows", step_id: step.id }],
        inferredBy: RAW_BODIES,
      })
      this.#tools.set(tool.id, opened)
    }
  }

  #answerTools({ parts }: RequestAnatomy, key: string, atMs: number): void {
    for (const { kind, callId, text, isError } of parts) {
      const step = kind === "tool-result" && callId !== null ? this.#tools.get(callId) : undefined
      if (step === undefined || callId === null) continue
      this.#tools.delete(callId)
      const failed = isError === true
      this.#teller.close(step, {
        key: `${key}\0${callId}`,
        atMs,
        payload: {
          ...{ tool_name: step.name, status: failed ? "error" : "success", result_ref: null },
          ...{ error_class: failed ? "ToolError" : null, error_message_ref: null },
          ...{ latency_ms: Math.max(0, atMs - step.openedAtMs), tool_call_id: callId.slice(0, 512) },
        },
        bodies: text === null ? [] : [{ field: "result", content: text, mimeType: "text/plain; charset=utf-8" }],
        summaries: text === null ? {} : { result_summary: text, ...(failed ? { error_summary: text } : {}) },
        inferredBy: RAW_BODIES,
      })
    }
  }
}
