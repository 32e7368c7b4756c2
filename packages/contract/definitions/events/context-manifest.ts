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
    /** Null where it was not said: of a request that no dialect reads, of what an application left out without a word. */
    included_count: Count.nullable(),
    excluded_count: Count.nullable(),
    prefix_hash: Digest.nullable(),
    prefix_length: Count.nullable(),
  },
})
