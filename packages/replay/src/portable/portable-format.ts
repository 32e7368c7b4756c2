import type { PortableNotes } from "../generated.js"

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

export const NO_NOTES: PortableNotes = { partial_streams: [], gaps: [], absent_bodies: [], redactions: [] }

export const hasNotes = (notes: PortableNotes): boolean => Object.values(notes).some((list) => (list?.length ?? 0) > 0)

/** Nothing in a run is longer, and a damaged length must not reserve all memory. */
export const LONGEST_SECTION = 2 ** 31 - 1

/** A few bytes can unpack to any number of them. A section of events or notes is never near the first, a file never near the second. */
export const MOST_UNPACKED_IN_SECTION = 256 * 2 ** 20
export const MOST_UNPACKED_IN_FILE = 2 ** 31
