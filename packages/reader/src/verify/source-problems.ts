import { type Problem, payloadOf, textIn } from "@orangebox/contract"
import { manifestIn, recordedSource } from "@orangebox/query"
import { recordedChunks } from "../context/context-sources.js"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"

/** Pointers of contexts that say they lead to something recorded, and lead to nothing. What stands outside the recording is not judged. */
export async function sourceProblems(store: RunReader, { view, events }: LoadedRun): Promise<Problem[]> {
  const problems: Problem[] = []
  const chunks = await recordedChunks(store, view)
  const asked = new Set<string>()
  for (const event of events) {
    const ref = event.event_type === "context_manifest" ? textIn(payloadOf(event), "manifest_ref") : undefined
    const bytes = ref === undefined ? undefined : (await loadBodies(store, [ref])).bytes.get(ref)
    const manifest = bytes && manifestIn(bytes)
    if (!manifest) continue
    for (const [log, entries] of [
      ["inclusion_log", manifest.inclusion_log],
      ["exclusion_log", manifest.exclusion_log ?? []],
    ] as const) {
      for (const [at, { item_id, source_ref }] of entries.entries()) {
        // A revision repeats what the manifest before it said.
        if (source_ref === null || asked.has(source_ref)) continue
        asked.add(source_ref)
        if (isChunkOf(chunks, source_ref) ?? recordedSource(view, source_ref) !== null) continue
        if (await isElsewhere(store, source_ref)) continue
        const reason = `item ${item_id} comes from ${source_ref}, which leads to nothing that was recorded`
        const field = `${log}.${at}.source_ref`
        problems.push({ code: "source_missing", severity: "error", subject: event.event_id, field, reason })
      }
    }
  }
  return problems
}

/** Whether a chunk is one that a recorded retrieval gave; undefined for another pointer, and where the lists were not kept. */
function isChunkOf(chunks: ReadonlyMap<string, string | null>, sourceRef: string): boolean | undefined {
  if (!sourceRef.startsWith("chunk:") || chunks.size === 0) return undefined
  return chunks.has(sourceRef.slice("chunk:".length))
}

/** In another run: an agent may hand on what a tool of another one said. */
async function isElsewhere(store: RunReader, sourceRef: string): Promise<boolean> {
  const id = sourceRef.slice(sourceRef.indexOf(":") + 1)
  if (id === "") return false
  const resolution = await store.resolve(id)
  return resolution.found !== "none" || resolution.pruned !== undefined
}
