import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Digest, Name, Summary } from "../fields.js"

export const InputReceived = defineEvent("input_received", {
  since: "1.0",
  role: within,
  payload: {
    input_channels: z.array(Name),
    input_hash: Digest,
    input_policy_labels: z.array(Name),
    input_ref: added(BodyRef.optional()),
    input_summary: added(Summary.optional()),
  },
})
