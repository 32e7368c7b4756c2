import { type BodyHash, incrementalBodyHash, textHash } from "@orangebox/contract"

/**
 * The version of everything that decides a digest. Digests of another version are not compared: they are recomputed from the stored
 * bodies, which are always kept.
 */
export const CANON_VERSION = 1

/** Of the generic form, in which an application tells a question whose protocol no dialect knows. It is the same in every build. */
export const GENERIC_CANON_VERSION = 0

const utf8 = new TextEncoder()

/** `sha256("obx-sig\0" + version + "\0" + kind + "\0" + parts)`. Parts are separated by NUL, which no JSON text contains. */
export function callDigest(kind: string, parts: readonly (string | Uint8Array)[]): BodyHash {
  const head = `obx-sig\0${CANON_VERSION}\0${kind}`
  if (parts.every((part) => typeof part === "string")) return textHash([head, ...parts].join("\0"))
  const running = incrementalBodyHash()
  running.update(utf8.encode(head))
  for (const part of parts) {
    running.update(SEPARATOR)
    running.update(typeof part === "string" ? utf8.encode(part) : part)
  }
  return running.digest()
}

const SEPARATOR = Uint8Array.of(0)
