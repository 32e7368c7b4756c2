import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, closes, defineEvent } from "../define-event.js"
import { Count, LatencyMs, Name, Summary } from "../fields.js"
import { StepId } from "../ids.js"
import { WRITTEN_OUTPUT } from "../written-output.js"

export const RunFailed = defineEvent("run_failed", {
  since: "1.0",
  role: closes("run"),
  payload: {
    status: z.literal("failed"),
    /** Null when no single step is to blame. */
    failed_step_id: StepId.nullable(),
    error_class: Name,
    error_message_ref: BodyRef.nullable(),
    error_summary: added(Summary.optional()),
    /** How the command of the run ended, where the run is one: its exit code, or the signal that ended it. */
    exit_code: added(z.number().int().optional(), "1.2"),
    signal: added(Name.optional(), "1.2"),
    ...WRITTEN_OUTPUT,
    total_steps: added(Count.optional()),
    total_latency_ms: added(LatencyMs.optional()),
  },
})
