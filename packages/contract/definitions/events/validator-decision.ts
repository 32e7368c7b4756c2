import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name, Version } from "../fields.js"

export const ValidatorDecision = defineEvent("validator_decision", {
  since: "1.0",
  role: within,
  payload: {
    validator_name: Name,
    validator_version: Version.nullable(),
    decision: z.enum(["pass", "fail", "warn"]),
    reason_ref: BodyRef.nullable(),
  },
})
