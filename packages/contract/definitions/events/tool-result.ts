import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, closes, defineEvent } from "../define-event.js"
import { LatencyMs, Name, Status, Summary } from "../fields.js"

export const ToolResult = defineEvent("tool_result", {
  since: "1.0",
  role: closes("tool"),
  payload: {
    tool_name: Name,
    status: Status,
    /** Null when the tool gave nothing back. */
    result_ref: BodyRef.nullable(),
    /** Null unless the status is `error` or `timeout`. */
    error_class: Name.nullable(),
    error_message_ref: BodyRef.nullable(),
    latency_ms: LatencyMs,
    tool_call_id: added(Name.optional()),
    exit_code: added(z.number().int().optional()),
    result_summary: added(Summary.optional()),
    error_summary: added(Summary.optional()),
    /** What the model was told of it, where that is known: a harness may turn an error into a text, or cut a result. */
    told_model: added(z.strictObject({ is_error: z.boolean().nullable(), ref: BodyRef.nullable() }).optional(), "1.2"),
  },
})
