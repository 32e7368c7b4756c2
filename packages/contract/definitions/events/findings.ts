import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Count, Name, Summary } from "../fields.js"
import { AuthorKind, FindingsVerdict } from "../findings-report.js"

/** What was found out about a run: the report is a `FindingsReport`, its pointers resolved when it was written. */
export const Findings = defineEvent("findings", {
  since: "1.1",
  role: within,
  mayAnnotate: true,
  payload: {
    author: Name,
    author_kind: AuthorKind,
    verdict: FindingsVerdict,
    finding_count: Count,
    /** The first claim. */
    summary: Summary,
    report_ref: BodyRef,
  },
})
