import { bodyHash } from "@orangebox/contract"
import type { ToldManifest } from "./generated.js"
import { type ContextSources, renderAgain } from "./render-again.js"

/** Where bodies come from: a map by hash, or anything that can look one up, by its hash or by the item's source. */
export type BodyLookup =
  | ReadonlyMap<string, Uint8Array>
  | ((ref: string, item: ToldManifest["inclusion_log"][number]) => Uint8Array | undefined)

export type RebuiltContext =
  | { readonly ok: true; readonly prompt: string }
  | {
      readonly ok: false
      /** Items whose bytes are nowhere. */
      readonly missing: readonly LostItem[]
      /** Items whose bytes are no longer the ones the prompt was made of. */
      readonly changed: readonly LostItem[]
      /** The prompt with a visible mark in every place that could not be filled. For reading, not for sending. */
      readonly partial: string
    }

export interface LostItem {
  readonly item_id: string
  readonly source_ref: string | null
  readonly rendered_ref: string
  /** Why its source does not give it again, where that was looked for. */
  readonly why?: string
}

/**
 * The prompt of a manifest, byte for byte, or what is missing or changed. Pieces whose bytes were not kept are rendered again from what their
 * pointers lead to, where `sources` are given.
 */
export function rebuildContext(
  manifest: Pick<ToldManifest, "inclusion_log" | "intent"> & { readonly prompt_hash: string },
  bodies: BodyLookup,
  sources?: ContextSources,
): RebuiltContext {
  const { parts, missing, changed } = itemsAgain(manifest, bodies, sources)
  const prompt = parts.join("")
  if (missing.length === 0 && changed.length === 0) {
    const hash = bodyHash(new TextEncoder().encode(prompt))
    if (hash === manifest.prompt_hash) return { ok: true, prompt }
    // Every piece is right and the whole is not: the log itself is no longer the one that was written.
    changed.push({ item_id: "inclusion_log", source_ref: "manifest", rendered_ref: manifest.prompt_hash })
  }
  return { ok: false, missing, changed, partial: prompt }
}

/** Each item of a manifest as it was, or with a mark in its place. */
export function itemsAgain(
  manifest: Pick<ToldManifest, "inclusion_log" | "intent">,
  bodies: BodyLookup,
  sources?: ContextSources,
): { readonly parts: readonly string[]; readonly missing: LostItem[]; readonly changed: LostItem[] } {
  const lookup = typeof bodies === "function" ? bodies : (ref: string) => bodies.get(ref)
  const missing: LostItem[] = []
  const changed: LostItem[] = []
  const again = sources && renderAgain(manifest, sources)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const parts = manifest.inclusion_log.map((entry) => {
    const { item_id, source_ref, rendered_ref } = entry
    const kept = lookup(rendered_ref, entry)
    const rendered = kept === undefined ? again?.(entry) : { bytes: kept }
    const bytes = rendered && "bytes" in rendered ? rendered.bytes : undefined
    if (bytes !== undefined && bodyHash(bytes) === rendered_ref) return decoder.decode(bytes)
    const isChanged = bytes !== undefined
    const why = rendered && "why" in rendered ? { why: rendered.why } : {}
    ;(isChanged ? changed : missing).push({ item_id, source_ref, rendered_ref, ...why })
    return `[... ${item_id} is ${isChanged ? "changed" : "missing"} ...]\n`
  })
  return { parts, missing, changed }
}
