import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Name, Version } from "../fields.js"

/** The prompt as the application built it: the BEFORE, next to `model_called.request_ref`, the AFTER. */
export const PromptRendered = defineEvent("prompt_rendered", {
  since: "1.0",
  role: within,
  payload: {
    prompt_template_id: Name.nullable(),
    prompt_template_version: Version.nullable(),
    prompt_variables_ref: BodyRef.nullable(),
    rendered_prompt_ref: BodyRef,
    system_message_ref: BodyRef.optional(),
  },
})
