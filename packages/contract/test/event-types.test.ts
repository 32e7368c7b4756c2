import { definitionOf, EVENT_TYPES, type EventType, validate, validatePayload } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { eventOf, HASH, samples } from "./run-of.js"

/** Copied from the trace specification, not from the code: the fields it requires of each event type. */
const REQUIRED = {
  run_started: ["app_id", "environment", "entrypoint_name", "user_session_ref"],
  input_received: ["input_channels", "input_hash", "input_policy_labels"],
  prompt_rendered: ["prompt_template_id", "prompt_template_version", "prompt_variables_ref", "rendered_prompt_ref"],
  retrieval_executed: [
    "retriever_id",
    "retriever_version",
    "query_text_ref",
    "top_k",
    "filters",
    "candidate_count",
    "candidate_list_ref",
  ],
  tool_called: ["tool_name", "tool_version", "call_signature_hash", "args_ref", "timeout_ms"],
  tool_result: ["tool_name", "status", "result_ref", "error_class", "error_message_ref", "latency_ms"],
  model_called: ["provider", "model_id", "model_api_version", "temperature", "top_p", "max_tokens", "request_ref"],
  model_result: ["provider", "model_id", "finish_reason", "token_usage", "response_ref", "latency_ms"],
  validator_decision: ["validator_name", "validator_version", "decision", "reason_ref"],
  safety_decision: ["policy_name", "policy_version", "decision", "reason_ref"],
  final_output: ["output_ref", "response_channel"],
  run_completed: ["status", "total_steps", "total_latency_ms"],
  run_failed: ["status", "failed_step_id", "error_class", "error_message_ref"],
} as const

/** Where null stands for "unknown" or "there is none". Everywhere else it is refused. */
const NULLABLE: { readonly [type in EventType]?: readonly string[] } = {
  wire_derived: [
    ...["model_id", "temperature", "top_p", "max_tokens", "seed", "prefix_fingerprint", "prefix_length"],
    ...["finish_reason", "thinking_ms"],
  ],
  run_started: ["user_session_ref", "input_summary"],
  prompt_rendered: ["prompt_template_id", "prompt_template_version", "prompt_variables_ref"],
  retrieval_executed: ["retriever_version", "top_k"],
  tool_called: ["tool_version", "timeout_ms"],
  tool_result: ["result_ref", "error_class", "error_message_ref"],
  model_called: [
    "model_id",
    "model_api_version",
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "prefix_fingerprint",
    "prefix_length",
  ],
  model_result: [
    "model_id",
    "finish_reason",
    "response_ref",
    "http_status",
    "error_class",
    "error_ref",
    "first_byte_ms",
    "thinking_ms",
  ],
  validator_decision: ["validator_version", "reason_ref"],
  safety_decision: ["policy_version", "reason_ref"],
  final_output: ["response_channel"],
  run_completed: ["total_steps"],
  run_failed: ["failed_step_id", "error_message_ref"],
  prompt_assembled: ["token_budget", "total_tokens"],
  context_manifest: ["prefix_hash", "prefix_length", "included_count", "excluded_count"],
  artifact_recorded: [
    "content_ref",
    "path",
    "lines_added",
    "lines_removed",
    "net_lines_added",
    "net_lines_removed",
    "exit_code",
  ],
  evaluation: ["subject_step_id", "score", "evaluation_ref"],
  override: ["subject_step_id"],
  repair: ["after_ref"],
  process_exited: ["exit_code"],
  process_crashed: ["last_open_step_id"],
}

const ENUMS = [
  ["tool_result", "status", ["success", "timeout", "error", "partial"]],
  ["validator_decision", "decision", ["pass", "fail", "warn"]],
  ["safety_decision", "decision", ["allow", "block", "redact", "escalate"]],
  ["run_completed", "status", ["success"]],
  ["run_failed", "status", ["failed"]],
] as const

const payloadOf = (type: EventType): Record<string, unknown> => ({ ...samples.get(type)!.payload })
const fieldsOf = (type: EventType): string[] => Object.keys(definitionOf(type).payload.shape)

