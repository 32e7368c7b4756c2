import { z } from "zod"

/**
 * One run, with the runs it started, in one file.
 *
 * ```
 * OBXRUN1\n                                 8 bytes, so that any tool can tell what it is
 * {"v":1,…}\n                               the header: one line of JSON
 * <type> <length> <crc32> <name>\n<bytes>\n  sections, in any number
 * E <count> <sha256 of everything before>\n  the end
 * ```
 *
 * A section of type `V` holds events as NDJSON, one of type `B` a body, one of type `N` the notes: what is known about the runs and is
 * in none of their events. Its name is `-` or the body's hash. Section bytes are brotli where that makes them smaller, and then the type is
 * written in lower case. `length` counts the bytes as they stand in the file. Every supported Node can read it, and so can twenty lines of
 * anything else. Version 2 is version 1 with notes; a run without any is written as version 1.
 */
export const MAGIC = "OBXRUN1\n"

export const PORTABLE_VERSION = 2

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
export type PortableHeader = z.infer<typeof PortableHeader>

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
})
export type PortableNotes = z.infer<typeof PortableNotes>

export const NO_NOTES: PortableNotes = { partial_streams: [], gaps: [], absent_bodies: [], redactions: [] }

export const hasNotes = (notes: PortableNotes): boolean => Object.values(notes).some((list) => list.length > 0)

/** Nothing in a run is longer, and a damaged length must not reserve all memory. */
export const LONGEST_SECTION = 2 ** 31 - 1

/** A few bytes can unpack to any number of them. A section of events or notes is never near the first, a file never near the second. */
export const MOST_UNPACKED_IN_SECTION = 256 * 2 ** 20
export const MOST_UNPACKED_IN_FILE = 2 ** 31
