import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, closes, defineEvent } from "../define-event.js"
import { Count, LatencyMs, Name, Status, Summary, TokenUsage } from "../fields.js"

export const ModelResult = defineEvent("model_result", {
  since: "1.0",
  role: closes("model"),
  payload: {
    provider: Name,
    model_id: Name.nullable(),
    finish_reason: Name.nullable(),
    token_usage: TokenUsage,
    /** Null when no answer came. */
    response_ref: BodyRef.nullable(),
    latency_ms: LatencyMs,
    status: added(Status.optional()),
    http_status: added(z.number().int().min(100).max(999).nullable().optional()),
    error_class: added(Name.nullable().optional()),
    error_ref: added(BodyRef.nullable().optional()),
    error_summary: added(Summary.optional()),
    first_byte_ms: added(LatencyMs.nullable().optional()),
    thinking_ms: added(LatencyMs.nullable().optional()),
    /** The provider's own usage object, as it was sent. */
    usage_ref: added(BodyRef.optional()),
    /** What the price depends on beside the counts: the tier the call was served from, and cache writes that live for an hour. */
    service_tier: added(Name.optional()),
    cache_write_1h_tokens: added(Count.optional()),
    response_headers_ref: added(BodyRef.optional()),
    stream_index_ref: added(BodyRef.optional()),
    stream_end: added(z.enum(["complete", "client_abort", "upstream_reset", "timeout"]).optional()),
    provider_request_id: added(Name.optional()),
    output_summary: added(Summary.optional()),
    /** Names of the tools the model asked for, in order. */
    requested_tools: added(z.array(Name).optional()),
    /** The ids of these calls, in the same order; null for one that has none. */
    requested_tool_ids: added(z.array(Name.nullable()).optional(), "1.2"),
    /** Why its cache did not serve all of the prompt, in the provider's own words. */
    cache_diagnosis: added(z.strictObject({ type: Name, missed_tokens: Count.nullable() }).optional(), "1.2"),
    stored_bytes: added(Count.optional()),
  },
})
