import type { Bodies } from "../context/context-reading.js"
import { readableRequest } from "../context/request-on-record.js"
import type { CallAudit } from "./audit-cache.js"
import type { CacheCall } from "./cache-call.js"

/** Where the first segment that changed begins to differ, in bytes from its start. */
export interface DifferingBytes {
  readonly at: number
  readonly lengthBefore: number
  readonly lengthNow: number
  /** The same place in the bytes of either request: the first that differs, and the first behind that does not. */
  readonly rangeBefore: readonly [from: number, to: number]
  readonly rangeNow: readonly [from: number, to: number]
  /** The place in both, with a few characters around it. */
  readonly before: string
  readonly now: string
  /**
   * `application`: what it built differed already. `transform`: what it built was the same, and something between it and the wire was not.
   * Null where what it built is not on record.
   */
  readonly introducedBy: "application" | "transform" | null
}

/** The bodies to read for a call whose prompt changed; none for any other. */
export function bodiesToCompare({ call, reference, found }: CallAudit): readonly string[] {
  if (found?.segment === undefined || reference === undefined) return []
  return [call.request?.hash, reference.request?.hash].filter((hash) => hash !== undefined)
}

/** Undefined where the bytes of either request are not here. */
export function differingBytes({ call, reference, found }: CallAudit, bodies: Bodies): DifferingBytes | undefined {
  const index = found?.segment?.index
  if (index === undefined || reference === undefined) return undefined
  const [placeBefore, placeNow] = [segmentPlace(reference, index, bodies), segmentPlace(call, index, bodies)]
  if (placeBefore === undefined || placeNow === undefined) return undefined
  const [before, now] = [placeBefore.bytes, placeNow.bytes]
  const shortest = Math.min(before.length, now.length)
  let at = 0
  while (at < shortest && before[at] === now[at]) at++
  let same = 0
  while (same < shortest - at && before[before.length - 1 - same] === now[now.length - 1 - same]) same++
  return {
    at,
    lengthBefore: before.length - at - same,
    lengthNow: now.length - at - same,
    rangeBefore: rangeOf(placeBefore, at, same),
    rangeNow: rangeOf(placeNow, at, same),
    before: around(before, at, before.length - same),
    now: around(now, at, now.length - same),
    introducedBy:
      call.renderedRef === undefined || reference.renderedRef === undefined
        ? null
        : call.renderedRef === reference.renderedRef
          ? "transform"
          : "application",
  }
}

/** At least one byte: where something was put in, the place it was put at. */
function rangeOf({ start, bytes }: SegmentPlace, at: number, same: number): readonly [number, number] {
  return [start + at, start + Math.max(at + 1, bytes.length - same)]
}

interface SegmentPlace {
  readonly start: number
  readonly bytes: Uint8Array
}

function segmentPlace(call: CacheCall, index: number, bodies: Bodies): SegmentPlace | undefined {
  const request = readableRequest(call.context, bodies)
  const segment = request?.anatomy.segments[index]
  const bytes = call.request && bodies.get(call.request.hash)
  // A body that was masked after its segments were hashed has them at the same places.
  if (segment === undefined || bytes === undefined || request?.anatomy.segments.length !== call.segments?.length) {
    return undefined
  }
  return { start: segment.start, bytes: bytes.subarray(segment.start, segment.end) }
}

const BEFORE_IT = 24
const LONGEST = 96

function around(bytes: Uint8Array, from: number, to: number): string {
  const start = Math.max(0, from - BEFORE_IT)
  return new TextDecoder().decode(bytes.subarray(start, Math.min(to, start + LONGEST)))
}
