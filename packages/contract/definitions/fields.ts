import { z } from "zod"
import { added } from "./define-event.js"
import { BodyId } from "./ids.js"

/** Field types that several events share. */
export const Name = z.string().min(1).max(512)
export const Version = z.string().max(256)
export const LatencyMs = z.number().nonnegative()
export const Count = z.number().int().nonnegative()
export const Summary = z.string().max(512)
export const Status = z.enum(["success", "timeout", "error", "partial"])
/** A digest that identifies something without naming a stored body. */
export const Digest = BodyId
/** Of git: SHA-1 or SHA-256, in hex. */
export const Commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
export const CaptureMode = z.enum(["full", "redacted", "hashed"])
export const Environment = z.enum(["local", "ci", "staging", "prod", "unknown"])

export const Constraint = z.strictObject({
  id: Name,
  type: z.enum(["style", "safety", "format", "scope", "other"]),
  rule: z.string().max(4096),
})

/** Normalised counts; null is unknown, and unknown is not zero. `prompt` includes cached tokens whatever the provider's habit. */
export const TokenUsage = z.strictObject({
  prompt: Count.nullable(),
  completion: Count.nullable(),
  total: Count.nullable(),
  cache_read: added(Count.nullable().optional()),
  cache_write: added(Count.nullable().optional()),
  reasoning: added(Count.nullable().optional()),
})
