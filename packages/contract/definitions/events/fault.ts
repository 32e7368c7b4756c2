import { z } from "zod"
import { defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"

export const FaultTrigger = z.enum([
  "system_error",
  "schema_repair_failure",
  "loop_guard_override",
  "tool_failure",
  "missing_pointer",
  "debug_request",
])

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
    requested_by: z.enum(["runtime_user", "builder_user"]).optional(),
  },
})
