import { z } from "zod"
import { defineEvent, within } from "../define-event.js"
import { Count, Digest, LatencyMs, Name, Summary, TokenUsage } from "../fields.js"
import { Segment } from "./prompt-assembled.js"

/**
 * What the bytes of a model call mean, read off them by the collector, where the recorder that wrote the call knows no protocol. The fields are
 * those of `model_called`, `prompt_assembled` and `model_result`; readers take them where these events are silent.
 */
export const WireDerived = defineEvent("wire_derived", {
  since: "1.2",
  role: within,
  mayAnnotate: true,
  payload: {
    provider: Name,
    model_id: Name.nullable(),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    max_tokens: Count.nullable(),
    seed: z.number().nullable(),
    stream: z.boolean(),
    call_signature_hash: Digest,
    wire_digest: Digest,
    shape_digest: Digest,
    canon_version: Count,
    prefix_fingerprint: Digest.nullable(),
    prefix_length: Count.nullable(),
    cache_use: z.enum(["warm", "real", "unknown"]),
    cache_params_digest: Digest.optional(),
    segments: z.array(Segment),
    total_length: Count,
    finish_reason: Name.nullable(),
    token_usage: TokenUsage,
    service_tier: Name.optional(),
    cache_write_1h_tokens: Count.optional(),
    requested_tools: z.array(Name).optional(),
    requested_tool_ids: z.array(Name.nullable()).optional(),
    cache_diagnosis: z.strictObject({ type: Name, missed_tokens: Count.nullable() }).optional(),
    thinking_ms: LatencyMs.nullable().optional(),
    output_summary: Summary.optional(),
    error_class: Name.optional(),
    error_summary: Summary.optional(),
  },
})
