import type { Event } from "@orangebox/contract"
import type { Gap } from "@orangebox/runs"

/** The bytes or the text behind a ref; undefined when they are not there, whatever the reason. */
export type BodyLookup = (ref: string) => Uint8Array | string | undefined

/** A run as it was recorded: all its events, annotations among them, and a way to its bodies. */
export interface RecordedRun {
  readonly events: readonly Event[]
  readonly bodies: BodyLookup
  /** Whether the process that writes it is known to be there still. */
  readonly isWriterAlive?: boolean
  /** What was lost of it, as far as that is on record. */
  readonly gaps?: readonly Gap[]
}

/** A body as text; null when it is not kept. */
export function bodyText(bodies: BodyLookup, ref: string | null | undefined): string | null {
  if (!ref) return null
  const body = bodies(ref)
  if (body === undefined || typeof body === "string") return body ?? null
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")
}

export function bodyBytes(bodies: BodyLookup, ref: string | null | undefined): Uint8Array | undefined {
  const body = ref ? bodies(ref) : undefined
  return typeof body === "string" ? Buffer.from(body, "utf8") : body
}
