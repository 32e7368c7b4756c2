import { z } from "zod"

export const RunId = z
  .string()
  .regex(/^run_[0-9A-HJKMNP-TV-Z]{26}$/, "is not a run id (run_ and 26 base-32 characters)")
export const TraceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/, "is not a trace id (32 hex digits, not all zero)")
export const StepId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/, "is not a step id (16 hex digits, not all zero)")
export const EventId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, "is not a UUIDv7")
const NOT_A_BODY_ID = "is not a body id (sha256: and 64 hex digits)"
// The length apart from the pattern: a counted repetition takes 165 ns on every ref of every event, an open one 90.
export const BodyId = z
  .string()
  .length(71, { error: NOT_A_BODY_ID, abort: true })
  .regex(/^sha256:[0-9a-f]+$/, NOT_A_BODY_ID)
