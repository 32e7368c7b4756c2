import { z } from "zod"
import { added, defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"

export const FaultTrigger = z.enum([
  "system_error",
  "schema_repair_failure",
  "loop_guard_override",
  "tool_failure",
  "missing_pointer",
  "debug_request",
])

/** Why a fault has no artifact at all. */
export const NoEvidence = z.enum(["nothing_sent", "not_stored"])

export const Fault = defineEvent("fault", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    trigger: FaultTrigger,
    detail: Summary,
    /** Artifacts stored because of this fault; a pointer that could not be stored is named in `missing`. */
    artifact_ids: z.array(Name),
    missing: z.array(Name).optional(),
    /**
     * Required where there is no artifact. `nothing_sent`: no model had been asked and no tool had answered in this run. `not_stored`: what there
     * was could not be written.
     */
    no_evidence: added(NoEvidence.optional(), "1.2"),
    /** Under `audit: "required"`: the run may not go on. */
    stops_run: added(z.boolean().optional(), "1.2"),
    requested_by: z.enum(["runtime_user", "builder_user"]).optional(),
  },
})
