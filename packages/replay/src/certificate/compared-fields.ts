import type { Envelope, Event, EventType, PayloadOf } from "@orangebox/contract"
import type { Compared } from "../generated.js"

/**
 * What becomes of every field of every event when a replay is held against its source: it is part of something that is compared, or it is
 * named on the certificate as not compared. The type checker asks for a line here when the contract gets a field, so that none is neither.
 */
export type Treatment = Compared | NotCompared

/** Names what is not compared, and why. */
export interface NotCompared {
  readonly what: string
  readonly why: string
}

const not = (what: string, why: string): NotCompared => ({ what, why })

const TIMING = not("timing", "answers come when they are asked for")
const IDS = not("ids of events, steps and runs", "they are new in every run")
const LOGS = not("log lines", "they may tell times and ids, and are neither asked nor given to anybody")
const ATTRIBUTES = not("attributes of steps and log lines", "they may tell times and ids")
const CONVERSATION = not("the conversation it belongs to", "whoever starts a run says so")
const SURROUNDINGS = not(
  "what the run says of itself: application, agent version, repository, ticket, session",
  "that is where it ran, not what it did",
)
const RECORDING = not("how it was recorded", "the same may be recorded in several ways")
const PROMPTS = not("prompts as the application built them", "what was sent is compared")
const DERIVED = not("what is read from recorded bytes", "the bytes are compared")
const JUDGED = not("evaluations, findings and overrides", "they are somebody's word on a run")
const FAULTS = not(
  "faults, repairs and snapshots",
  "they are what the recorder kept because of something that is compared",
)
const LINKS = not("links between steps", "they are made of ids")
const PROCESSES = not("what processes say of themselves", "it is about no run")

