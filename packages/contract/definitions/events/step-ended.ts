import { BodyRef } from "../body-ref.js"
import { closes, defineEvent } from "../define-event.js"
import { LatencyMs, Name, Status, Summary } from "../fields.js"

export const StepEnded = defineEvent("step_ended", {
  since: "1.1",
  role: closes("step"),
  payload: {
    status: Status,
    latency_ms: LatencyMs,
    error_class: Name.optional(),
    error_ref: BodyRef.optional(),
    error_summary: Summary.optional(),
    body_ref: BodyRef.optional(),
  },
})
