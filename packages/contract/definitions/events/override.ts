import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"
import { StepId } from "../ids.js"
import { Verdict } from "./evaluation.js"

/** A person's word over a recorded verdict. */
export const Override = defineEvent("override", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    author: Name,
    subject_step_id: StepId.nullable(),
    verdict: Verdict,
    reason: Summary,
    reason_ref: BodyRef.optional(),
  },
})
