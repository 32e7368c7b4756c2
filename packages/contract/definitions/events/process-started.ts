import { z } from "zod"
import { defineEvent, ofProcess } from "../define-event.js"
import { Name } from "../fields.js"

export const ProcessStarted = defineEvent("process_started", {
  since: "1.1",
  role: ofProcess,
  payload: {
    writer_id: Name,
    app_id: Name,
    pid: z.number().int().nonnegative(),
    thread_id: z.number().int().nonnegative(),
    runtime: Name,
    recorder_version: Name,
    capture_mode: Name,
  },
})
