import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Summary } from "../fields.js"

export const ActionType = z.enum([
  "plan",
  "edit",
  "run_tests",
  "command",
  "open_pr",
  "merge",
  "deploy",
  "api_call",
  "message",
  "no_op",
  "override",
  "other",
])

/** A decision the application stated itself; all others are computed from the events around an action. */
export const Decision = defineEvent("decision", {
  since: "1.1",
  role: within,
  payload: {
    action_type: ActionType,
    action_summary: Summary,
    decision_ref: BodyRef.optional(),
  },
})
