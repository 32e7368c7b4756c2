import { defineEvent, within } from "../define-event.js"

/** Attributes given to a step after it opened; they stand on the envelope. Written at once, so that a crash does not take them along. */
export const AttributesSet = defineEvent("attributes_set", {
  since: "1.1",
  role: within,
  payload: {},
})
