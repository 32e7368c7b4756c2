import { BodyRef } from "../body-ref.js"
import { defineEvent, ofProcess } from "../define-event.js"
import { Count } from "../fields.js"

/** What a source knows about its own steps: a `SourceDiagnostics`, read only when that source is investigated. */
export const SourceDiagnosticsRegistered = defineEvent("source_diagnostics", {
  since: "1.1",
  role: ofProcess,
  payload: {
    note_count: Count,
    detector_count: Count,
    diagnostics_ref: BodyRef,
  },
})
