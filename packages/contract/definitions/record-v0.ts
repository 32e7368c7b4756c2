import { z } from "zod"
import { AttributesSchema } from "./attributes.js"
import { Level } from "./events/log.js"

// The end of year 9999: later times have no four-digit year.
const LAST_MS = 253_402_300_799_999

const common = {
  schema_version: z.string(),
  seq: z.number().int().nonnegative(),
  extensionId: z.string().min(1).max(256),
  conversationId: z.string().max(512).optional(),
  turnId: z.string().min(1),
  spanId: z.string().min(1),
  parentSpanId: z.string().min(1).optional(),
  /** Milliseconds since 1970. */
  timestamp: z.number().nonnegative().max(LAST_MS),
  attributes: AttributesSchema.optional(),
  body: z.string().optional(),
}
export const RecordV0 = z.discriminatedUnion("kind", [
  z.object({ ...common, kind: z.literal("log"), level: Level, msg: z.string() }),
  z.object({ ...common, kind: z.literal("span-open"), name: z.string().min(1).max(512) }),
  z.object({
    ...common,
    kind: z.literal("span-close"),
    durationMs: z.number().nonnegative(),
    error: z.string().optional(),
  }),
])
