import { z } from "zod"
import { defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"
import { StepId } from "../ids.js"

/** Said by the collector about each run that a dead process left open. */
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
  },
})
