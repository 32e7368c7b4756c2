// Written by `npm run schemas` from the zod definitions in definitions/. Change those.
import type { EventDefinition } from "./event-definition.js"
import { ObjectSchema, Schema, WordSchema } from "./schema/schema.js"
import type { SchemaNode } from "./schema/schema-node.js"

/** Why the bytes behind a ref are not there. Only `lost` makes the event invalid. */
export type AbsentReason = "hashed" | "not_kept" | "pruned" | "redacted_later" | "lost"
export type ActorType = "sdk" | "backend" | "replay_engine"
/** What had to be done to a value to make it a flat scalar. Kept beside the attributes, so that a reader never mistakes one for the other. */
export type AttributeMark = "json" | "text" | "truncated" | "unreadable"
export type AuditMode = "required" | "best_effort"
/** A secret that was taken out of a body. */
export type BodyMask = {
  /** In bytes of the stored body. */
  offset: number
  length: number
  rule: string
  /** Keyed digest of the secret: tells different ones apart that mask alike. */
  tag: string
}
/** One line of the body behind `candidate_list_ref`. */
export type Candidate = {
  rank: number
  /** Null where the retriever gave it none. */
  chunk_id: string | null
  document_id: string | null
  score: number | null
  source_uri: string | null
  content_ref: string | null
}
export type DeterminismMode = "live" | "exact" | "cached" | "simulated"
export type FsyncPolicy = "never" | "interval" | "always"
/** A judge is a command that reads a question as JSON on stdin and answers with JSON on stdout. */
export type JudgeCommand = {
  command: string[]
  timeoutMs?: number | undefined
}
/** Which bodies are kept when nothing goes wrong. */
export type KeptBodies = "always" | "on_fault" | `sample:${string}`
export type Level = "debug" | "info" | "warn" | "error"
export type Link = {
  kind: LinkKind
  trace_id?: TraceId | undefined
  run_id?: RunId | undefined
  step_id?: StepId | undefined
  reason?: string | undefined
}
/**
 * A causal edge. Nesting is `parent_step_id`; everything else that caused something is a link.
 *
 * `follows` the previous causal step · `spawned` / `spawned_by` a sub-agent's run · `caused` / `caused_by` a queued message and the run it
 * led to · `delivers` a delivery and its enqueue · `mentions` anything a caller wants to point at.
 */
export type LinkKind = "follows" | "spawned" | "spawned_by" | "caused" | "caused_by" | "delivers" | "mentions"
/** Why a fault has no artifact at all. */
export type NoEvidence = "nothing_sent" | "not_stored"
/** What runs of some days have to add up to. */
export type Objective = {
  name?: string | undefined
  measure: "failed_runs" | "failed_calls" | "failed_tools" | "cost_per_run" | "cache_share" | "run_p95_ms" | "call_p95_ms"
  most?: number | undefined
  least?: number | undefined
  days: number
  app?: string | undefined
}
/** What a model costs, in US dollars per million tokens; null is unknown. Takes the place of the built-in entry for the model. */
export type PriceOverride = {
  model: string
  validFrom?: string | undefined
  input: number
  output: number
  cacheRead?: number | null | undefined
  cacheWrite5m?: number | null | undefined
  cacheWrite1h?: number | null | undefined
}
/** How a process ended that left runs open. `gone`: it said nothing, so a signal, a lack of memory and a power cut look the same. */
export type ProcessEnd = "uncaught_exception" | "unhandled_rejection" | "exit" | "closed" | "gone"
export type Profile = "debug" | "audit"
/** What the user adds to the built-in redaction rules. */
export type RedactionRules = {
  pii?: boolean | undefined
  publicKeys?: boolean | undefined
  deny?: {
    path: string
    policy?: "redact_required" | "hash_only" | "drop" | undefined
  }[] | undefined
  allow?: {
    path: string
  }[] | undefined
  keys?: {
    pattern: string
    flags?: string | undefined
    action: "mask" | "drop" | "hash" | "allow"
  }[] | undefined
  values?: {
    id: string
    pattern: string
    flags?: string | undefined
    about?: string | undefined
  }[] | undefined
  safeIds?: string[] | undefined
}
export type RedactionStatus = "not_required" | "redacted" | "blocked" | "failed"
export type ReportedFinding = {
  claim: string
  cause_step: number
  confidence: "proven" | "likely" | "possible"
  evidence: {
    /** Another run than the one that is reported on. */
    run_id?: RunId | undefined
    step: number
    body?: string | undefined
    from?: number | undefined
    to?: number | undefined
    quote?: string | undefined
  }[]
  /** What was looked at to show that the claim is wrong. */
  disproof_tried: string
}
export type Segment = {
  contributor: string
  kind: "persona" | "tool-def" | "skill" | "agent-profile" | "history" | "user-msg" | "other"
  role: string | null
  length: number
  tokens?: number | null | undefined
  segment_hash?: BodyId | undefined
  content_ref?: string | undefined
  /** Which message of the request it belongs to, and which part of it; tools and a system prompt that stands apart are in none. */
  message?: number | undefined
  part?: number | undefined
  /** There when the request asks to cache up to and including this segment; a null ttl is the provider's own. */
  mark?: {
    ttl: string | null
  } | undefined
  /** Equal for equal values whatever the order of their keys, also of JSON inside a text. */
  canonical_hash?: BodyId | undefined
  /** Of the bytes it carries, decoded. */
  media_hash?: BodyId | undefined
  /** Of the segment with its volatile values taken out; there when it has any. */
  stable_hash?: BodyId | undefined
  volatile?: {
    kind: "time" | "epoch" | "uuid" | "hex" | "counter" | "temp_path"
    start: number
    length: number
  }[] | undefined
  /** How many there are, where not all are listed. */
  volatile_count?: number | undefined
  /** Tool calls and results: what ties them together, and whether the model is told that the tool failed. */
  tool_call_id?: string | undefined
  is_error?: boolean | undefined
}
/** What a signer vouches for: this run, with these events and these holes, at this place of the chain. */
export type SignedStatement = {
  schema: "orangebox.signature/1"
  run_id: RunId
  /** Of every event of the run. */
  digest: BodyId
  status: string
  events: number
  /** What `verify` had to say of the run when it was signed, by code. */
  gaps: Record<string, number>
  /** The id of a certificate of replay that held when it was signed. */
  certificate: BodyId | null
  signed_at: string
  /** The hash of the public key (SPKI, DER). */
  key: BodyId
  /** How many stand before it in the chain of its data folder. */
  place: number
  /** The hash of the one before it. */
  previous: BodyId | null
}
/**
 * A rule of a source about its steps, as data: repositories are not trusted, so none of it is run. Exactly one of `count`, `missing`,
 * `mismatch` and `threshold` says what breaks it. What is compared are attributes of steps.
 */
