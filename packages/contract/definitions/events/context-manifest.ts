import { BodyRef } from "../body-ref.js"
import { defineEvent, within } from "../define-event.js"
import { Count, Digest, Name } from "../fields.js"

export const ContextManifest = defineEvent("context_manifest", {
  since: "1.1",
  role: within,
  // The revision a death is worth comes from the collector.
  mayAnnotate: true,
  payload: {
    manifest_ref: BodyRef,
    snapshot_id: Name,
    /** 0 is the manifest of the step; a fault appends a higher one that names its artifacts. */
    revision: Count,
    included_count: Count,
    excluded_count: Count,
    prefix_hash: Digest.nullable(),
    prefix_length: Count.nullable(),
  },
})
