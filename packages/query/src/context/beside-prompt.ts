import type { Bodies, ContextItem, ContextReading } from "./context-reading.js"
import { rebuildPrompt } from "./rebuild-prompt.js"
import { readableRequest } from "./request-on-record.js"
import { readingOfSegments } from "./segment-items.js"

/**
 * What the model read beside a compiled prompt: tool definitions, a system prompt, the messages before it. The compiler does not answer for
 * them, so they stand apart from its items. Empty where the request or the prompt is not there to compare.
 */
export function besidePrompt(reading: ContextReading, bodies: Bodies): readonly ContextItem[] {
  const { manifest, context } = reading
  const request = manifest && readableRequest(context, bodies)
  const rebuilt = rebuildPrompt(reading, bodies)
  if (!manifest || !request || !rebuilt.ok) return []
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const { bytes } = rebuilt
  // Sent as one text, or cut in two where the cacheable prefix ends.
  const compiled = new Set([
    decoder.decode(bytes),
    decoder.decode(bytes.subarray(0, manifest.prefix_length)),
    decoder.decode(bytes.subarray(manifest.prefix_length)),
  ])
  const { parts } = request.anatomy
  const { items } = readingOfSegments({ ...context, told: undefined, derived: undefined }, request, bodies)
  return items.filter((_, index) => !compiled.has(parts[index]?.text ?? ""))
}
