import { canonicalJson, derivedIds, TOLD_MESSAGES } from "@orangebox/contract"
import type { ForeignEvent } from "@orangebox/recorder"
import { RunTeller } from "../run-teller.js"
import { jsonText } from "../told-values.js"
import type { Attributes, PlainLog } from "./plain.js"
import { levelOf } from "./span-events.js"

/*
 * Claude Code's log records, which belong to no trace:
 *
 *   run              `session.id` and `prompt.id`; ends by silence
 *   user_prompt      what the run was asked
 *   api_request      a model call that ended, with its usage: additive, so the input is the sum of its parts
 *   api_error        one that failed
 *   api_request_body, api_response_body   what was sent and came, where the user asked for it
 *   tool_result      a tool call that ended
 *   tool_decision    who let it run, or did not
 */
export const isClaudeCode = ({ attributes, name, scope }: PlainLog): boolean =>
  typeof attributes["session.id"] === "string" &&
  (scope.startsWith("com.anthropic.claude_code") || eventOf(name) !== undefined)

const EVENTS = new Set([
  ...[
    "user_prompt",
    "api_request",
    "api_error",
    "api_request_body",
    "api_response_body",
    "tool_result",
    "tool_decision",
  ],
])

const eventOf = (name: string): string | undefined => {
  const word = name.replace(/^claude_code\./, "")
  return EVENTS.has(word) ? word : undefined
}

/** Records of one prompt stand together. */
export const promptOf = ({ attributes, service }: PlainLog): string =>
  [service, attributes["session.id"], attributes["prompt.id"] ?? ""].join("\0")

const BY = "otlp"

export function tellClaudeCodeLogs(
  given: readonly PlainLog[],
  part: string,
  emit: (event: ForeignEvent) => void,
): void {
  const logs = distinct(given)
  const [first] = logs
  if (first === undefined) return
  const session = String(first.attributes["session.id"])
  const name = `${promptOf(first)}\0${part}`
  const teller = new RunTeller(
    {
      source: BY,
      name,
      startedAtMs: first.atMs,
      traceId: derivedIds.trace(`claude-code-logs\0${name}`),
      conversationId: session,
      keepsTimes: true,
    },
    emit,
  )
  const prompt = logs.find((log) => eventOf(log.name) === "user_prompt")?.attributes["prompt"]
  const version = first.attributes["app.version"]
  teller.start({
    key: "start",
    atMs: first.atMs,
    payload: {
      app_id: first.service,
      environment: "unknown",
      entrypoint_name: "prompt",
      user_session_ref: null,
      input_summary: null,
      ...(typeof version === "string" && version !== "" ? { agent_version: version.slice(0, 256) } : {}),
    },
    ...(typeof prompt === "string" && prompt !== ""
      ? {
          summaries: { input_summary: prompt },
          bodies: [{ field: "input_summary", content: prompt, mimeType: "text/plain; charset=utf-8" }],
        }
      : {}),
    attributes: { "session.id": session, not_in_the_record: "wire bytes" },
    inferredBy: BY,
  })
  const bodies = { request: undefined as string | undefined, response: undefined as string | undefined }
  for (const [at, log] of logs.entries()) tellLog(teller, log, `${at}`, bodies)
  teller.complete({ key: "end", atMs: logs.at(-1)!.atMs, inferredBy: BY, attributes: { end_deduced_from: "silence" } })
}

function tellLog(
  teller: RunTeller,
  log: PlainLog,
  key: string,
  bodies: { request: string | undefined; response: string | undefined },
): void {
  const { attributes, atMs } = log
  switch (eventOf(log.name)) {
    case "user_prompt":
      return
    case "api_request_body":
      bodies.request = jsonText(attributes["body"] ?? log.body ?? "")
      return
    case "api_response_body":
      bodies.response = jsonText(attributes["body"] ?? log.body ?? "")
      return
    case "api_request":
    case "api_error":
      tellCall(teller, log, key, bodies)
      bodies.request = undefined
      bodies.response = undefined
      return
    case "tool_result":
      tellTool(teller, log, key)
      return
    case "tool_decision": {
      const decision =
        attributes["decision"] === "accept" ? "allow" : attributes["decision"] === "reject" ? "block" : undefined
      if (decision === undefined) break
      teller.within("safety_decision", teller.root, {
        key,
        atMs,
        payload: { policy_name: "permission", policy_version: null, decision, reason_ref: null },
        attributes: flat(attributes),
      })
      return
    }
  }
  const text = log.body === undefined ? log.name : jsonText(log.body)
  teller.within("log", teller.root, {
    key,
    atMs,
    payload: { level: levelOf(log.severity), message: "" },
    summaries: { message: text === "" ? "record" : text },
    attributes: flat(attributes),
  })
}

