import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Count, Digest, Name, Summary } from "../fields.js"

export const ArtifactType = z.enum([
  "file_edit",
  "command",
  "test_run",
  "pr",
  "commit",
  "diff",
  "prompt_snapshot",
  "tool_output_snapshot",
  "answer_snapshot",
  "workspace_snapshot",
  "other",
])

export const ArtifactRecorded = defineEvent("artifact_recorded", {
  since: "1.1",
  role: within,
  // What a dead process left in its spool is recorded about its run afterwards.
  mayAnnotate: true,
  payload: {
    artifact_id: Name,
    artifact_type: ArtifactType,
    summary: Summary,
    content_ref: BodyRef.nullable(),
    hash: Digest,
    size_bytes: Count,
    /** Of an answer that was still coming: so many more bytes had come, and had not been searched for secrets yet. */
    withheld_bytes: added(Count.optional(), "1.2"),
    /** Always relative to the workspace. */
    path: z
      .string()
      .max(4096)
      .regex(/^(?!\/|[A-Za-z]:[\\/])/, "must be relative to the workspace")
      .nullable(),
    lines_added: Count.nullable().optional(),
    lines_removed: Count.nullable().optional(),
    /** Of a change to a file that changed before: all of it, against the file as the run found it. */
    net_lines_added: added(Count.nullable().optional(), "1.2"),
    net_lines_removed: added(Count.nullable().optional(), "1.2"),
    exit_code: z.number().int().nullable().optional(),
  },
})
