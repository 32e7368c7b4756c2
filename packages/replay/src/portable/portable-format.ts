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

export const hasNotes = (notes: PortableNotes): boolean =>
  Object.values(notes).some((note) => (Array.isArray(note) ? note.length > 0 : note !== undefined))

/**
 * What a file may hold. It comes from anywhere, and a few bytes can unpack to any number of them; within these bounds reading one takes less
 * than 300 MB whatever it says. The writer keeps to them too, so that what was exported can be read.
 */
export const LIMITS = {
  /** The JSON of all events together, unpacked. As objects they take several times as much. */
  eventBytes: 32 * 2 ** 20,
  /** One event. */
  eventLineBytes: 8 * 2 ** 20,
  notesBytes: 4 * 2 ** 20,
  bodyBytes: 128 * 2 ** 20,
  bodies: 200_000,
  /** Everything together, unpacked: bodies are looked at piece by piece and not kept, so this is a matter of time alone. */
  fileBytes: 8 * 2 ** 30,
  lineBytes: 2 ** 20,
  /** How deep the JSON of an event or of notes may be nested. */
  depth: 100,
  /** A file with more of them is not worth reading on. */
  problems: 100,
} as const
