import { type Event, isEventType, payloadRefs } from "@orangebox/contract"
import { HELD } from "../codes.js"
import { heldAs } from "../held-as.js"
import type { Batch } from "../trace-store.js"
import { usableRef } from "../usable-ref.js"
import { isHash } from "./stored-bodies.js"

interface NamedBody {
  readonly hash: string
  readonly byteSize: number
  readonly mime: string | null
  readonly heldAs: number
}

/** The bodies an event holds. */
export function namedBodies(event: Event): NamedBody[] {
  if (!Array.isArray(event.artifact_refs) || event.artifact_refs.length === 0) {
    if (event.payload === undefined || !isEventType(event.event_type)) return []
    return payloadRefs(event.event_type, event.payload)
      .filter(({ hash }) => isHash(hash))
      .map(({ hash }) => ({ hash, byteSize: 0, mime: null, heldAs: HELD.body }))
  }
  return event.artifact_refs.flatMap((given) => {
    const ref = usableRef(given)
    if (ref === undefined || ref.absent !== undefined || !isHash(ref.artifact_hash)) return []
    const { artifact_hash: hash, byte_size: byteSize, mime_type: mime, artifact_type } = ref
    return [{ hash, byteSize, mime, heldAs: heldAs(event, artifact_type) }]
  })
}

/** Every body a batch brings or names. */
export function hashesIn(batch: Batch): Set<string> {
  const hashes = new Set<string>()
  for (const { hash } of batch.bodies ?? []) hashes.add(hash)
  for (const { end } of batch.streams ?? []) if (end !== undefined) hashes.add(end.hash)
  for (const { event } of batch.events ?? []) for (const { hash } of namedBodies(event)) hashes.add(hash)
  return hashes
}
