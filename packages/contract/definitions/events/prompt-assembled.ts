import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Count, Digest, Name } from "../fields.js"

export const SegmentKind = z.enum(["persona", "tool-def", "skill", "agent-profile", "history", "user-msg", "other"])

/** A value that comes out different by itself, and where it stands: in bytes of the segment without its cache mark. */
export const VolatileSpan = z.strictObject({
  kind: z.enum(["time", "epoch", "uuid", "hex", "counter", "temp_path"]),
  start: Count,
  length: Count,
})

export const Segment = z.strictObject({
  contributor: Name,
  kind: SegmentKind,
  role: z.string().max(64).nullable(),
  length: Count,
  tokens: Count.nullable().optional(),
  segment_hash: Digest.optional(),
  content_ref: BodyRef.optional(),
  /** Which message of the request it belongs to, and which part of it; tools and a system prompt that stands apart are in none. */
  message: added(Count.optional(), "1.2"),
  part: added(Count.optional(), "1.2"),
  /** There when the request asks to cache up to and including this segment; a null ttl is the provider's own. */
  mark: added(z.strictObject({ ttl: z.string().max(64).nullable() }).optional(), "1.2"),
  /** Equal for equal values whatever the order of their keys, also of JSON inside a text. */
  canonical_hash: added(Digest.optional(), "1.2"),
  /** Of the bytes it carries, decoded. */
  media_hash: added(Digest.optional(), "1.2"),
  /** Of the segment with its volatile values taken out; there when it has any. */
  stable_hash: added(Digest.optional(), "1.2"),
  volatile: added(z.array(VolatileSpan).optional(), "1.2"),
  /** How many there are, where not all are listed. */
  volatile_count: added(Count.optional(), "1.2"),
  /** Tool calls and results: what ties them together, and whether the model is told that the tool failed. */
  tool_call_id: added(Name.optional(), "1.2"),
  is_error: added(z.boolean().optional(), "1.2"),
})

/** What the prompt was made of, in the order in which it was sent. */
export const PromptAssembled = defineEvent("prompt_assembled", {
  since: "1.1",
  role: within,
  payload: {
    segments: z.array(Segment),
    total_length: Count,
    token_budget: Count.nullable().optional(),
    excluded_count: Count.optional(),
    /** The whole as it was counted: counts of parts do not always add up to it. */
    total_tokens: added(Count.nullable().optional(), "1.2"),
  },
})
