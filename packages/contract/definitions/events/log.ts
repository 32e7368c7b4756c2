import { z } from "zod"
import { MAX_LOG_MESSAGE } from "../../src/summary.js"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name, Summary } from "../fields.js"

export const Level = z.enum(["debug", "info", "warn", "error"])

export const Log = defineEvent("log", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    level: Level,
    message: z.string().max(MAX_LOG_MESSAGE),
    /** The whole message where it was longer than fits inline. */
    message_ref: BodyRef.optional(),
    error_class: Name.optional(),
    error_summary: Summary.optional(),
    /** Class, message, stack and cause chain, outermost first. */
    error_ref: BodyRef.optional(),
    body_ref: BodyRef.optional(),
  },
})
