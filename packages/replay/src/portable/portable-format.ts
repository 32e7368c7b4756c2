import { z } from "zod"

/**
 * One run in one file.
 *
 * ```
 * OBXRUN1\n                                 8 bytes, so that any tool can tell what it is
 * {"v":1,…}\n                               the header: one line of JSON
 * <type> <length> <crc32> <name>\n<bytes>\n  sections, in any number
 * E <count> <sha256 of everything before>\n  the end
 * ```
 *
 * A section of type `V` holds events as NDJSON, one of type `B` a body; its name is `-` or the body's hash. Section bytes are brotli where
 * that makes them smaller, and then the type is written in lower case. `length` counts the bytes as they stand in the file. Every
 * supported Node can read it, and so can twenty lines of anything else.
 */
export const MAGIC = "OBXRUN1\n"

export const PortableHeader = z.strictObject({
  v: z.literal(1),
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

/** Nothing in a run is longer, and a damaged length must not reserve all memory. */
export const LONGEST_SECTION = 2 ** 31 - 1