export type SourceDetector = {
  id: string
  /** What it means when it is broken. Shown as the source's words. */
  says: string
  severity: "harm" | "waste" | "notice"
  /** The steps that it is about. */
  of: StepSelector
  /** Steps with the same values under these attributes, more often than this; and, where something is named, more often than that. */
  count?: {
    by: string[]
    more_than: number
    exceeding?: StepSelector | undefined
  } | undefined
  /** A step without one of these that has the same value under an attribute. */
  missing?: {
    without: StepSelector
    by: string
  } | undefined
  /** A step whose attribute has another value than one of its own, or of the step that has the same value under `by`. */
  mismatch?: {
    attribute: string
    other: string
    in?: StepSelector | undefined
    by?: string | undefined
  } | undefined
  /** A step whose attribute, or `duration_ms`, is a number above this. */
  threshold?: {
    attribute: string
    above: number
  } | undefined
}
export type Status = "success" | "timeout" | "error" | "partial"
/** Steps by what they are: their kind (`queue.deliver`, `tool`), their name, how they ended, whose they are. What is not given is not asked. */
export type StepSelector = {
  kind?: string | undefined
  name?: string | undefined
  status?: "success" | "error" | "timeout" | "open" | undefined
  source?: string | undefined
}
/** Normalised counts; null is unknown, and unknown is not zero. `prompt` includes cached tokens whatever the provider's habit. */
export type TokenUsage = {
  prompt: number | null
  completion: number | null
  total: number | null
  cache_read?: number | null | undefined
  cache_write?: number | null | undefined
  reasoning?: number | null | undefined
}
/** What a tool of the application does, where its name alone does not tell. */
export type ToolMeaning = {
  action?: ActionType | undefined
  effect?: EffectClass | undefined
  path?: string | undefined
  command?: string | undefined
}
export type ActionType = "plan" | "edit" | "run_tests" | "command" | "open_pr" | "merge" | "deploy" | "api_call" | "message" | "no_op" | "override" | "other"
/** The artifact reference contract: one entry for every body that an event's payload names. */
export type ArtifactRef = {
  artifact_hash: BodyId
  /** What the body is to this event: the payload field that names it without `_ref`, or the kind of work product. */
  artifact_type: string
  byte_size: number
  /** How the stored bytes are encoded. `identity` unless the source could not be decoded. */
  content_encoding: string
  mime_type: string
  /** Which set of redaction rules the bytes went through; `none` means they are as the source gave them. */
  redaction_profile: string
  absent?: AbsentReason | undefined
  /** Set when only the first part was kept: how many bytes the source had. */
  full_byte_size?: number | undefined
  masks?: BodyMask[] | undefined
  /** How many masks the body holds, where not all are listed. */
  mask_count?: number | undefined
}
/** What a backup holds, written last: a folder without it is no backup. */
export type BackupManifest = {
  schema: "orangebox.backup/1"
  made_at: string
  /** Every run with the digest of its events; null where events of it cannot be read. */
  runs: {
    run_id: string
    status: string
    digest: BodyId | null
  }[]
  files: {
    path: string
    byte_size: number
    sha256: BodyId
  }[]
}
export type BodyId = string
export type CandidateList = Candidate[]
export type CaptureMode = "full" | "redacted" | "hashed"
/** `orangebox.config.json`: one file, one schema, grown with the product. */
export type Config = {
  $schema?: string | undefined
  app?: string | undefined
  enabled?: boolean | undefined
  profile?: Profile | undefined
  capture?: CaptureMode | undefined
  allowFull?: boolean | undefined
  bodies?: KeptBodies | undefined
  audit?: AuditMode | undefined
  environment?: Environment | undefined
  redaction?: RedactionRules | undefined
  upstreams?: Record<string, string> | undefined
  checks?: {
    id: string
    type: "style" | "safety" | "format" | "scope" | "other"
    rule: string
    severity?: "warn" | "fail" | undefined
  }[] | undefined
  objectives?: Objective[] | undefined
  judges?: Record<string, JudgeCommand> | undefined
  tools?: Record<string, ToolMeaning> | undefined
  strict?: boolean | undefined
  journal?: {
    fsync?: FsyncPolicy | undefined
    maxFileBytes?: number | undefined
    maxFileAgeMs?: number | undefined
    maxTotalBytes?: number | undefined
  } | undefined
  retention?: {
    events?: string | undefined
    bodies?: string | undefined
    snapshots?: string | undefined
    manifests?: string | undefined
    rollups?: string | undefined
    problems?: string | undefined
    journals?: string | undefined
    maxBodyBytes?: number | undefined
  } | undefined
  store?: {
    engine: "clickhouse"
    url: string
    database: string
    user?: string | undefined
    passwordFile?: string | undefined
    caFile?: string | undefined
    cluster?: string | undefined
    allowInsecure?: boolean | undefined
  } | undefined
  sources?: Record<string, {
    level?: Level | undefined
    sample?: number | undefined
  }> | undefined
  prices?: PriceOverride[] | undefined
  cacheRules?: {
    models: string[]
    validFrom?: string | undefined
    keeps: "marked" | "automatic" | "best_effort"
    minimumTokens: number
    livesSeconds: number
    stepTokens?: number | undefined
    lookbackSegments?: number | undefined
  }[] | undefined
}
export type Constraint = {
  id: string
  type: "style" | "safety" | "format" | "scope" | "other"
  rule: string
}
/** What running a tool again would do to the world. */
export type EffectClass = "pure" | "read" | "write_idempotent" | "write" | "unknown"
export type Envelope = {
  schema_version: string
  event_id: string
  trace_id: TraceId | null
  run_id: RunId | null
  step_id: StepId | null
  parent_step_id: StepId | null
  sequence_no: number | null
  event_type: string
  timestamp_utc: string
  mono_us: number
  actor_type: ActorType
  determinism_mode: DeterminismMode
  artifact_refs: ArtifactRef[]
  redaction_status: RedactionStatus
  source: string
  conversation_id?: string | undefined
  attributes?: Record<string, string | number | boolean | null> | undefined
  attribute_marks?: Record<string, AttributeMark> | undefined
  attributes_dropped?: number | undefined
  links?: Link[] | undefined
  inferred_by?: string | undefined
  lane_id?: string | undefined
  attempt_no?: number | undefined
  replay?: {
    source_run_id: RunId
    fork_step_id: StepId | null
    override_profile_id: BodyId | null
    replay_reason_code: "reproduce" | "what_if" | "regression" | "calibrate" | "control"
    source_step_id?: StepId | undefined
    match?: {
      tier: string
      occurrence: number
      canon_version: number
    } | undefined
    effect_class?: "pure" | "read" | "write_idempotent" | "write" | "unknown" | undefined
    taint?: ("cached" | "simulated" | "live")[] | undefined
  } | undefined
  problems?: {
    code: string
    field: string
    reason: string
  }[] | undefined
}
export type Environment = "local" | "ci" | "staging" | "prod" | "unknown"
export type EventId = string
export type FaultTrigger = "system_error" | "schema_repair_failure" | "loop_guard_override" | "tool_failure" | "missing_pointer" | "debug_request"
/** What was found out about a run: `orangebox.findings/1`, kept beside it as an annotation. */
export type FindingsReport = {
  schema?: "orangebox.findings/1" | undefined
  run_id?: RunId | undefined
  author: string
  author_kind: "agent" | "person" | "judge"
  verdict: "found" | "not_found" | "unsure"
  findings: ReportedFinding[]
}
export type RecordV0 = {
  schema_version: string
  seq: number
  extensionId: string
  conversationId?: string | undefined
  turnId: string
  spanId: string
  parentSpanId?: string | undefined
  timestamp: number
  attributes?: Record<string, string | number | boolean | null> | undefined
  body?: string | undefined
  kind: "log"
  level: Level
  msg: string
} | {
  schema_version: string
  seq: number
  extensionId: string
  conversationId?: string | undefined
  turnId: string
  spanId: string
  parentSpanId?: string | undefined
  timestamp: number
  attributes?: Record<string, string | number | boolean | null> | undefined
  body?: string | undefined
  kind: "span-open"
  name: string
} | {
  schema_version: string
  seq: number
  extensionId: string
  conversationId?: string | undefined
  turnId: string
  spanId: string
  parentSpanId?: string | undefined
  timestamp: number
  attributes?: Record<string, string | number | boolean | null> | undefined
  body?: string | undefined
  kind: "span-close"
  durationMs: number
  error?: string | undefined
}
export type RunId = string
/** `orangebox.signature/1`: an Ed25519 signature over the canonical JSON of its statement. */
export type RunSignature = {
  statement: SignedStatement
  /** Base64. */
  signature: string
}
/** What a source knows about its own steps: notes for whoever investigates it, and rules. */
export type SourceDiagnostics = {
  notes: string[]
  detectors: SourceDetector[]
}
export type StepId = string
export type TraceId = string
export type Verdict = "pass" | "warn" | "fail" | "unknown"
/** What each type of event says. */
export type Payloads = {
  run_started: {
    app_id: string
    environment: Environment
    entrypoint_name: string
    /** A digest of the user's session, never the session itself. */
    user_session_ref: BodyId | null
    /** Inline, or behind `input_summary_ref`: one of the two must be there. Null when the run began before its input was known. */
    input_summary?: string | null | undefined
    input_summary_ref?: string | undefined
    agent_id?: string | undefined
    agent_version?: string | undefined
    request_id?: string | undefined
    constraints?: Constraint[] | undefined
    channel?: string | undefined
    repo?: string | undefined
    branch?: string | undefined
    /** The commit that was checked out when recording began. */
    commit?: string | undefined
    /** Whether tracked files differed from that commit. Absent where git was not asked. */
    is_dirty?: boolean | undefined
    ticket_id?: string | undefined
    capture_mode?: CaptureMode | undefined
    /** Left out where they are the defaults: all bodies are kept, and a recording that fails does not stop the run. */
    kept_bodies?: KeptBodies | undefined
    audit?: AuditMode | undefined
  }
  input_received: {
    input_channels: string[]
    input_hash: BodyId
    input_policy_labels: string[]
    input_ref?: string | undefined
    input_summary?: string | undefined
  }
  /** The prompt as the application built it: the BEFORE, next to `model_called.request_ref`, the AFTER. */
  prompt_rendered: {
    prompt_template_id: string | null
    prompt_template_version: string | null
    prompt_variables_ref: string | null
    rendered_prompt_ref: string
    system_message_ref?: string | undefined
  }
  retrieval_executed: {
    retriever_id: string
    retriever_version: string | null
    query_text_ref: string
    top_k: number | null
    filters: Record<string, string | number | boolean | null>
    candidate_count: number
    candidate_list_ref: string
    call_signature_hash?: BodyId | undefined
    latency_ms?: number | undefined
    status?: Status | undefined
  }
  tool_called: {
    tool_name: string
    tool_version: string | null
    call_signature_hash: BodyId
    args_ref: string
    timeout_ms: number | null
    tool_call_id?: string | undefined
    args_summary?: string | undefined
    canon_version?: number | undefined
    effect_class?: EffectClass | undefined
  }
  tool_result: {
    tool_name: string
    status: Status
    /** Null when the tool gave nothing back. */
    result_ref: string | null
    /** Null unless the status is `error` or `timeout`. */
    error_class: string | null
    error_message_ref: string | null
    latency_ms: number
    tool_call_id?: string | undefined
    exit_code?: number | undefined
    result_summary?: string | undefined
    error_summary?: string | undefined
    /** What the model was told of it, where that is known: a harness may turn an error into a text, or cut a result. */
    told_model?: {
      is_error: boolean | null
      ref: string | null
    } | undefined
  }
  model_called: {
    provider: string
    model_id: string | null
    model_api_version: string | null
    temperature: number | null
    top_p: number | null
    max_tokens: number | null
    seed?: number | null | undefined
    request_ref: string
    capture_mode?: CaptureMode | undefined
    stream?: boolean | undefined
    call_signature_hash?: BodyId | undefined
    wire_digest?: BodyId | undefined
    shape_digest?: BodyId | undefined
    canon_version?: number | undefined
    /** Hash and length of the request up to its last cache mark. */
    prefix_fingerprint?: BodyId | null | undefined
    prefix_length?: number | null | undefined
    cache_use?: "warm" | "real" | "unknown" | undefined
    /** Of the settings that decide whether a cached prefix may be used: tool choice, thinking, beta headers and the like. */
    cache_params_digest?: BodyId | undefined
    /** Keyed tags: equal for the same cache key, and for the same credentials. */
    cache_key_tag?: string | undefined
    account_tag?: string | undefined
    /** Where the prompt that was compiled for this call stands in its request, and what stands beside it; there when one was. */
    prompt_account?: {
      prompt: "whole" | "split" | "inside" | "elsewhere" | "missing"
      delivery: "verbatim" | "context_injected" | "incomplete" | "unknown"
      missing_items?: number[] | undefined
      beside: {
        what: "system" | "turn" | "text" | "tools" | "provider" | "settings"
        where: "before" | "after" | "beside"
        count: number
        length: number | null
      }[]
    } | undefined
    http_method?: string | undefined
    url?: string | undefined
    request_headers_ref?: string | undefined
  }
  model_result: {
    provider: string
    model_id: string | null
    finish_reason: string | null
    token_usage: TokenUsage
    /** Null when no answer came. */
    response_ref: string | null
    latency_ms: number
    status?: Status | undefined
    http_status?: number | null | undefined
    error_class?: string | null | undefined
    error_ref?: string | null | undefined
    error_summary?: string | undefined
    first_byte_ms?: number | null | undefined
    thinking_ms?: number | null | undefined
    /** The provider's own usage object, as it was sent. */
    usage_ref?: string | undefined
    /** What the price depends on beside the counts: the tier the call was served from, and cache writes that live for an hour. */
    service_tier?: string | undefined
    cache_write_1h_tokens?: number | undefined
    response_headers_ref?: string | undefined
    stream_index_ref?: string | undefined
    stream_end?: "complete" | "client_abort" | "upstream_reset" | "timeout" | undefined
    provider_request_id?: string | undefined
    output_summary?: string | undefined
    /** Names of the tools the model asked for, in order. */
    requested_tools?: string[] | undefined
    /** The ids of these calls, in the same order; null for one that has none. */
    requested_tool_ids?: (string | null)[] | undefined
    /** Why its cache did not serve all of the prompt, in the provider's own words. */
    cache_diagnosis?: {
      type: string
      missed_tokens: number | null
    } | undefined
    stored_bytes?: number | undefined
  }
  validator_decision: {
    validator_name: string
    validator_version: string | null
    decision: "pass" | "fail" | "warn"
    reason_ref: string | null
  }
  safety_decision: {
    policy_name: string
    policy_version: string | null
    decision: "allow" | "block" | "redact" | "escalate"
    reason_ref: string | null
  }
  final_output: {
    output_ref: string
    citations_ref?: string | undefined
    response_channel: string | null
    output_summary?: string | undefined
  }
  run_completed: {
    status: "success"
    /** Null where the steps were not counted, as in runs read from major 0. */
    total_steps: number | null
    total_latency_ms: number
    /** Of the command of the run, where the run is one. */
    exit_code?: number | undefined
    stdout_bytes?: number | undefined
    stdout_ref?: string | undefined
    stdout_digest?: string | undefined
  }
  run_failed: {
    status: "failed"
    /** Null when no single step is to blame. */
    failed_step_id: StepId | null
    error_class: string
    error_message_ref: string | null
    error_summary?: string | undefined
    /** How the command of the run ended, where the run is one: its exit code, or the signal that ended it. */
    exit_code?: number | undefined
    signal?: string | undefined
    stdout_bytes?: number | undefined
    stdout_ref?: string | undefined
    stdout_digest?: string | undefined
    total_steps?: number | undefined
    total_latency_ms?: number | undefined
  }
  step_started: {
    name: string
    /** What sort of work: retrieval, queue.deliver, prompt, … Free, but one word per meaning. */
    kind?: string | undefined
    body_ref?: string | undefined
  }
  step_ended: {
    status: Status
    latency_ms: number
    error_class?: string | undefined
    error_ref?: string | undefined
    error_summary?: string | undefined
    body_ref?: string | undefined
  }
  log: {
    level: Level
    message: string
    /** The whole message where it was longer than fits inline. */
    message_ref?: string | undefined
    error_class?: string | undefined
    error_summary?: string | undefined
    /** Class, message, stack and cause chain, outermost first. */
    error_ref?: string | undefined
    body_ref?: string | undefined
  }
  link_added: {
    link: Link
  }
  /** Attributes given to a step after it opened; they stand on the envelope. Written at once, so that a crash does not take them along. */
  attributes_set: {

  }
  /** What the prompt was made of, in the order in which it was sent. */
  prompt_assembled: {
    segments: Segment[]
    total_length: number
    token_budget?: number | null | undefined
    excluded_count?: number | undefined
    /** The whole as it was counted: counts of parts do not always add up to it. */
    total_tokens?: number | null | undefined
  }
  context_manifest: {
    manifest_ref: string
    snapshot_id: string
    /** 0 is the manifest of the step; a fault appends a higher one that names its artifacts. */
    revision: number
    /** Null where it was not said: of a request that no dialect reads, of what an application left out without a word. */
    included_count: number | null
    excluded_count: number | null
    prefix_hash: BodyId | null
    prefix_length: number | null
  }
  artifact_recorded: {
    artifact_id: string
    artifact_type: "file_edit" | "command" | "test_run" | "pr" | "commit" | "diff" | "prompt_snapshot" | "tool_output_snapshot" | "answer_snapshot" | "workspace_snapshot" | "other"
    summary: string
    content_ref: string | null
    hash: BodyId
    size_bytes: number
    /** Of an answer that was still coming: so many more bytes had come, and had not been searched for secrets yet. */
    withheld_bytes?: number | undefined
    /** Always relative to the workspace. */
    path: string | null
    lines_added?: number | null | undefined
    lines_removed?: number | null | undefined
    /** Of a change to a file that changed before: all of it, against the file as the run found it. */
    net_lines_added?: number | null | undefined
    net_lines_removed?: number | null | undefined
    exit_code?: number | null | undefined
  }
  /** A decision the application stated itself; all others are computed from the events around an action. */
  decision: {
    action_type: ActionType
    action_summary: string
    decision_ref?: string | undefined
  }
  evaluation: {
    evaluator: string
    subject_step_id: StepId | null
    alignment: Verdict
    quality: Verdict
    policy: Verdict
    score: number | null
    evaluation_ref: string | null
  }
  /** A person's word over a recorded verdict. */
  override: {
    author: string
    subject_step_id: StepId | null
    verdict: Verdict
    reason: string
    reason_ref?: string | undefined
  }
  /** What was found out about a run: the report is a `FindingsReport`, its pointers resolved when it was written. */
  findings: {
    author: string
    author_kind: "agent" | "person" | "judge"
    verdict: "found" | "not_found" | "unsure"
    finding_count: number
    /** The first claim. */
    summary: string
    report_ref: string
  }
  fault: {
    trigger: FaultTrigger
    detail: string
    /** Artifacts stored because of this fault; a pointer that could not be stored is named in `missing`. */
    artifact_ids: string[]
    missing?: string[] | undefined
    /**
     * Required where there is no artifact. `nothing_sent`: no model had been asked and no tool had answered in this run. `not_stored`: what there
     * was could not be written.
     */
    no_evidence?: NoEvidence | undefined
    /** Under `audit: "required"`: the run may not go on. */
    stops_run?: boolean | undefined
    requested_by?: "runtime_user" | "builder_user" | undefined
  }
  repair: {
    kind: "history" | "schema"
    before_ref: string
    /** Null when the repair failed. */
    after_ref: string | null
    outcome: "repaired" | "failed"
    attempt?: number | undefined
    max_attempts?: number | undefined
    reason?: string | undefined
  }
  process_started: {
    writer_id: string
    app_id: string
    pid: number
    thread_id: number
    runtime: string
    recorder_version: string
    capture_mode: string
  }
  process_exited: {
    writer_id: string
    /** Null when the recorder was closed while the process went on. */
    exit_code: number | null
    reason: "exit" | "uncaught_exception" | "closed"
    error_class?: string | undefined
    error_summary?: string | undefined
    /** The error with its stack and causes. Beside the reason `exit` it is one the application caught at the last door before it left. */
    error_ref?: string | undefined
    error_origin?: "uncaught_exception" | "unhandled_rejection" | undefined
    records_written: number
    records_dropped: number
    logs_sampled_out: number
  }
  process_crashed: {
    writer_id: string
    pid: number
    last_open_step_id: StepId | null
    /** What shows that the process is gone, in words. */
    evidence: string
    ended_by?: ProcessEnd | undefined
    exit_code?: number | undefined
    /** The error the process ended with, as it said itself. */
    error_class?: string | undefined
    error_summary?: string | undefined
    error_ref?: string | undefined
  }
  /** What a source knows about its own steps: notes for whoever investigates it, and rules. */
  source_diagnostics: {
    note_count: number
    detector_count: number
    diagnostics_ref: string
  }
  /**
   * What the bytes of a model call mean, read off them by the collector, where the recorder that wrote the call knows no protocol. The fields are
   * those of `model_called`, `prompt_assembled` and `model_result`; readers take them where these events are silent.
   */
  wire_derived: {
    provider: string
    model_id: string | null
    temperature: number | null
    top_p: number | null
    max_tokens: number | null
    seed: number | null
    stream: boolean
    call_signature_hash: BodyId
    wire_digest: BodyId
    shape_digest: BodyId
    canon_version: number
    prefix_fingerprint: BodyId | null
    prefix_length: number | null
    cache_use: "warm" | "real" | "unknown"
    cache_params_digest?: BodyId | undefined
    segments: Segment[]
    total_length: number
    finish_reason: string | null
    token_usage: TokenUsage
    service_tier?: string | undefined
    cache_write_1h_tokens?: number | undefined
    requested_tools?: string[] | undefined
    requested_tool_ids?: (string | null)[] | undefined
    cache_diagnosis?: {
      type: string
      missed_tokens: number | null
    } | undefined
    thinking_ms?: number | null | undefined
    output_summary?: string | undefined
    error_class?: string | undefined
    error_summary?: string | undefined
  }
}

