import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { AuditMode, KeptBodies } from "../config.js"
import { added, defineEvent, opens } from "../define-event.js"
import { CaptureMode, Commit, Constraint, Digest, Environment, Name, Summary, Version } from "../fields.js"

export const RunStarted = defineEvent("run_started", {
  since: "1.0",
  role: opens("run"),
  payload: {
    app_id: Name,
    environment: Environment,
    entrypoint_name: Name,
    /** A digest of the user's session, never the session itself. */
    user_session_ref: Digest.nullable(),
    /** Inline, or behind `input_summary_ref`: one of the two must be there. Null when the run began before its input was known. */
    input_summary: Summary.nullable().optional(),
    input_summary_ref: BodyRef.optional(),
    agent_id: added(Name.optional()),
    agent_version: added(Version.optional()),
    request_id: added(Name.optional()),
    constraints: added(z.array(Constraint).optional()),
    channel: added(Name.optional()),
    repo: added(Name.optional()),
    branch: added(Name.optional()),
    /** The commit that was checked out when recording began. */
    commit: added(Commit.optional(), "1.2"),
    /** Whether tracked files differed from that commit. Absent where git was not asked. */
    is_dirty: added(z.boolean().optional(), "1.2"),
    ticket_id: added(Name.optional()),
    capture_mode: added(CaptureMode.optional()),
    /** Left out where they are the defaults: all bodies are kept, and a recording that fails does not stop the run. */
    kept_bodies: added(KeptBodies.optional(), "1.2"),
    audit: added(AuditMode.optional(), "1.2"),
  },
})
