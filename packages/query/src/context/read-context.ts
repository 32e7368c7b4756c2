import { countIn, payloadOf, textIn } from "@orangebox/contract"
import type { Bodies, ContextReading } from "./context-reading.js"
import { readingOfManifest, readManifest } from "./manifest-items.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { readableRequest } from "./request-on-record.js"
import { readingOfSegments } from "./segment-items.js"

/**
 * What a context was made of, from the best account there is: its manifest, else what the application said, else the request itself.
 * Without bodies (`capture: "hashed"`) hashes and sizes of the segments are still on the events.
 */
export function readContext(context: RecordedContext, bodies: Bodies): ContextReading {
  const segments = (): ContextReading => readingOfSegments(context, readableRequest(context, bodies), bodies)
  const recorded = context.manifests.at(-1)
  if (!recorded) return segments()
  const found = readManifest(context, bodies)
  if ("manifest" in found) return readingOfManifest(context, found.manifest)
  if ("derived" in found) {
    // It says of the request what its segments say; the faults are its own.
    const { faults, revision } = found.derived
    return { ...segments(), faults, revision }
  }
  const payload = payloadOf(recorded)
  const hash = textIn(payload, "prefix_hash")
  const reading = segments()
  return {
    ...reading,
    excludedCount: countIn(payload, "excluded_count") ?? reading.excludedCount,
    prefix: hash === undefined ? reading.prefix : { hash, byteSize: countIn(payload, "prefix_length") },
    gaps: [found.gap, ...reading.gaps],
  }
}
