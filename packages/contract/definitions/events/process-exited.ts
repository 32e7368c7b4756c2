import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, ofProcess } from "../define-event.js"
import { Count, Name, Summary } from "../fields.js"

export const ProcessExited = defineEvent("process_exited", {
  since: "1.1",
  role: ofProcess,
  payload: {
    writer_id: Name,
    /** Null when the recorder was closed while the process went on. */
    exit_code: z.number().int().nullable(),
    reason: z.enum(["exit", "uncaught_exception", "closed"]),
    error_class: Name.optional(),
    error_summary: Summary.optional(),
    /** The error with its stack and causes. Beside the reason `exit` it is one the application caught at the last door before it left. */
    error_ref: added(BodyRef.optional(), "1.2"),
    error_origin: added(z.enum(["uncaught_exception", "unhandled_rejection"]).optional(), "1.2"),
    records_written: Count,
    records_dropped: Count,
    logs_sampled_out: Count,
  },
})
