import { z } from "zod"

export const PortableHeader = z.strictObject({
  v: z.union([z.literal(1), z.literal(2)]),
  format: z.literal("orangebox-run"),
  run_id: z.string(),
  /** More than one when runs of sub-agents come along. */
  runs: z.array(z.string()),
  events: z.number().int().nonnegative(),
  bodies: z.number().int().nonnegative(),
  /** Digest of the runs' events: what a certificate names. */
  digest: z.string(),
  written_by: z.string(),
})

const count = z.number().int().nonnegative()

/** What a store knows about runs beside their events. */
export const PortableNotes = z.strictObject({
  /** Answers that were cut off, or still arriving when the file was written. */
  partial_streams: z.array(
    z.strictObject({
      run_id: z.string(),
      stream_id: z.string(),
      step_id: z.string().nullable(),
      role: z.string(),
      mime_type: z.string().nullable(),
      byte_size: count,
      withheld_bytes: count.optional(),
      chunks: count,
      is_unbroken: z.boolean(),
      last_at_us: z.number().nonnegative(),
      state: z.enum(["open", "abandoned"]),
      /** The bytes, as a body of the file. */
      body: z.string().nullable(),
    }),
  ),
  /** Records that were lost, as their loss was recorded. */
  gaps: z.array(
    z.strictObject({
      run_id: z.string(),
      code: z.string(),
      reason: z.string(),
      lost: count.optional(),
      at_ms: z.number().optional(),
      detail: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  /** Why bodies that events name were not there any more. */
  absent_bodies: z.array(
    z.strictObject({
      hash: z.string(),
      absent: z.enum(["pruned", "redacted_later", "lost", "unknown"]),
      reason: z.string(),
      on_ms: z.number().optional(),
      byte_size: count.optional(),
    }),
  ),
  /** Events that were redacted after they were recorded. */
  redactions: z.array(z.strictObject({ run_id: z.string(), event_id: z.string(), at_ms: z.number() })),
  /** Events whose id came again with other content; the first is in the file. Left out where there are none. */
  conflicts: z.array(z.strictObject({ run_id: z.string(), event_id: z.string() })).optional(),
  /** Under which key secrets were tagged; the key itself only where it was asked for. Left out where no secret was masked. */
  mask_key: z
    .strictObject({
      id: z.string(),
      key: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    })
    .optional(),
})
