import { z } from "zod"
import { closes, defineEvent } from "../define-event.js"
import { Count, LatencyMs } from "../fields.js"

export const RunCompleted = defineEvent("run_completed", {
  since: "1.0",
  role: closes("run"),
  payload: {
    status: z.literal("success"),
    total_steps: Count,
    total_latency_ms: LatencyMs,
  },
})
