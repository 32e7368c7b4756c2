import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Count, Digest, Name } from "../fields.js"

export const SegmentKind = z.enum(["persona", "tool-def", "skill", "agent-profile", "history", "user-msg", "other"])

export const Segment = z.strictObject({
  contributor: Name,
  kind: SegmentKind,
  role: z.string().max(64).nullable(),
  length: Count,
  tokens: Count.nullable().optional(),
  segment_hash: Digest.optional(),
  content_ref: BodyRef.optional(),
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
  },
})