const ActionTypeNode: SchemaNode = { is: "one_of", values: ["plan","edit","run_tests","command","open_pr","merge","deploy","api_call","message","no_op","override","other"] }
const BodyIdNode: SchemaNode = { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }
const AbsentReasonNode: SchemaNode = { is: "one_of", values: ["hashed","not_kept","pruned","redacted_later","lost"] }
const BodyMaskNode: SchemaNode = { is: "object", fields: { offset: { is: "number", int: true, min: 0 }, length: { is: "number", int: true, min: 0 }, rule: { is: "string", min: 1, max: 128 }, tag: { is: "string", min: 1, max: 128 } } }
const ArtifactRefNode: SchemaNode = { is: "object", fields: { artifact_hash: BodyIdNode, artifact_type: { is: "string", min: 1, max: 64 }, byte_size: { is: "number", int: true, min: 0 }, content_encoding: { is: "string", min: 1, max: 64 }, mime_type: { is: "string", min: 1, max: 256 }, redaction_profile: { is: "string", min: 1, max: 64 }, absent: { ...AbsentReasonNode, optional: true, since: "1.1" }, full_byte_size: { is: "number", int: true, min: 0, optional: true, since: "1.1" }, masks: { is: "list", of: BodyMaskNode, max: 64, optional: true, since: "1.1" }, mask_count: { is: "number", int: true, min: 0, optional: true, since: "1.1" } } }
const Name: SchemaNode = { is: "string", min: 1, max: 512 }
const Count: SchemaNode = { is: "number", int: true, min: 0 }
const BackupManifestNode: SchemaNode = { is: "object", fields: { schema: { is: "one_of", values: ["orangebox.backup/1"] }, made_at: { is: "string" }, runs: { is: "list", of: { is: "object", fields: { run_id: Name, status: Name, digest: { ...BodyIdNode, nullable: true } } } }, files: { is: "list", of: { is: "object", fields: { path: Name, byte_size: Count, sha256: BodyIdNode } } } } }
const BodyRef: SchemaNode = { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", bodyRef: true }
const CandidateNode: SchemaNode = { is: "object", fields: { rank: Count, chunk_id: { ...Name, nullable: true }, document_id: { ...Name, nullable: true }, score: { is: "number", nullable: true }, source_uri: { is: "string", max: 4096, nullable: true }, content_ref: { ...BodyRef, nullable: true } } }
const CandidateListNode: SchemaNode = { is: "list", of: CandidateNode }
const CaptureModeNode: SchemaNode = { is: "one_of", values: ["full","redacted","hashed"] }
const ProfileNode: SchemaNode = { is: "one_of", values: ["debug","audit"] }
const KeptBodiesNode: SchemaNode = { is: "union", says: "is none of always, on_fault, sample:N", of: [{ is: "one_of", values: ["always","on_fault"] }, { is: "string", pattern: /^sample:[1-9]\d{0,8}$/ }] }
const AuditModeNode: SchemaNode = { is: "one_of", values: ["required","best_effort"] }
const EnvironmentNode: SchemaNode = { is: "one_of", values: ["local","ci","staging","prod","unknown"] }
const RedactionRulesNode: SchemaNode = { is: "object", fields: { pii: { is: "boolean", optional: true }, publicKeys: { is: "boolean", optional: true }, deny: { is: "list", of: { is: "object", fields: { path: { is: "string", min: 1, max: 512 }, policy: { is: "one_of", values: ["redact_required","hash_only","drop"], optional: true } } }, optional: true }, allow: { is: "list", of: { is: "object", fields: { path: { is: "string", min: 1, max: 512 } } }, optional: true }, keys: { is: "list", of: { is: "object", fields: { pattern: { is: "string", min: 1, max: 4096 }, flags: { is: "string", max: 8, optional: true }, action: { is: "one_of", values: ["mask","drop","hash","allow"] } } }, optional: true }, values: { is: "list", of: { is: "object", fields: { id: { is: "string", min: 1, max: 64 }, pattern: { is: "string", min: 1, max: 4096 }, flags: { is: "string", max: 8, optional: true }, about: { is: "string", max: 240, optional: true } } }, optional: true }, safeIds: { is: "list", of: { is: "string", min: 1, max: 256 }, max: 1024, optional: true } } }
const ObjectiveNode: SchemaNode = { is: "object", fields: { name: { ...Name, optional: true }, measure: { is: "one_of", values: ["failed_runs","failed_calls","failed_tools","cost_per_run","cache_share","run_p95_ms","call_p95_ms"] }, most: { is: "number", min: 0, optional: true }, least: { is: "number", min: 0, optional: true }, days: { is: "number", int: true, min: 1, max: 366 }, app: { ...Name, optional: true } } }
const JudgeCommandNode: SchemaNode = { is: "object", fields: { command: { is: "list", of: { is: "string", min: 1 }, min: 1 }, timeoutMs: { is: "number", int: true, min: 1, optional: true } } }
const EffectClassNode: SchemaNode = { is: "one_of", values: ["pure","read","write_idempotent","write","unknown"] }
const ToolMeaningNode: SchemaNode = { is: "object", fields: { action: { ...ActionTypeNode, optional: true }, effect: { ...EffectClassNode, optional: true }, path: { is: "string", min: 1, max: 256, optional: true }, command: { is: "string", min: 1, max: 256, optional: true } } }
const FsyncPolicyNode: SchemaNode = { is: "one_of", values: ["never","interval","always"] }
const Retention: SchemaNode = { is: "object", fields: { events: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, bodies: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, snapshots: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, manifests: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, rollups: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, problems: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, journals: { is: "string", pattern: /^(?:\d{1,6}[smhdw]|forever)$/, says: "is not a time such as 12h, 30d or 2w, or forever", optional: true }, maxBodyBytes: { is: "number", int: true, min: 0, optional: true } } }
const StoreSettings: SchemaNode = { is: "object", fields: { engine: { is: "one_of", values: ["clickhouse"] }, url: { is: "string", min: 1, max: 2048 }, database: { is: "string", pattern: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/, says: "is not the name of a database" }, user: { is: "string", min: 1, max: 256, optional: true }, passwordFile: { is: "string", min: 1, max: 4096, optional: true }, caFile: { is: "string", min: 1, max: 4096, optional: true }, cluster: { is: "string", pattern: /^[A-Za-z0-9_-]{1,64}$/, says: "is not the name of a cluster", optional: true }, allowInsecure: { is: "boolean", optional: true } } }
const LevelNode: SchemaNode = { is: "one_of", values: ["debug","info","warn","error"] }
const PriceOverrideNode: SchemaNode = { is: "object", fields: { model: { is: "string", min: 1, max: 256 }, validFrom: { is: "string", pattern: /^\d{4}-\d\d-\d\d$/, says: "is not a day (2026-01-31)", optional: true }, input: { is: "number", min: 0 }, output: { is: "number", min: 0 }, cacheRead: { is: "number", min: 0, nullable: true, optional: true }, cacheWrite5m: { is: "number", min: 0, nullable: true, optional: true }, cacheWrite1h: { is: "number", min: 0, nullable: true, optional: true } } }
const CacheRuleOverride: SchemaNode = { is: "object", fields: { models: { is: "list", of: { is: "string", min: 1, max: 256 }, min: 1 }, validFrom: { is: "string", pattern: /^\d{4}-\d\d-\d\d$/, says: "is not a day (2026-01-31)", optional: true }, keeps: { is: "one_of", values: ["marked","automatic","best_effort"] }, minimumTokens: { is: "number", int: true, min: 0 }, livesSeconds: { is: "number", over: 0 }, stepTokens: { is: "number", int: true, over: 0, optional: true }, lookbackSegments: { is: "number", int: true, over: 0, optional: true } } }
const ConfigNode: SchemaNode = { is: "object", fields: { $schema: { is: "string", optional: true }, app: { is: "string", min: 1, max: 256, optional: true }, enabled: { is: "boolean", optional: true }, profile: { ...ProfileNode, optional: true }, capture: { ...CaptureModeNode, optional: true }, allowFull: { is: "boolean", optional: true }, bodies: { ...KeptBodiesNode, optional: true }, audit: { ...AuditModeNode, optional: true }, environment: { ...EnvironmentNode, optional: true }, redaction: { ...RedactionRulesNode, optional: true }, upstreams: { is: "record", keys: Name, of: { is: "http_url" }, optional: true }, checks: { is: "list", of: { is: "object", fields: { id: Name, type: { is: "one_of", values: ["style","safety","format","scope","other"] }, rule: { is: "string", max: 4096 }, severity: { is: "one_of", values: ["warn","fail"], optional: true } } }, optional: true }, objectives: { is: "list", of: ObjectiveNode, max: 100, optional: true }, judges: { is: "record", keys: Name, of: JudgeCommandNode, optional: true }, tools: { is: "record", keys: Name, of: ToolMeaningNode, optional: true }, strict: { is: "boolean", optional: true }, journal: { is: "object", fields: { fsync: { ...FsyncPolicyNode, optional: true }, maxFileBytes: { is: "number", int: true, min: 4096, optional: true }, maxFileAgeMs: { is: "number", int: true, min: 1000, optional: true }, maxTotalBytes: { is: "number", int: true, min: 65536, optional: true } }, optional: true }, retention: { ...Retention, optional: true }, store: { ...StoreSettings, optional: true }, sources: { is: "record", keys: { is: "string" }, of: { is: "object", fields: { level: { ...LevelNode, optional: true }, sample: { is: "number", int: true, min: 1, optional: true } } }, optional: true }, prices: { is: "list", of: PriceOverrideNode, optional: true }, cacheRules: { is: "list", of: CacheRuleOverride, optional: true } } }
const ConstraintNode: SchemaNode = { is: "object", fields: { id: Name, type: { is: "one_of", values: ["style","safety","format","scope","other"] }, rule: { is: "string", max: 4096 } } }
const TraceIdNode: SchemaNode = { is: "string", pattern: /^(?!0{32})[0-9a-f]{32}$/, says: "is not a trace id (32 hex digits, not all zero)" }
const RunIdNode: SchemaNode = { is: "string", pattern: /^run_[0-9A-HJKMNP-TV-Z]{26}$/, says: "is not a run id (run_ and 26 base-32 characters)" }
const StepIdNode: SchemaNode = { is: "string", pattern: /^(?!0{16})[0-9a-f]{16}$/, says: "is not a step id (16 hex digits, not all zero)" }
const ActorTypeNode: SchemaNode = { is: "one_of", values: ["sdk","backend","replay_engine"] }
const DeterminismModeNode: SchemaNode = { is: "one_of", values: ["live","exact","cached","simulated"] }
const RedactionStatusNode: SchemaNode = { is: "one_of", values: ["not_required","redacted","blocked","failed"] }
const AttributesSchema: SchemaNode = { is: "record", keys: { is: "string", max: 256 }, of: { is: "union", of: [{ is: "string" }, { is: "number" }, { is: "boolean" }, { is: "one_of", values: [null] }] } }
const AttributeMarkNode: SchemaNode = { is: "one_of", values: ["json","text","truncated","unreadable"] }
const AttributeMarks: SchemaNode = { is: "record", keys: { is: "string" }, of: AttributeMarkNode }
const LinkKindNode: SchemaNode = { is: "one_of", values: ["follows","spawned","spawned_by","caused","caused_by","delivers","mentions"] }
const LinkNode: SchemaNode = { is: "object", fields: { kind: LinkKindNode, trace_id: { ...TraceIdNode, optional: true }, run_id: { ...RunIdNode, optional: true }, step_id: { ...StepIdNode, optional: true }, reason: { is: "string", max: 1024, optional: true } } }
const ReplayReason: SchemaNode = { is: "one_of", values: ["reproduce","what_if","regression","calibrate","control"] }
const Replay: SchemaNode = { is: "object", fields: { source_run_id: RunIdNode, fork_step_id: { ...StepIdNode, nullable: true }, override_profile_id: { ...BodyIdNode, nullable: true }, replay_reason_code: ReplayReason, source_step_id: { ...StepIdNode, optional: true }, match: { is: "object", fields: { tier: { is: "string" }, occurrence: { is: "number", int: true, min: 0 }, canon_version: { is: "number", int: true } }, optional: true }, effect_class: { is: "one_of", values: ["pure","read","write_idempotent","write","unknown"], optional: true }, taint: { is: "list", of: { is: "one_of", values: ["cached","simulated","live"] }, optional: true } } }
const EnvelopeNode: SchemaNode = { is: "object", fields: { schema_version: { is: "string", pattern: /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/, says: "is not a version such as 1.1.0" }, event_id: { is: "string", pattern: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, says: "is not a UUIDv7", since: "1.1" }, trace_id: { ...TraceIdNode, nullable: true }, run_id: { ...RunIdNode, nullable: true }, step_id: { ...StepIdNode, nullable: true }, parent_step_id: { ...StepIdNode, nullable: true }, sequence_no: { is: "number", int: true, min: 0, nullable: true }, event_type: { is: "string" }, timestamp_utc: { is: "string", pattern: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?Z$/, says: "is not a UTC time (2026-01-31T12:00:00.000Z)" }, mono_us: { is: "number", int: true, min: 0, since: "1.1" }, actor_type: ActorTypeNode, determinism_mode: DeterminismModeNode, artifact_refs: { is: "list", of: ArtifactRefNode }, redaction_status: RedactionStatusNode, source: { is: "string", min: 1, max: 256, since: "1.1" }, conversation_id: { is: "string", min: 1, max: 512, optional: true, since: "1.1" }, attributes: { ...AttributesSchema, optional: true, since: "1.1" }, attribute_marks: { ...AttributeMarks, optional: true, since: "1.1" }, attributes_dropped: { is: "number", int: true, over: 0, optional: true, since: "1.1" }, links: { is: "list", of: LinkNode, optional: true, since: "1.1" }, inferred_by: { is: "string", min: 1, max: 256, optional: true, since: "1.1" }, lane_id: { is: "string", min: 1, max: 256, optional: true, since: "1.1" }, attempt_no: { is: "number", int: true, over: 0, optional: true, since: "1.1" }, replay: { ...Replay, optional: true, since: "1.1" }, problems: { is: "list", of: { is: "object", fields: { code: { is: "string" }, field: { is: "string" }, reason: { is: "string" } } }, optional: true, since: "1.1" } } }
const EventIdNode: SchemaNode = { is: "string", pattern: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, says: "is not a UUIDv7" }
const FaultTriggerNode: SchemaNode = { is: "one_of", values: ["system_error","schema_repair_failure","loop_guard_override","tool_failure","missing_pointer","debug_request"] }
const AuthorKind: SchemaNode = { is: "one_of", values: ["agent","person","judge"] }
const FindingsVerdict: SchemaNode = { is: "one_of", values: ["found","not_found","unsure"] }
const FindingConfidence: SchemaNode = { is: "one_of", values: ["proven","likely","possible"] }
const FindingEvidence: SchemaNode = { is: "object", fields: { run_id: { ...RunIdNode, optional: true }, step: Count, body: { ...Name, optional: true }, from: { ...Count, optional: true }, to: { ...Count, optional: true }, quote: { is: "string", min: 1, max: 2000, optional: true } } }
const ReportedFindingNode: SchemaNode = { is: "object", fields: { claim: { is: "string", min: 1, max: 1000 }, cause_step: Count, confidence: FindingConfidence, evidence: { is: "list", of: FindingEvidence, min: 1, max: 20 }, disproof_tried: { is: "string", max: 1000 } } }
const FindingsReportNode: SchemaNode = { is: "object", fields: { schema: { is: "one_of", values: ["orangebox.findings/1"], optional: true }, run_id: { ...RunIdNode, optional: true }, author: Name, author_kind: AuthorKind, verdict: FindingsVerdict, findings: { is: "list", of: ReportedFindingNode, max: 20 } } }
const RecordV0Node: SchemaNode = { is: "union", by: "kind", of: [{ is: "object", others: "dropped", fields: { schema_version: { is: "string" }, seq: { is: "number", int: true, min: 0 }, extensionId: { is: "string", min: 1, max: 256 }, conversationId: { is: "string", max: 512, optional: true }, turnId: { is: "string", min: 1 }, spanId: { is: "string", min: 1 }, parentSpanId: { is: "string", min: 1, optional: true }, timestamp: { is: "number", min: 0, max: 253402300799999 }, attributes: { ...AttributesSchema, optional: true }, body: { is: "string", optional: true }, kind: { is: "one_of", values: ["log"] }, level: LevelNode, msg: { is: "string" } } }, { is: "object", others: "dropped", fields: { schema_version: { is: "string" }, seq: { is: "number", int: true, min: 0 }, extensionId: { is: "string", min: 1, max: 256 }, conversationId: { is: "string", max: 512, optional: true }, turnId: { is: "string", min: 1 }, spanId: { is: "string", min: 1 }, parentSpanId: { is: "string", min: 1, optional: true }, timestamp: { is: "number", min: 0, max: 253402300799999 }, attributes: { ...AttributesSchema, optional: true }, body: { is: "string", optional: true }, kind: { is: "one_of", values: ["span-open"] }, name: { is: "string", min: 1, max: 512 } } }, { is: "object", others: "dropped", fields: { schema_version: { is: "string" }, seq: { is: "number", int: true, min: 0 }, extensionId: { is: "string", min: 1, max: 256 }, conversationId: { is: "string", max: 512, optional: true }, turnId: { is: "string", min: 1 }, spanId: { is: "string", min: 1 }, parentSpanId: { is: "string", min: 1, optional: true }, timestamp: { is: "number", min: 0, max: 253402300799999 }, attributes: { ...AttributesSchema, optional: true }, body: { is: "string", optional: true }, kind: { is: "one_of", values: ["span-close"] }, durationMs: { is: "number", min: 0 }, error: { is: "string", optional: true } } }] }
const SignedStatementNode: SchemaNode = { is: "object", fields: { schema: { is: "one_of", values: ["orangebox.signature/1"] }, run_id: RunIdNode, digest: BodyIdNode, status: Name, events: Count, gaps: { is: "record", keys: { is: "string" }, of: Count }, certificate: { ...BodyIdNode, nullable: true }, signed_at: { is: "string" }, key: BodyIdNode, place: Count, previous: { ...BodyIdNode, nullable: true } } }
const RunSignatureNode: SchemaNode = { is: "object", fields: { statement: SignedStatementNode, signature: { is: "string", max: 120 } } }
const StepSelectorNode: SchemaNode = { is: "object", fields: { kind: { ...Name, optional: true }, name: { ...Name, optional: true }, status: { is: "one_of", values: ["success","error","timeout","open"], optional: true }, source: { ...Name, optional: true } } }
const SourceDetectorNode: SchemaNode = { is: "object", fields: { id: Name, says: { is: "string", min: 1, max: 300 }, severity: { is: "one_of", values: ["harm","waste","notice"] }, of: StepSelectorNode, count: { is: "object", fields: { by: { is: "list", of: Name, min: 1, max: 4 }, more_than: Count, exceeding: { ...StepSelectorNode, optional: true } }, optional: true }, missing: { is: "object", fields: { without: StepSelectorNode, by: Name }, optional: true }, mismatch: { is: "object", fields: { attribute: Name, other: Name, in: { ...StepSelectorNode, optional: true }, by: { ...Name, optional: true } }, optional: true }, threshold: { is: "object", fields: { attribute: Name, above: { is: "number" } }, optional: true } } }
const SourceDiagnosticsNode: SchemaNode = { is: "object", fields: { notes: { is: "list", of: { is: "string", min: 1, max: 1000 }, max: 20 }, detectors: { is: "list", of: SourceDetectorNode, max: 50 } } }
const VerdictNode: SchemaNode = { is: "one_of", values: ["pass","warn","fail","unknown"] }
const Summary: SchemaNode = { is: "string", max: 512 }
const Version: SchemaNode = { is: "string", max: 256 }
const Commit: SchemaNode = { is: "string", pattern: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/ }
const LatencyMs: SchemaNode = { is: "number", min: 0 }
const StatusNode: SchemaNode = { is: "one_of", values: ["success","timeout","error","partial"] }
const TokenUsageNode: SchemaNode = { is: "object", fields: { prompt: { ...Count, nullable: true }, completion: { ...Count, nullable: true }, total: { ...Count, nullable: true }, cache_read: { ...Count, nullable: true, optional: true, since: "1.1" }, cache_write: { ...Count, nullable: true, optional: true, since: "1.1" }, reasoning: { ...Count, nullable: true, optional: true, since: "1.1" } } }
const SegmentKind: SchemaNode = { is: "one_of", values: ["persona","tool-def","skill","agent-profile","history","user-msg","other"] }
const SegmentNode: SchemaNode = { is: "object", fields: { contributor: Name, kind: SegmentKind, role: { is: "string", max: 64, nullable: true }, length: Count, tokens: { ...Count, nullable: true, optional: true }, segment_hash: { ...BodyIdNode, optional: true }, content_ref: { ...BodyRef, optional: true }, message: { ...Count, optional: true, since: "1.2" }, part: { ...Count, optional: true, since: "1.2" }, mark: { is: "object", fields: { ttl: { is: "string", max: 64, nullable: true } }, optional: true, since: "1.2" }, canonical_hash: { ...BodyIdNode, optional: true, since: "1.2" }, media_hash: { ...BodyIdNode, optional: true, since: "1.2" }, stable_hash: { ...BodyIdNode, optional: true, since: "1.2" }, volatile: { is: "list", of: { is: "object", fields: { kind: { is: "one_of", values: ["time","epoch","uuid","hex","counter","temp_path"] }, start: Count, length: Count } }, optional: true, since: "1.2" }, volatile_count: { ...Count, optional: true, since: "1.2" }, tool_call_id: { ...Name, optional: true, since: "1.2" }, is_error: { is: "boolean", optional: true, since: "1.2" } } }
const ArtifactType: SchemaNode = { is: "one_of", values: ["file_edit","command","test_run","pr","commit","diff","prompt_snapshot","tool_output_snapshot","answer_snapshot","workspace_snapshot","other"] }
const NoEvidenceNode: SchemaNode = { is: "one_of", values: ["nothing_sent","not_stored"] }
const ProcessEndNode: SchemaNode = { is: "one_of", values: ["uncaught_exception","unhandled_rejection","exit","closed","gone"] }
export const ActionType = new WordSchema<ActionType>(ActionTypeNode)
export const ArtifactRef = new ObjectSchema<ArtifactRef>(ArtifactRefNode)
export const BackupManifest = new ObjectSchema<BackupManifest>(BackupManifestNode)
export const BodyId = new Schema<BodyId>(BodyIdNode)
export const CandidateList = new Schema<CandidateList>(CandidateListNode)
export const CaptureMode = new WordSchema<CaptureMode>(CaptureModeNode)
export const Config = new ObjectSchema<Config>(ConfigNode)
export const Constraint = new ObjectSchema<Constraint>(ConstraintNode)
export const EffectClass = new WordSchema<EffectClass>(EffectClassNode)
export const Envelope = new ObjectSchema<Envelope>(EnvelopeNode)
export const Environment = new WordSchema<Environment>(EnvironmentNode)
export const EventId = new Schema<EventId>(EventIdNode)
export const FaultTrigger = new WordSchema<FaultTrigger>(FaultTriggerNode)
export const FindingsReport = new ObjectSchema<FindingsReport>(FindingsReportNode)
export const RecordV0 = new Schema<RecordV0>(RecordV0Node)
export const RunId = new Schema<RunId>(RunIdNode)
export const RunSignature = new ObjectSchema<RunSignature>(RunSignatureNode)
export const SourceDiagnostics = new ObjectSchema<SourceDiagnostics>(SourceDiagnosticsNode)
export const StepId = new Schema<StepId>(StepIdNode)
export const TraceId = new Schema<TraceId>(TraceIdNode)
export const Verdict = new WordSchema<Verdict>(VerdictNode)
export const CATALOG: { readonly [Type in keyof Payloads]: EventDefinition<Type, Payloads[Type]> } = {
  run_started: { "type":"run_started","mayAnnotate":false,"since":"1.0","role":{"does":"opens","step":"run"}, payload: new ObjectSchema({ is: "object", fields: { app_id: Name, environment: EnvironmentNode, entrypoint_name: Name, user_session_ref: { ...BodyIdNode, nullable: true }, input_summary: { ...Summary, nullable: true, optional: true }, input_summary_ref: { ...BodyRef, optional: true }, agent_id: { ...Name, optional: true, since: "1.1" }, agent_version: { ...Version, optional: true, since: "1.1" }, request_id: { ...Name, optional: true, since: "1.1" }, constraints: { is: "list", of: ConstraintNode, optional: true, since: "1.1" }, channel: { ...Name, optional: true, since: "1.1" }, repo: { ...Name, optional: true, since: "1.1" }, branch: { ...Name, optional: true, since: "1.1" }, commit: { ...Commit, optional: true, since: "1.2" }, is_dirty: { is: "boolean", optional: true, since: "1.2" }, ticket_id: { ...Name, optional: true, since: "1.1" }, capture_mode: { ...CaptureModeNode, optional: true, since: "1.1" }, kept_bodies: { ...KeptBodiesNode, optional: true, since: "1.2" }, audit: { ...AuditModeNode, optional: true, since: "1.2" } } }) },
  input_received: { "type":"input_received","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { input_channels: { is: "list", of: Name }, input_hash: BodyIdNode, input_policy_labels: { is: "list", of: Name }, input_ref: { ...BodyRef, optional: true, since: "1.1" }, input_summary: { ...Summary, optional: true, since: "1.1" } } }) },
  prompt_rendered: { "type":"prompt_rendered","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { prompt_template_id: { ...Name, nullable: true }, prompt_template_version: { ...Version, nullable: true }, prompt_variables_ref: { ...BodyRef, nullable: true }, rendered_prompt_ref: BodyRef, system_message_ref: { ...BodyRef, optional: true } } }) },
  retrieval_executed: { "type":"retrieval_executed","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { retriever_id: Name, retriever_version: { ...Version, nullable: true }, query_text_ref: BodyRef, top_k: { ...Count, nullable: true }, filters: { is: "record", keys: { is: "string" }, of: { is: "union", of: [{ is: "string" }, { is: "number" }, { is: "boolean" }, { is: "one_of", values: [null] }] } }, candidate_count: Count, candidate_list_ref: BodyRef, call_signature_hash: { ...BodyIdNode, optional: true, since: "1.1" }, latency_ms: { ...LatencyMs, optional: true, since: "1.1" }, status: { ...StatusNode, optional: true, since: "1.1" } } }) },
  tool_called: { "type":"tool_called","mayAnnotate":false,"since":"1.0","role":{"does":"opens","step":"tool"}, payload: new ObjectSchema({ is: "object", fields: { tool_name: Name, tool_version: { ...Version, nullable: true }, call_signature_hash: BodyIdNode, args_ref: BodyRef, timeout_ms: { ...LatencyMs, nullable: true }, tool_call_id: { ...Name, optional: true, since: "1.1" }, args_summary: { ...Summary, optional: true, since: "1.1" }, canon_version: { ...Count, optional: true, since: "1.1" }, effect_class: { ...EffectClassNode, optional: true, since: "1.1" } } }) },
  tool_result: { "type":"tool_result","mayAnnotate":false,"since":"1.0","role":{"does":"closes","step":"tool"}, payload: new ObjectSchema({ is: "object", fields: { tool_name: Name, status: StatusNode, result_ref: { ...BodyRef, nullable: true }, error_class: { ...Name, nullable: true }, error_message_ref: { ...BodyRef, nullable: true }, latency_ms: LatencyMs, tool_call_id: { ...Name, optional: true, since: "1.1" }, exit_code: { is: "number", int: true, optional: true, since: "1.1" }, result_summary: { ...Summary, optional: true, since: "1.1" }, error_summary: { ...Summary, optional: true, since: "1.1" }, told_model: { is: "object", fields: { is_error: { is: "boolean", nullable: true }, ref: { ...BodyRef, nullable: true } }, optional: true, since: "1.2" } } }) },
  model_called: { "type":"model_called","mayAnnotate":false,"since":"1.0","role":{"does":"opens","step":"model"}, payload: new ObjectSchema({ is: "object", fields: { provider: Name, model_id: { ...Name, nullable: true }, model_api_version: { ...Version, nullable: true }, temperature: { is: "number", nullable: true }, top_p: { is: "number", nullable: true }, max_tokens: { ...Count, nullable: true }, seed: { is: "number", nullable: true, optional: true }, request_ref: BodyRef, capture_mode: { ...CaptureModeNode, optional: true, since: "1.1" }, stream: { is: "boolean", optional: true, since: "1.1" }, call_signature_hash: { ...BodyIdNode, optional: true, since: "1.1" }, wire_digest: { ...BodyIdNode, optional: true, since: "1.1" }, shape_digest: { ...BodyIdNode, optional: true, since: "1.1" }, canon_version: { ...Count, optional: true, since: "1.1" }, prefix_fingerprint: { ...BodyIdNode, nullable: true, optional: true, since: "1.1" }, prefix_length: { ...Count, nullable: true, optional: true, since: "1.1" }, cache_use: { is: "one_of", values: ["warm","real","unknown"], optional: true, since: "1.1" }, cache_params_digest: { ...BodyIdNode, optional: true, since: "1.2" }, cache_key_tag: { ...Name, optional: true, since: "1.2" }, account_tag: { ...Name, optional: true, since: "1.2" }, prompt_account: { is: "object", fields: { prompt: { is: "one_of", values: ["whole","split","inside","elsewhere","missing"] }, delivery: { is: "one_of", values: ["verbatim","context_injected","incomplete","unknown"] }, missing_items: { is: "list", of: Count, max: 1000, optional: true }, beside: { is: "list", of: { is: "object", fields: { what: { is: "one_of", values: ["system","turn","text","tools","provider","settings"] }, where: { is: "one_of", values: ["before","after","beside"] }, count: Count, length: { ...Count, nullable: true } } } } }, optional: true, since: "1.2" }, http_method: { is: "string", max: 32, optional: true, since: "1.1" }, url: { is: "string", max: 8192, optional: true, since: "1.1" }, request_headers_ref: { ...BodyRef, optional: true, since: "1.1" } } }) },
  model_result: { "type":"model_result","mayAnnotate":false,"since":"1.0","role":{"does":"closes","step":"model"}, payload: new ObjectSchema({ is: "object", fields: { provider: Name, model_id: { ...Name, nullable: true }, finish_reason: { ...Name, nullable: true }, token_usage: TokenUsageNode, response_ref: { ...BodyRef, nullable: true }, latency_ms: LatencyMs, status: { ...StatusNode, optional: true, since: "1.1" }, http_status: { is: "number", int: true, min: 100, max: 999, nullable: true, optional: true, since: "1.1" }, error_class: { ...Name, nullable: true, optional: true, since: "1.1" }, error_ref: { ...BodyRef, nullable: true, optional: true, since: "1.1" }, error_summary: { ...Summary, optional: true, since: "1.1" }, first_byte_ms: { ...LatencyMs, nullable: true, optional: true, since: "1.1" }, thinking_ms: { ...LatencyMs, nullable: true, optional: true, since: "1.1" }, usage_ref: { ...BodyRef, optional: true, since: "1.1" }, service_tier: { ...Name, optional: true, since: "1.1" }, cache_write_1h_tokens: { ...Count, optional: true, since: "1.1" }, response_headers_ref: { ...BodyRef, optional: true, since: "1.1" }, stream_index_ref: { ...BodyRef, optional: true, since: "1.1" }, stream_end: { is: "one_of", values: ["complete","client_abort","upstream_reset","timeout"], optional: true, since: "1.1" }, provider_request_id: { ...Name, optional: true, since: "1.1" }, output_summary: { ...Summary, optional: true, since: "1.1" }, requested_tools: { is: "list", of: Name, optional: true, since: "1.1" }, requested_tool_ids: { is: "list", of: { ...Name, nullable: true }, optional: true, since: "1.2" }, cache_diagnosis: { is: "object", fields: { type: Name, missed_tokens: { ...Count, nullable: true } }, optional: true, since: "1.2" }, stored_bytes: { ...Count, optional: true, since: "1.1" } } }) },
  validator_decision: { "type":"validator_decision","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { validator_name: Name, validator_version: { ...Version, nullable: true }, decision: { is: "one_of", values: ["pass","fail","warn"] }, reason_ref: { ...BodyRef, nullable: true } } }) },
  safety_decision: { "type":"safety_decision","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { policy_name: Name, policy_version: { ...Version, nullable: true }, decision: { is: "one_of", values: ["allow","block","redact","escalate"] }, reason_ref: { ...BodyRef, nullable: true } } }) },
  final_output: { "type":"final_output","mayAnnotate":false,"since":"1.0","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { output_ref: BodyRef, citations_ref: { ...BodyRef, optional: true }, response_channel: { ...Name, nullable: true }, output_summary: { ...Summary, optional: true, since: "1.1" } } }) },
  run_completed: { "type":"run_completed","mayAnnotate":false,"since":"1.0","role":{"does":"closes","step":"run"}, payload: new ObjectSchema({ is: "object", fields: { status: { is: "one_of", values: ["success"] }, total_steps: { ...Count, nullable: true }, total_latency_ms: LatencyMs, exit_code: { is: "number", int: true, optional: true, since: "1.2" }, stdout_bytes: { ...Count, optional: true, since: "1.2" }, stdout_ref: { ...BodyRef, optional: true, since: "1.2" }, stdout_digest: { ...Name, optional: true, since: "1.2" } } }) },
  run_failed: { "type":"run_failed","mayAnnotate":false,"since":"1.0","role":{"does":"closes","step":"run"}, payload: new ObjectSchema({ is: "object", fields: { status: { is: "one_of", values: ["failed"] }, failed_step_id: { ...StepIdNode, nullable: true }, error_class: Name, error_message_ref: { ...BodyRef, nullable: true }, error_summary: { ...Summary, optional: true, since: "1.1" }, exit_code: { is: "number", int: true, optional: true, since: "1.2" }, signal: { ...Name, optional: true, since: "1.2" }, stdout_bytes: { ...Count, optional: true, since: "1.2" }, stdout_ref: { ...BodyRef, optional: true, since: "1.2" }, stdout_digest: { ...Name, optional: true, since: "1.2" }, total_steps: { ...Count, optional: true, since: "1.1" }, total_latency_ms: { ...LatencyMs, optional: true, since: "1.1" } } }) },
  step_started: { "type":"step_started","mayAnnotate":false,"since":"1.1","role":{"does":"opens","step":"step"}, payload: new ObjectSchema({ is: "object", fields: { name: Name, kind: { ...Name, optional: true }, body_ref: { ...BodyRef, optional: true } } }) },
  step_ended: { "type":"step_ended","mayAnnotate":false,"since":"1.1","role":{"does":"closes","step":"step"}, payload: new ObjectSchema({ is: "object", fields: { status: StatusNode, latency_ms: LatencyMs, error_class: { ...Name, optional: true }, error_ref: { ...BodyRef, optional: true }, error_summary: { ...Summary, optional: true }, body_ref: { ...BodyRef, optional: true } } }) },
  log: { "type":"log","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { level: LevelNode, message: { is: "string", max: 8192 }, message_ref: { ...BodyRef, optional: true }, error_class: { ...Name, optional: true }, error_summary: { ...Summary, optional: true }, error_ref: { ...BodyRef, optional: true }, body_ref: { ...BodyRef, optional: true } } }) },
  link_added: { "type":"link_added","mayAnnotate":false,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { link: LinkNode } }) },
  attributes_set: { "type":"attributes_set","mayAnnotate":false,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: {  } }) },
  prompt_assembled: { "type":"prompt_assembled","mayAnnotate":false,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { segments: { is: "list", of: SegmentNode }, total_length: Count, token_budget: { ...Count, nullable: true, optional: true }, excluded_count: { ...Count, optional: true }, total_tokens: { ...Count, nullable: true, optional: true, since: "1.2" } } }) },
  context_manifest: { "type":"context_manifest","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { manifest_ref: BodyRef, snapshot_id: Name, revision: Count, included_count: { ...Count, nullable: true }, excluded_count: { ...Count, nullable: true }, prefix_hash: { ...BodyIdNode, nullable: true }, prefix_length: { ...Count, nullable: true } } }) },
  artifact_recorded: { "type":"artifact_recorded","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { artifact_id: Name, artifact_type: ArtifactType, summary: Summary, content_ref: { ...BodyRef, nullable: true }, hash: BodyIdNode, size_bytes: Count, withheld_bytes: { ...Count, optional: true, since: "1.2" }, path: { is: "string", max: 4096, pattern: /^(?!\/|[A-Za-z]:[\\/])/, says: "must be relative to the workspace", nullable: true }, lines_added: { ...Count, nullable: true, optional: true }, lines_removed: { ...Count, nullable: true, optional: true }, net_lines_added: { ...Count, nullable: true, optional: true, since: "1.2" }, net_lines_removed: { ...Count, nullable: true, optional: true, since: "1.2" }, exit_code: { is: "number", int: true, nullable: true, optional: true } } }) },
  decision: { "type":"decision","mayAnnotate":false,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { action_type: ActionTypeNode, action_summary: Summary, decision_ref: { ...BodyRef, optional: true } } }) },
  evaluation: { "type":"evaluation","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { evaluator: Name, subject_step_id: { ...StepIdNode, nullable: true }, alignment: VerdictNode, quality: VerdictNode, policy: VerdictNode, score: { is: "number", nullable: true }, evaluation_ref: { ...BodyRef, nullable: true } } }) },
  override: { "type":"override","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { author: Name, subject_step_id: { ...StepIdNode, nullable: true }, verdict: VerdictNode, reason: Summary, reason_ref: { ...BodyRef, optional: true } } }) },
  findings: { "type":"findings","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { author: Name, author_kind: AuthorKind, verdict: FindingsVerdict, finding_count: Count, summary: Summary, report_ref: BodyRef } }) },
  fault: { "type":"fault","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { trigger: FaultTriggerNode, detail: Summary, artifact_ids: { is: "list", of: Name }, missing: { is: "list", of: Name, optional: true }, no_evidence: { ...NoEvidenceNode, optional: true, since: "1.2" }, stops_run: { is: "boolean", optional: true, since: "1.2" }, requested_by: { is: "one_of", values: ["runtime_user","builder_user"], optional: true } } }) },
  repair: { "type":"repair","mayAnnotate":false,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { kind: { is: "one_of", values: ["history","schema"] }, before_ref: BodyRef, after_ref: { ...BodyRef, nullable: true }, outcome: { is: "one_of", values: ["repaired","failed"] }, attempt: { ...Count, optional: true }, max_attempts: { ...Count, optional: true }, reason: { ...Summary, optional: true } } }) },
  process_started: { "type":"process_started","mayAnnotate":false,"since":"1.1","role":{"does":"process"}, payload: new ObjectSchema({ is: "object", fields: { writer_id: Name, app_id: Name, pid: { is: "number", int: true, min: 0 }, thread_id: { is: "number", int: true, min: 0 }, runtime: Name, recorder_version: Name, capture_mode: Name } }) },
  process_exited: { "type":"process_exited","mayAnnotate":false,"since":"1.1","role":{"does":"process"}, payload: new ObjectSchema({ is: "object", fields: { writer_id: Name, exit_code: { is: "number", int: true, nullable: true }, reason: { is: "one_of", values: ["exit","uncaught_exception","closed"] }, error_class: { ...Name, optional: true }, error_summary: { ...Summary, optional: true }, error_ref: { ...BodyRef, optional: true, since: "1.2" }, error_origin: { is: "one_of", values: ["uncaught_exception","unhandled_rejection"], optional: true, since: "1.2" }, records_written: Count, records_dropped: Count, logs_sampled_out: Count } }) },
  process_crashed: { "type":"process_crashed","mayAnnotate":true,"since":"1.1","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { writer_id: Name, pid: { is: "number", int: true, min: 0 }, last_open_step_id: { ...StepIdNode, nullable: true }, evidence: Summary, ended_by: { ...ProcessEndNode, optional: true, since: "1.2" }, exit_code: { is: "number", int: true, optional: true, since: "1.2" }, error_class: { ...Name, optional: true, since: "1.2" }, error_summary: { ...Summary, optional: true, since: "1.2" }, error_ref: { ...BodyRef, optional: true, since: "1.2" } } }) },
  source_diagnostics: { "type":"source_diagnostics","mayAnnotate":false,"since":"1.1","role":{"does":"process"}, payload: new ObjectSchema({ is: "object", fields: { note_count: Count, detector_count: Count, diagnostics_ref: BodyRef } }) },
  wire_derived: { "type":"wire_derived","mayAnnotate":true,"since":"1.2","role":{"does":"within"}, payload: new ObjectSchema({ is: "object", fields: { provider: Name, model_id: { ...Name, nullable: true }, temperature: { is: "number", nullable: true }, top_p: { is: "number", nullable: true }, max_tokens: { ...Count, nullable: true }, seed: { is: "number", nullable: true }, stream: { is: "boolean" }, call_signature_hash: BodyIdNode, wire_digest: BodyIdNode, shape_digest: BodyIdNode, canon_version: Count, prefix_fingerprint: { ...BodyIdNode, nullable: true }, prefix_length: { ...Count, nullable: true }, cache_use: { is: "one_of", values: ["warm","real","unknown"] }, cache_params_digest: { ...BodyIdNode, optional: true }, segments: { is: "list", of: SegmentNode }, total_length: Count, finish_reason: { ...Name, nullable: true }, token_usage: TokenUsageNode, service_tier: { ...Name, optional: true }, cache_write_1h_tokens: { ...Count, optional: true }, requested_tools: { is: "list", of: Name, optional: true }, requested_tool_ids: { is: "list", of: { ...Name, nullable: true }, optional: true }, cache_diagnosis: { is: "object", fields: { type: Name, missed_tokens: { ...Count, nullable: true } }, optional: true }, thinking_ms: { ...LatencyMs, nullable: true, optional: true }, output_summary: { ...Summary, optional: true }, error_class: { ...Name, optional: true }, error_summary: { ...Summary, optional: true } } }) },
}
