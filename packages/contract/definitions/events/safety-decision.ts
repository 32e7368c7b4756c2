import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name, Version } from "../fields.js"

export const SafetyDecision = defineEvent("safety_decision", {
  since: "1.0",
  role: within,
  payload: {
    policy_name: Name,
    policy_version: Version.nullable(),
    decision: z.enum(["allow", "block", "redact", "escalate"]),
    reason_ref: BodyRef.nullable(),
  },
})