/** By name: `questions`, `answers` and `order` are held against each other call by call, the rest record by record. */
export const FIELDS: {
  readonly [T in EventType]: { readonly [K in keyof Required<PayloadOf<T>>]: Treatment }
} = {
  run_started: {
    app_id: SURROUNDINGS,
    environment: SURROUNDINGS,
    entrypoint_name: "input",
    user_session_ref: SURROUNDINGS,
    input_summary: "input",
    input_summary_ref: "input",
    agent_id: SURROUNDINGS,
    agent_version: SURROUNDINGS,
    request_id: SURROUNDINGS,
    constraints: "input",
    channel: "input",
    repo: SURROUNDINGS,
    branch: SURROUNDINGS,
    commit: SURROUNDINGS,
    is_dirty: SURROUNDINGS,
    ticket_id: SURROUNDINGS,
    capture_mode: RECORDING,
    kept_bodies: RECORDING,
    audit: RECORDING,
  },
  input_received: {
    input_channels: "input",
    input_hash: "input",
    input_policy_labels: "input",
    input_ref: "input",
    input_summary: "input",
  },
  prompt_rendered: {
    prompt_template_id: PROMPTS,
    prompt_template_version: PROMPTS,
    prompt_variables_ref: PROMPTS,
    rendered_prompt_ref: PROMPTS,
    system_message_ref: PROMPTS,
  },
  prompt_assembled: {
    segments: DERIVED,
    total_length: DERIVED,
    token_budget: DERIVED,
    excluded_count: DERIVED,
    total_tokens: DERIVED,
  },
  context_manifest: {
    manifest_ref: DERIVED,
    snapshot_id: DERIVED,
    revision: DERIVED,
    included_count: DERIVED,
    excluded_count: DERIVED,
    prefix_hash: DERIVED,
    prefix_length: DERIVED,
  },
  model_called: {
    provider: "questions",
    model_id: "questions",
    model_api_version: DERIVED,
    temperature: DERIVED,
    top_p: DERIVED,
    max_tokens: DERIVED,
    seed: DERIVED,
    request_ref: "questions",
    capture_mode: RECORDING,
    stream: DERIVED,
    call_signature_hash: "questions",
    wire_digest: DERIVED,
    shape_digest: DERIVED,
    canon_version: RECORDING,
    prefix_fingerprint: DERIVED,
    prefix_length: DERIVED,
    cache_use: DERIVED,
    cache_params_digest: DERIVED,
    cache_key_tag: DERIVED,
    account_tag: DERIVED,
    prompt_account: DERIVED,
    http_method: "questions",
    url: "addresses",
    request_headers_ref: "behaviour_headers",
  },
  model_result: {
    provider: DERIVED,
    model_id: DERIVED,
    finish_reason: DERIVED,
    token_usage: DERIVED,
    response_ref: "answers",
    latency_ms: TIMING,
    status: "answers",
    http_status: "answers",
    error_class: "answers",
    error_ref: "answers",
    error_summary: DERIVED,
    first_byte_ms: TIMING,
    thinking_ms: TIMING,
    usage_ref: DERIVED,
    service_tier: DERIVED,
    cache_write_1h_tokens: DERIVED,
    response_headers_ref: not("headers of answers", "they are served as they were, but for those that are masked"),
    stream_index_ref: TIMING,
    stream_end: DERIVED,
    provider_request_id: IDS,
    output_summary: DERIVED,
    requested_tools: DERIVED,
    requested_tool_ids: DERIVED,
    cache_diagnosis: DERIVED,
    stored_bytes: RECORDING,
  },
  tool_called: {
    tool_name: "questions",
    tool_version: SURROUNDINGS,
    call_signature_hash: "questions",
    args_ref: "questions",
    timeout_ms: TIMING,
    tool_call_id: IDS,
    args_summary: DERIVED,
    canon_version: RECORDING,
    effect_class: not("what a tool is said to do to the world", "running it would tell, and it is answered"),
  },
  tool_result: {
    tool_name: DERIVED,
    status: "answers",
    result_ref: "answers",
    error_class: "answers",
    error_message_ref: "answers",
    latency_ms: TIMING,
    tool_call_id: IDS,
    exit_code: "answers",
    result_summary: DERIVED,
    error_summary: DERIVED,
    told_model: DERIVED,
  },
  retrieval_executed: {
    retriever_id: "questions",
    retriever_version: "questions",
    query_text_ref: "questions",
    top_k: "questions",
    filters: "questions",
    candidate_count: DERIVED,
    candidate_list_ref: "answers",
    call_signature_hash: "questions",
    latency_ms: TIMING,
    status: "answers",
  },
  step_started: { name: "steps", kind: "steps", body_ref: "steps" },
  step_ended: {
    status: "steps",
    latency_ms: TIMING,
    error_class: "steps",
    error_ref: "steps",
    error_summary: "steps",
    body_ref: "steps",
  },
  validator_decision: {
    validator_name: "verdicts",
    validator_version: SURROUNDINGS,
    decision: "verdicts",
    reason_ref: "verdicts",
  },
  safety_decision: {
    policy_name: "verdicts",
    policy_version: SURROUNDINGS,
    decision: "verdicts",
    reason_ref: "verdicts",
  },
  decision: { action_type: "verdicts", action_summary: "verdicts", decision_ref: "verdicts" },
  artifact_recorded: {
    artifact_id: IDS,
    artifact_type: "artifacts",
    summary: "artifacts",
    content_ref: "artifacts",
    hash: "artifacts",
    size_bytes: "artifacts",
    withheld_bytes: RECORDING,
    path: "artifacts",
    lines_added: "artifacts",
    lines_removed: "artifacts",
    net_lines_added: "artifacts",
    net_lines_removed: "artifacts",
    exit_code: "artifacts",
  },
  final_output: {
    output_ref: "final_output",
    citations_ref: "final_output",
    response_channel: "final_output",
    output_summary: "final_output",
  },
  run_completed: {
    status: "ending",
    total_steps: DERIVED,
    total_latency_ms: TIMING,
    exit_code: "exit_status",
    stdout_bytes: "stdout",
    stdout_ref: "stdout",
    stdout_digest: "stdout",
  },
  run_failed: {
    status: "ending",
    failed_step_id: IDS,
    error_class: "ending",
    error_message_ref: "ending",
    error_summary: "ending",
    exit_code: "exit_status",
    signal: "exit_status",
    stdout_bytes: "stdout",
    stdout_ref: "stdout",
    stdout_digest: "stdout",
    total_steps: DERIVED,
    total_latency_ms: TIMING,
  },
  log: {
    level: LOGS,
    message: LOGS,
    message_ref: LOGS,
    error_class: LOGS,
    error_summary: LOGS,
    error_ref: LOGS,
    body_ref: LOGS,
  },
  attributes_set: {},
  link_added: { link: LINKS },
  evaluation: {
    evaluator: JUDGED,
    subject_step_id: JUDGED,
    alignment: JUDGED,
    quality: JUDGED,
    policy: JUDGED,
    score: JUDGED,
    evaluation_ref: JUDGED,
  },
  findings: {
    author: JUDGED,
    author_kind: JUDGED,
    verdict: JUDGED,
    finding_count: JUDGED,
    summary: JUDGED,
    report_ref: JUDGED,
  },
  wire_derived: {
    provider: DERIVED,
    model_id: DERIVED,
    temperature: DERIVED,
    top_p: DERIVED,
    max_tokens: DERIVED,
    seed: DERIVED,
    stream: DERIVED,
    call_signature_hash: DERIVED,
    wire_digest: DERIVED,
    shape_digest: DERIVED,
    canon_version: DERIVED,
    prefix_fingerprint: DERIVED,
    prefix_length: DERIVED,
    cache_use: DERIVED,
    cache_params_digest: DERIVED,
    segments: DERIVED,
    total_length: DERIVED,
    finish_reason: DERIVED,
    token_usage: DERIVED,
    service_tier: DERIVED,
    cache_write_1h_tokens: DERIVED,
    requested_tools: DERIVED,
    requested_tool_ids: DERIVED,
    cache_diagnosis: DERIVED,
    thinking_ms: DERIVED,
    output_summary: DERIVED,
    error_class: DERIVED,
    error_summary: DERIVED,
  },
  source_diagnostics: {
    note_count: JUDGED,
    detector_count: JUDGED,
    diagnostics_ref: JUDGED,
  },
  override: {
    author: JUDGED,
    subject_step_id: JUDGED,
    verdict: JUDGED,
    reason: JUDGED,
    reason_ref: JUDGED,
  },
  fault: {
    trigger: FAULTS,
    detail: FAULTS,
    artifact_ids: FAULTS,
    missing: FAULTS,
    no_evidence: FAULTS,
    stops_run: FAULTS,
    requested_by: FAULTS,
  },
  repair: {
    kind: FAULTS,
    before_ref: FAULTS,
    after_ref: FAULTS,
    outcome: FAULTS,
    attempt: FAULTS,
    max_attempts: FAULTS,
    reason: FAULTS,
  },
  process_started: {
    writer_id: PROCESSES,
    app_id: PROCESSES,
    pid: PROCESSES,
    thread_id: PROCESSES,
    runtime: PROCESSES,
    recorder_version: PROCESSES,
    capture_mode: PROCESSES,
  },
  process_exited: {
    writer_id: PROCESSES,
    exit_code: PROCESSES,
    reason: PROCESSES,
    error_class: PROCESSES,
    error_summary: PROCESSES,
    error_ref: PROCESSES,
    error_origin: PROCESSES,
    records_written: PROCESSES,
    records_dropped: PROCESSES,
    logs_sampled_out: PROCESSES,
  },
  process_crashed: {
    writer_id: PROCESSES,
    pid: PROCESSES,
    last_open_step_id: PROCESSES,
    evidence: PROCESSES,
    ended_by: PROCESSES,
    exit_code: PROCESSES,
    error_class: PROCESSES,
    error_summary: PROCESSES,
    error_ref: PROCESSES,
  },
}