function tellCall(
  teller: RunTeller,
  log: PlainLog,
  key: string,
  bodies: { readonly request: string | undefined; readonly response: string | undefined },
): void {
  const { attributes, atMs } = log
  const failure = eventOf(log.name) === "api_error" ? String(attributes["error"] ?? "error") : undefined
  const latency = number(attributes["duration_ms"]) ?? 0
  const model =
    typeof attributes["model"] === "string" && attributes["model"] !== "" ? attributes["model"].slice(0, 512) : null
  const input = number(attributes["input_tokens"])
  const output = number(attributes["output_tokens"])
  const cacheRead = number(attributes["cache_read_tokens"])
  const cacheWrite = number(attributes["cache_creation_tokens"])
  const prompt = input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  const step = teller.open("model", model ?? "anthropic", teller.root, {
    key,
    atMs: Math.max(0, atMs - latency),
    payload: {
      provider: "anthropic",
      model_id: model,
      model_api_version: null,
      temperature: null,
      top_p: null,
      max_tokens: null,
    },
    bodies: [
      {
        field: "request",
        content: bodies.request ?? canonicalJson({ request: "not in the record" }),
        mimeType: TOLD_MESSAGES,
      },
    ],
  })
  const status = number(attributes["status_code"])
  teller.close(step, {
    key,
    atMs,
    payload: {
      provider: "anthropic",
      model_id: model,
      finish_reason: null,
      token_usage: {
        prompt,
        completion: output,
        total: prompt === null || output === null ? null : prompt + output,
        cache_read: cacheRead,
        cache_write: cacheWrite,
        reasoning: null,
      },
      response_ref: null,
      latency_ms: latency,
      status: failure === undefined ? "success" : "error",
      ...(failure === undefined ? {} : { error_class: status === null ? "Error" : `HTTP ${status}` }),
      ...(status !== null && status >= 100 && status <= 999 ? { http_status: status } : {}),
      ...(typeof attributes["request_id"] === "string"
        ? { provider_request_id: attributes["request_id"].slice(0, 512) || "?" }
        : {}),
    },
    bodies: [
      bodies.response === undefined
        ? undefined
        : { field: "response", content: bodies.response, mimeType: TOLD_MESSAGES },
      failure === undefined ? undefined : { field: "error", content: failure, mimeType: "text/plain; charset=utf-8" },
    ],
    summaries: failure === undefined ? {} : { error_summary: failure },
    attributes: flat(attributes),
  })
}

function tellTool(teller: RunTeller, log: PlainLog, key: string): void {
  const { attributes, atMs } = log
  const name = String(attributes["tool_name"] ?? "?").slice(0, 512) || "?"
  const latency = number(attributes["duration_ms"]) ?? 0
  const callId = attributes["tool_use_id"]
  const id = typeof callId === "string" && callId !== "" ? { tool_call_id: callId.slice(0, 512) } : {}
  const step = teller.open("tool", name, teller.root, {
    key,
    atMs: Math.max(0, atMs - latency),
    payload: { tool_name: name, tool_version: null, timeout_ms: null, ...id },
    bodies: [
      {
        field: "args",
        content: jsonText(attributes["tool_parameters"] ?? attributes["tool_input"] ?? {}),
        mimeType: "application/json",
      },
    ],
  })
  const failed = String(attributes["success"]) === "false"
  const text = failed ? String(attributes["error"] ?? "failed") : undefined
  teller.close(step, {
    key,
    atMs,
    payload: {
      tool_name: name,
      status: failed ? "error" : "success",
      result_ref: null,
      error_class: failed ? "ToolError" : null,
      error_message_ref: null,
      latency_ms: latency,
      ...id,
    },
    bodies: [
      text === undefined ? undefined : { field: "error_message", content: text, mimeType: "text/plain; charset=utf-8" },
    ],
    summaries: text === undefined ? {} : { error_summary: text },
    attributes: flat(attributes),
  })
}

/** A record that came twice is one; in the order the program counted them, else by their time. */
function distinct(logs: readonly PlainLog[]): PlainLog[] {
  const known = new Map(logs.map((log) => [canonicalJson(log), log]))
  return [...known]
    .sort(([textA, a], [textB, b]) => {
      const [first, second] = [number(a.attributes["event.sequence"]), number(b.attributes["event.sequence"])]
      if (first !== null && second !== null && first !== second) return first - second
      return a.atMs - b.atMs || (textA < textB ? -1 : 1)
    })
    .map(([, log]) => log)
}

/** These records write their numbers as texts. */
function number(value: unknown): number | null {
  const found = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? Math.round(found) : null
}

const flat = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !["body", "prompt", "tool_parameters", "tool_input"].includes(name)),
  )
