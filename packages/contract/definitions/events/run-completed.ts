import { z } from "zod"
import { added, closes, defineEvent } from "../define-event.js"
import { Count, LatencyMs } from "../fields.js"
import { WRITTEN_OUTPUT } from "../written-output.js"

export const RunCompleted = defineEvent("run_completed", {
  since: "1.0",
  role: closes("run"),
  payload: {
    status: z.literal("success"),
    /** Null where the steps were not counted, as in runs read from major 0. */
    total_steps: Count.nullable(),
    total_latency_ms: LatencyMs,
    /** Of the command of the run, where the run is one. */
    exit_code: added(z.number().int().optional(), "1.2"),
    ...WRITTEN_OUTPUT,
  },
})
