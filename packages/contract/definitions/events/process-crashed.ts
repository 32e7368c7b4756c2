import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"
import { StepId } from "../ids.js"

/** Said by the collector about each run that a dead process left open. */
/** How a process ended that left runs open. `gone`: it said nothing, so a signal, a lack of memory and a power cut look the same. */
export const ProcessEnd = z.enum(["uncaught_exception", "unhandled_rejection", "exit", "closed", "gone"])

export const ProcessCrashed = defineEvent("process_crashed", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    writer_id: Name,
    pid: z.number().int().nonnegative(),
    last_open_step_id: StepId.nullable(),
    /** What shows that the process is gone, in words. */
    evidence: Summary,
    ended_by: added(ProcessEnd.optional(), "1.2"),
    exit_code: added(z.number().int().optional(), "1.2"),
    /** The error the process ended with, as it said itself. */
    error_class: added(Name.optional(), "1.2"),
    error_summary: added(Summary.optional(), "1.2"),
    error_ref: added(BodyRef.optional(), "1.2"),
  },
})
