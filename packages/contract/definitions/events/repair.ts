import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Count, Summary } from "../fields.js"

export const Repair = defineEvent("repair", {
  since: "1.1",
  role: within,
  payload: {
    kind: z.enum(["history", "schema"]),
    before_ref: BodyRef,
    /** Null when the repair failed. */
    after_ref: BodyRef.nullable(),
    outcome: z.enum(["repaired", "failed"]),
    attempt: Count.optional(),
    max_attempts: Count.optional(),
    reason: Summary.optional(),
  },
})
