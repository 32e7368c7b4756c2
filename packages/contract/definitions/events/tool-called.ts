import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, opens } from "../define-event.js"
import { Count, Digest, LatencyMs, Name, Summary, Version } from "../fields.js"

/** What running a tool again would do to the world. */
export const EffectClass = z.enum(["pure", "read", "write_idempotent", "write", "unknown"])

export const ToolCalled = defineEvent("tool_called", {
  since: "1.0",
  role: opens("tool"),
  payload: {
    tool_name: Name,
    tool_version: Version.nullable(),
    call_signature_hash: Digest,
    args_ref: BodyRef,
    timeout_ms: LatencyMs.nullable(),
    tool_call_id: added(Name.optional()),
    args_summary: added(Summary.optional()),
    canon_version: added(Count.optional()),
    effect_class: added(EffectClass.optional()),
  },
})
