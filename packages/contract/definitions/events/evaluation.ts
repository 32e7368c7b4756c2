import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name } from "../fields.js"
import { StepId } from "../ids.js"

export const Verdict = z.enum(["pass", "warn", "fail", "unknown"])

export const Evaluation = defineEvent("evaluation", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    evaluator: Name,
    subject_step_id: StepId.nullable(),
    alignment: Verdict,
    quality: Verdict,
    policy: Verdict,
    score: z.number().nullable(),
    evaluation_ref: BodyRef.nullable(),
  },
})
