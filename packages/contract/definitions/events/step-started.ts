import { BodyRef } from "../body-ref.js"
import { defineEvent, opens } from "../define-event.js"
import { Name } from "../fields.js"

export const StepStarted = defineEvent("step_started", {
  since: "1.1",
  role: opens("step"),
  payload: {
    name: Name,
    /** What sort of work: retrieval, queue.deliver, prompt, … Free, but one word per meaning. */
    kind: Name.optional(),
    body_ref: BodyRef.optional(),
  },
})
