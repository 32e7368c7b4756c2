import { defineEvent, within } from "../define-event.js"
import { Link } from "../link.js"

export const LinkAdded = defineEvent("link_added", {
  since: "1.1",
  role: within,
  payload: { link: Link },
})
