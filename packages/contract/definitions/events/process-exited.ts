import { z } from "zod"
import { defineEvent, ofProcess } from "../define-event.js"
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
    records_written: Count,
    records_dropped: Count,
    logs_sampled_out: Count,
  },
})