/** The same of what every event says around its payload. */
export const ENVELOPE: { readonly [K in keyof Required<Envelope>]: Treatment } = {
  schema_version: RECORDING,
  event_id: IDS,
  trace_id: IDS,
  run_id: IDS,
  step_id: IDS,
  parent_step_id: "steps",
  sequence_no: "order",
  event_type: "recording",
  timestamp_utc: TIMING,
  mono_us: TIMING,
  actor_type: RECORDING,
  determinism_mode: "answers",
  artifact_refs: "recording",
  redaction_status: RECORDING,
  source: not("which part of the application spoke", "a replay may be driven from elsewhere"),
  conversation_id: CONVERSATION,
  attributes: ATTRIBUTES,
  attribute_marks: ATTRIBUTES,
  attributes_dropped: ATTRIBUTES,
  links: LINKS,
  inferred_by: RECORDING,
  lane_id: IDS,
  attempt_no: "answers",
  replay: RECORDING,
  problems: "recording",
}

/** Everything of these events that is not compared, each named once. */
export function notComparedIn(events: readonly Event[]): NotCompared[] {
  const found = new Set<NotCompared>()
  const note = (treatments: object, values: object): void => {
    for (const [field, value] of Object.entries(values)) {
      const treatment = (treatments as Record<string, Treatment | undefined>)[field]
      if (typeof treatment === "object" && isThere(value)) found.add(treatment)
    }
  }
  for (const { payload, ...envelope } of events) {
    note(ENVELOPE, envelope)
    note(FIELDS[envelope.event_type], payload)
  }
  return ORDER.filter((treatment) => found.has(treatment))
}

const isThere = (value: unknown): boolean =>
  value !== undefined && value !== null && (typeof value !== "object" || Object.keys(value).length > 0)

/** As a certificate lists them, whatever came first in a recording. */
const ORDER: readonly NotCompared[] = [
  ...new Set([...Object.values(FIELDS).flatMap((fields) => Object.values(fields)), ...Object.values(ENVELOPE)]),
].filter((treatment) => typeof treatment === "object")
