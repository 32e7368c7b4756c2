import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, opens } from "../define-event.js"
import { CaptureMode, Count, Digest, Name, Version } from "../fields.js"

export const PromptAccount = z.strictObject({
  prompt: z.enum(["whole", "split", "inside", "elsewhere", "missing"]),
  /** `context_injected`: the model reads something that did not come from the compiler. `incomplete`: it does not, and lacks told items. */
  delivery: z.enum(["verbatim", "context_injected", "incomplete", "unknown"]),
  /** The told items that the request does not hold, by their place among them, from 0. */
  missing_items: z.array(Count).max(1000).optional(),
  beside: z.array(
    z.strictObject({
      what: z.enum(["system", "turn", "text", "tools", "provider", "settings"]),
      where: z.enum(["before", "after", "beside"]),
      count: Count,
      length: Count.nullable(),
    }),
  ),
})

export const ModelCalled = defineEvent("model_called", {
  since: "1.0",
  role: opens("model"),
  payload: {
    provider: Name,
    model_id: Name.nullable(),
    model_api_version: Version.nullable(),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    max_tokens: Count.nullable(),
    seed: z.number().nullable().optional(),
    request_ref: BodyRef,
    capture_mode: added(CaptureMode.optional()),
    stream: added(z.boolean().optional()),
    call_signature_hash: added(Digest.optional()),
    wire_digest: added(Digest.optional()),
    shape_digest: added(Digest.optional()),
    canon_version: added(Count.optional()),
    /** Hash and length of the request up to its last cache mark. */
    prefix_fingerprint: added(Digest.nullable().optional()),
    prefix_length: added(Count.nullable().optional()),
    cache_use: added(z.enum(["warm", "real", "unknown"]).optional()),
    /** Of the settings that decide whether a cached prefix may be used: tool choice, thinking, beta headers and the like. */
    cache_params_digest: added(Digest.optional(), "1.2"),
    /** Keyed tags: equal for the same cache key, and for the same credentials. */
    cache_key_tag: added(Name.optional(), "1.2"),
    account_tag: added(Name.optional(), "1.2"),
    /** Where the prompt that was compiled for this call stands in its request, and what stands beside it; there when one was. */
    prompt_account: added(PromptAccount.optional(), "1.2"),
    http_method: added(z.string().max(32).optional()),
    url: added(z.string().max(8192).optional()),
    request_headers_ref: added(BodyRef.optional()),
  },
})
