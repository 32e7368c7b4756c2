import { z } from "zod"
import { RunId, StepId, TraceId } from "./ids.js"

/**
 * A causal edge. Nesting is `parent_step_id`; everything else that caused something is a link.
 *
 * `follows` the previous causal step · `spawned` / `spawned_by` a sub-agent's run · `caused` / `caused_by` a queued message and the run it
 * led to · `delivers` a delivery and its enqueue · `mentions` anything a caller wants to point at.
 */
export const LinkKind = z.enum(["follows", "spawned", "spawned_by", "caused", "caused_by", "delivers", "mentions"])

export const Link = z.strictObject({
  kind: LinkKind,
  trace_id: TraceId.optional(),
  run_id: RunId.optional(),
  step_id: StepId.optional(),
  reason: z.string().max(1024).optional(),
})
