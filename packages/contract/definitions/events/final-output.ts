import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"

export const FinalOutput = defineEvent("final_output", {
  since: "1.0",
  role: within,
  payload: {
    output_ref: BodyRef,
    citations_ref: BodyRef.optional(),
    response_channel: Name.nullable(),
    output_summary: added(Summary.optional()),
  },
})