describe("[C-02] required payload fields of the trace specification", () => {
  for (const [type, fields] of Object.entries(REQUIRED) as [EventType, readonly string[]][]) {
    test.each(fields)(`${type} without %s has a problem that names event, field and reason`, (field) => {
      const payload = payloadOf(type)
      delete payload[field]
      const event = { ...samples.get(type)!, payload }
      expect(validate(event)).toContainEqual({
        code: "required",
        severity: "error",
        subject: event.event_id,
        field: `payload.${field}`,
        reason: "is required",
      })
    })
  }

  test("[C-02] run_started needs its input summary inline or behind a ref, and one of the two is enough", () => {
    const { input_summary: _, ...neither } = payloadOf("run_started")
    expect(validatePayload("run_started", neither)).toEqual([
      { code: "required", field: "payload.input_summary", reason: "is required where there is no input_summary_ref" },
    ])
    expect(validatePayload("run_started", { ...neither, input_summary: "Fix it" })).toEqual([])
    expect(validatePayload("run_started", { ...neither, input_summary_ref: HASH })).toEqual([])
  })

  test("[C-02] token_usage needs prompt, completion and total, and each may be unknown", () => {
    const payload = payloadOf("model_result")
    for (const count of ["prompt", "completion", "total"]) {
      const usage: Record<string, unknown> = { prompt: 1, completion: null, total: null }
      delete usage[count]
      expect(validatePayload("model_result", { ...payload, token_usage: usage })).toEqual([
        { code: "required", field: `payload.token_usage.${count}`, reason: "is required" },
      ])
    }
    const unknown = { prompt: null, completion: null, total: null }
    expect(validatePayload("model_result", { ...payload, token_usage: unknown })).toEqual([])
  })

  test("[C-02] optional fields of the specification may be left out", () => {
    for (const [type, field] of [
      ["prompt_rendered", "system_message_ref"],
      ["final_output", "citations_ref"],
      ["model_called", "seed"],
    ] as const) {
      const payload = payloadOf(type)
      delete payload[field]
      expect(validatePayload(type, payload)).toEqual([])
    }
  })

  test("[C-02] error_class is required when the status is error", () => {
    const failed = { ...payloadOf("tool_result"), status: "error", error_class: null }
    expect(validatePayload("tool_result", failed).map((problem) => problem.field)).toEqual(["payload.error_class"])
    expect(validatePayload("tool_result", { ...failed, error_class: "ENOENT" })).toEqual([])
  })
})

describe("[C-02] null", () => {
  for (const type of EVENT_TYPES) {
    test(`in ${type} is legal exactly where it is listed`, () => {
      const legal = fieldsOf(type).filter((field) => {
        const problems = validatePayload(type, { ...payloadOf(type), [field]: null })
        return problems.every((problem) => problem.field !== `payload.${field}` || problem.code === "error_class")
      })
      expect(legal.toSorted()).toEqual((NULLABLE[type] ?? []).toSorted())
    })
  }
})

describe("[C-02] values", () => {
  test.each(ENUMS)("%s.%s takes the words of the specification and no other", (type, field, words) => {
    const complaints = (word: string): readonly unknown[] =>
      validatePayload(type, { ...payloadOf(type), [field]: word, ...(word === "error" ? { error_class: "E" } : {}) })
    for (const word of words) expect(complaints(word)).toEqual([])
    expect(complaints("maybe")).toHaveLength(1)
  })

  test("[C-02] there are thirteen event types in 1.0, eighteen more in 1.1 and one in 1.2", () => {
    const since = (version: string): string[] => EVENT_TYPES.filter((type) => definitionOf(type).since === version)
    expect(since("1.0")).toEqual(Object.keys(REQUIRED))
    expect(since("1.1")).toEqual([
      "step_started",
      "step_ended",
      "log",
      "link_added",
      "attributes_set",
      "prompt_assembled",
      "context_manifest",
      "artifact_recorded",
      "decision",
      "evaluation",
      "override",
      "findings",
      "fault",
      "repair",
      "process_started",
      "process_exited",
      "process_crashed",
      "source_diagnostics",
    ])
    expect(since("1.2")).toEqual(["wire_derived"])
  })

  test("[C-02] a payload field of the wrong type has a problem that names it", () => {
    const event = eventOf("log", { level: "loud", message: 7 })
    expect(validate(event).map(({ subject, field }) => [subject, field])).toEqual([
      [event.event_id, "payload.level"],
      [event.event_id, "payload.message"],
    ])
  })

  test("[C-02] an artifact's path is relative to the workspace", () => {
    const at = (path: string): number =>
      validatePayload("artifact_recorded", { ...payloadOf("artifact_recorded"), path }).length
    expect([at("src/a.ts"), at("C.ts"), at("/etc/passwd"), at("C:\\x"), at("c:/x")]).toEqual([0, 0, 1, 1, 1])
  })
})
