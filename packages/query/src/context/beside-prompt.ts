import { type ExpectedPrompt, partsExpected, readBody, readRequest } from "@orangebox/dialects"
import type { Bodies, ContextItem, ContextReading } from "./context-reading.js"
import { rebuildPrompt } from "./rebuild-prompt.js"
import { readableRequest } from "./request-on-record.js"
import { readingOfSegments } from "./segment-items.js"

/**
 * What the model read beside the prompt of a manifest: tool definitions, a system prompt, the messages before it. Who made the manifest does
 * not answer for them, so they stand apart from its items. Empty where the request or the prompt is not there to compare.
 */
export function besidePrompt(reading: ContextReading, bodies: Bodies): readonly ContextItem[] {
  const { context } = reading
  const request = reading.manifest && readableRequest(context, bodies)
  const expected = request && expectedOf(reading, bodies)
  if (!request || !expected) return []
  const own = "texts" in expected && expected.request ? readBody(expected.request) : undefined
  const { held, added } = partsExpected(request.anatomy, expected, own && readRequest(request.dialect, own, ""))
  const { items } = readingOfSegments({ ...context, told: undefined, derived: undefined }, request, bodies)
  return items.flatMap((item, index) => {
    if (!held.has(index)) return [item]
    const words = added.get(index)
    // Of a text that holds items and more, only what is more.
    return words === undefined ? [] : [{ ...item, ...wordsOnly(words) }]
  })
}

const wordsOnly = (words: string) => ({
  id: "added text",
  contributor: "added text",
  byteSize: Buffer.byteLength(words),
  tokens: undefined,
  share: undefined,
  hash: undefined,
  text: words.slice(0, LONGEST_WORDS).toWellFormed(),
})

const LONGEST_WORDS = 400

/** What was to stand in the request; undefined where its texts are not there to compare. */
function expectedOf(reading: ContextReading, bodies: Bodies): ExpectedPrompt | undefined {
  const { manifest } = reading
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  if (manifest?.made_by === "application") {
    const texts = manifest.inclusion_log.map(({ rendered_ref }) => bodies.get(rendered_ref))
    if (!texts.every((bytes) => bytes !== undefined)) return undefined
    const request = manifest.request_ref ? bodies.get(manifest.request_ref) : undefined
    return { texts: texts.map((bytes) => decoder.decode(bytes)), request }
  }
  const rebuilt = rebuildPrompt(reading, bodies)
  if (!manifest || !rebuilt.ok) return undefined
  return { prompt: decoder.decode(rebuilt.bytes), prefixLength: manifest.prefix_length }
}
