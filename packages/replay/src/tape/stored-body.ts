import { bodyHash, type Event } from "@orangebox/contract"
import type { Bodies, StoredBody } from "./tape.js"

/** What the event says about a body it names. */
export function storedBody(event: Event, hash: string | null | undefined): StoredBody | null {
  if (typeof hash !== "string") return null
  const ref = event.artifact_refs.find((candidate) => candidate.artifact_hash === hash)
  return {
    hash,
    byteSize: ref?.byte_size ?? 0,
    mimeType: ref?.mime_type ?? "application/octet-stream",
    contentEncoding: ref?.content_encoding ?? "identity",
    absent: ref?.absent ?? null,
    isCut: ref?.full_byte_size !== undefined && ref.full_byte_size > ref.byte_size,
    masks: ref?.masks ?? [],
    maskCount: ref?.mask_count ?? ref?.masks?.length ?? 0,
  }
}

/** The bytes behind a ref, or why there are none. A body that does not hash to its name is damage, never an answer. */
export type BodyReading =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: "absent" | "missing" | "damaged" | "cut"; readonly reason: string }

export function readStored(body: StoredBody, bodies: Bodies): BodyReading {
  if (body.absent !== null) return { ok: false, why: "absent", reason: ABSENT_WORDS[body.absent] }
  const bytes = bodies.get(body.hash)
  if (bytes === undefined) return { ok: false, why: "missing", reason: "the body is not stored and nothing says why" }
  const found = bodyHash(bytes)
  if (found === body.hash) return { ok: true, bytes }
  return { ok: false, why: "damaged", reason: `the stored bytes hash to ${found}, not to their name` }
}

/** The beginning of a body is not the body: no caller was ever given that. */
export const cutWords = ({ byteSize }: StoredBody): string => `only its first ${byteSize} bytes were kept`

const ABSENT_WORDS: Record<NonNullable<StoredBody["absent"]>, string> = {
  hashed: "it was recorded under capture: hashed, which keeps digests and no text",
  not_kept: "the recorder did not keep it",
  pruned: "it was pruned",
  redacted_later: "it was redacted after it was recorded",
  lost: "it was lost",
}

/** JSON behind a ref, for the small things beside a call: its headers, its stream index, its error. Null when it cannot be read. */
export function storedJson(hash: string | null | undefined, bodies: Bodies): unknown {
  const bytes = typeof hash === "string" ? bodies.get(hash) : undefined
  if (bytes === undefined) return null
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")) as unknown
  } catch {
    return null
  }
}
