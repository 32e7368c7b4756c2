import { type EventType, isEventType, type PayloadOf } from "@orangebox/contract"

/**
 * What may happen to a field on its way to the journal:
 * `raw_allowed` is stored as it is, `redact_required` goes through the rules first, `hash_only` leaves a keyed digest, `drop` nothing.
 * For a field that names a body, the policy is that of the body's content.
 */
export type FieldPolicy = "raw_allowed" | "redact_required" | "hash_only" | "drop"

/** From the least to the most that is kept back. */
export const POLICIES: readonly FieldPolicy[] = ["raw_allowed", "redact_required", "hash_only", "drop"]

type PolicyTable = { readonly [T in EventType]: { readonly [Field in keyof PayloadOf<T>]-?: FieldPolicy } }

// Two words for the table: what our own code, a vendor's model list or a closed set of words puts there, and what any caller may write.
const ours = "raw_allowed"
const theirs = "redact_required"

/** The type default of every payload field there is; the type checker names one that is missing. */
export const FIELD_POLICIES: PolicyTable = {
  run_started: {
    app_id: ours,
    environment: ours,
    entrypoint_name: ours,
    user_session_ref: "hash_only",
    input_summary: theirs,
    input_summary_ref: theirs,
    agent_id: ours,
    agent_version: ours,
    request_id: ours,
    constraints: theirs,
    channel: ours,
    repo: theirs,
    branch: ours,
    ticket_id: ours,
    capture_mode: ours,
  },
  input_received: {
    input_channels: ours,
    input_hash: ours,
    input_policy_labels: ours,
    input_ref: theirs,
    input_summary: theirs,
  },
  prompt_rendered: {
    prompt_template_id: ours,
    prompt_template_version: ours,
    prompt_variables_ref: theirs,
    rendered_prompt_ref: theirs,
    system_message_ref: theirs,
  },
  retrieval_executed: {
    retriever_id: ours,
    retriever_version: ours,
    query_text_ref: theirs,
    top_k: ours,
    filters: theirs,
    candidate_count: ours,
    candidate_list_ref: theirs,
    call_signature_hash: ours,
    latency_ms: ours,
    status: ours,
  },
  tool_called: {
    tool_name: ours,
    tool_version: ours,
    call_signature_hash: ours,
    args_ref: theirs,
    timeout_ms: ours,
    tool_call_id: ours,
    args_summary: theirs,
    canon_version: ours,
    effect_class: ours,
  },
  tool_result: {
    tool_name: ours,
    status: ours,
    result_ref: theirs,
    error_class: ours,
    error_message_ref: theirs,
    latency_ms: ours,
    tool_call_id: ours,
    exit_code: ours,
    result_summary: theirs,
    error_summary: theirs,
  },
  model_called: {
    provider: ours,
    model_id: ours,
    model_api_version: ours,
    temperature: ours,
    top_p: ours,
    max_tokens: ours,
    seed: ours,
    request_ref: theirs,
    capture_mode: ours,
    stream: ours,
    call_signature_hash: ours,
    wire_digest: ours,
    shape_digest: ours,
    canon_version: ours,
    prefix_fingerprint: ours,
    prefix_length: ours,
    cache_use: ours,
    http_method: ours,
    url: theirs,
    request_headers_ref: theirs,
  },
  model_result: {
    provider: ours,
    model_id: ours,
    finish_reason: ours,
    token_usage: ours,
    service_tier: ours,
    cache_write_1h_tokens: ours,
    response_ref: theirs,
    latency_ms: ours,
    status: ours,
    http_status: ours,
    error_class: ours,
    error_ref: theirs,
    error_summary: theirs,
    first_byte_ms: ours,
    thinking_ms: ours,
    usage_ref: ours,
    response_headers_ref: theirs,
    stream_index_ref: ours,
    stream_end: ours,
    provider_request_id: ours,
    output_summary: theirs,
    requested_tools: ours,
    stored_bytes: ours,
  },
  validator_decision: { validator_name: ours, validator_version: ours, decision: ours, reason_ref: theirs },
  safety_decision: { policy_name: ours, policy_version: ours, decision: ours, reason_ref: theirs },
  final_output: { output_ref: theirs, citations_ref: theirs, response_channel: ours, output_summary: theirs },
  run_completed: { status: ours, total_steps: ours, total_latency_ms: ours },
  run_failed: {
    status: ours,
    failed_step_id: ours,
    error_class: ours,
    error_message_ref: theirs,
    error_summary: theirs,
    total_steps: ours,
    total_latency_ms: ours,
  },
  step_started: { name: ours, kind: ours, body_ref: theirs },
  step_ended: {
    status: ours,
    latency_ms: ours,
    error_class: ours,
    error_ref: theirs,
    error_summary: theirs,
    body_ref: theirs,
  },
  log: {
    level: ours,
    message: theirs,
    message_ref: theirs,
    error_class: ours,
    error_summary: theirs,
    error_ref: theirs,
    body_ref: theirs,
  },
  link_added: { link: ours },
  attributes_set: {},
  prompt_assembled: { segments: theirs, total_length: ours, token_budget: ours, excluded_count: ours },
  context_manifest: {
    manifest_ref: theirs,
    snapshot_id: ours,
    revision: ours,
    included_count: ours,
    excluded_count: ours,
    prefix_hash: ours,
    prefix_length: ours,
  },
  artifact_recorded: {
    artifact_id: ours,
    artifact_type: ours,
    summary: theirs,
    content_ref: theirs,
    hash: ours,
    size_bytes: ours,
    path: theirs,
    lines_added: ours,
    lines_removed: ours,
    exit_code: ours,
  },
  decision: { action_type: ours, action_summary: theirs, decision_ref: theirs },
  evaluation: {
    evaluator: ours,
    subject_step_id: ours,
    alignment: ours,
    quality: ours,
    policy: ours,
    score: ours,
    evaluation_ref: theirs,
  },
  override: { author: theirs, subject_step_id: ours, verdict: ours, reason: theirs, reason_ref: theirs },
  fault: { trigger: ours, detail: theirs, artifact_ids: ours, missing: ours, requested_by: ours },
  repair: {
    kind: ours,
    before_ref: theirs,
    after_ref: theirs,
    outcome: ours,
    attempt: ours,
    max_attempts: ours,
    reason: theirs,
  },
  process_started: {
    writer_id: ours,
    app_id: ours,
    pid: ours,
    thread_id: ours,
    runtime: ours,
    recorder_version: ours,
    capture_mode: ours,
  },
  process_exited: {
    writer_id: ours,
    exit_code: ours,
    reason: ours,
    error_class: ours,
    error_summary: theirs,
    records_written: ours,
    records_dropped: ours,
    logs_sampled_out: ours,
  },
  process_crashed: { writer_id: ours, pid: ours, last_open_step_id: ours, evidence: theirs },
}

/** The envelope's fields that hold text from outside; all others are ids, times and closed sets. */
const ENVELOPE_POLICIES: { readonly [field: string]: FieldPolicy } = {
  attributes: theirs,
  conversation_id: ours,
  source: ours,
}

/** The type default of a field, by the first part of its path. What has no entry has to be redacted. */
export function defaultPolicy(eventType: string, field: string): FieldPolicy {
  const top = field.split(".", 1)[0]!
  if (isEventType(eventType)) {
    const fields: Readonly<Record<string, FieldPolicy>> = FIELD_POLICIES[eventType]
    if (Object.hasOwn(fields, top)) return fields[top]!
  }
  return Object.hasOwn(ENVELOPE_POLICIES, top) ? ENVELOPE_POLICIES[top]! : theirs
}
