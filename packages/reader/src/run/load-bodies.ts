import { isAbsent } from "@orangebox/store"
import type { RunReader } from "../open/run-reader.js"

/** Those of the bodies that are there. What is not is for the reader of them to say. */
export async function loadBodies(store: RunReader, hashes: Iterable<string>): Promise<Map<string, Uint8Array>> {
  const bodies = new Map<string, Uint8Array>()
  for (const hash of new Set(hashes)) {
    const reading = await store.readBody(hash)
    if (!isAbsent(reading)) bodies.set(hash, reading.bytes)
  }
  return bodies
}
