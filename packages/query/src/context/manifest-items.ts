import { ContextManifest, type ExclusionEntry, type InclusionEntry, segmentKindOf } from "@orangebox/context"
import { countIn, type LoosePayload, payloadOf, recordsIn, textIn } from "@orangebox/contract"
import type { Bodies, ContextItem, ContextReading, ExcludedItem } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"

/** The newest manifest of a context whose body is there, or why there is none. */
export function readManifest(
  context: RecordedContext,
  bodies: Bodies,
): { readonly manifest: ContextManifest } | { readonly gap: string } {
  let gap = "no manifest is recorded"
  for (const event of context.manifests.toReversed()) {
    const ref = textIn(payloadOf(event), "manifest_ref")
    const bytes = ref === undefined ? undefined : bodies.get(ref)
    if (bytes === undefined) {
      const absent = event.artifact_refs.find(({ artifact_hash }) => artifact_hash === ref)?.absent
      gap = `the manifest's body is not there${absent === undefined ? "" : `: ${absent.replace("_", " ")}`}`
      continue
    }
    const parsed = ContextManifest.safeParse(jsonOf(bytes))
    if (parsed.success) return { manifest: parsed.data }
    const [issue] = parsed.error.issues
    gap = `the manifest cannot be read: ${issue ? `${issue.path.join(".") || "it"}: ${issue.message}` : "no JSON"}`
  }
  return { gap }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** A context as its compiler tells it. */
export function readingOfManifest(context: RecordedContext, manifest: ContextManifest): ContextReading {
  const { token_budget, inclusion_log, exclusion_log, prefix_hash, prefix_length } = manifest
  const segments = segmentsByHash(context)
  const scores = new Map(manifest.candidate_chunk_ids.map(({ chunk_id, score }) => [chunk_id, score]))
  const budget = token_budget.ctx_max_tokens
  return {
    context,
    basis: "manifest",
    inferredBy: undefined,
    items: inclusion_log.map((entry, index) => ({
      ...itemOf(entry, index + 1, segments.get(entry.rendered_ref), budget),
      score: scores.get(entry.item_id),
    })),
    excluded: exclusion_log.map(excludedOf),
    excludedCount: exclusion_log.length,
    prompt: {
      tokens: token_budget.prompt_tokens,
      countedBy: "compiler",
      areItemsEstimated: false,
      budget,
      byteSize: manifest.prompt_length,
    },
    prefix: { hash: prefix_hash, byteSize: prefix_length },
    manifest,
    gaps: [],
  }
}

/** Who contributed an item, and as what, stands in the assembled prompt; manifest and prompt meet in the hash of the rendered bytes. */
function segmentsByHash({ told }: RecordedContext): ReadonlyMap<string, LoosePayload> {
  const segments = new Map<string, LoosePayload>()
  for (const segment of recordsIn(payloadOf(told), "segments")) {
    const hash = textIn(segment, "segment_hash") ?? textIn(segment, "content_ref")
    if (hash !== undefined) segments.set(hash, segment)
  }
  return segments
}

function itemOf(
  entry: InclusionEntry,
  position: number,
  segment: LoosePayload | undefined,
  budget: number,
): ContextItem {
  return {
    position,
    id: entry.item_id,
    contributor: (segment && textIn(segment, "contributor")) ?? contributorOf(entry),
    kind: (segment && textIn(segment, "kind")) ?? segmentKindOf(entry.item_type),
    itemType: entry.item_type,
    role: segment && textIn(segment, "role"),
    reason: entry.included_reason,
    sourceRef: entry.source_ref,
    section: entry.section,
    tier: entry.tier,
    tokens: entry.tokens,
    fromTokens: entry.from_tokens,
    byteSize: segment && countIn(segment, "length"),
    share: budget > 0 ? entry.tokens / budget : undefined,
    score: undefined,
    hash: entry.source_hash,
    text: undefined,
  }
}

/** `catalog:step-awareness@1.0.0` of `catalog:step-awareness@1.0.0#3.mission`: the origin without the place in it. */
const contributorOf = ({ source_ref }: InclusionEntry): string => source_ref.split("#", 1)[0] || source_ref

function excludedOf(entry: ExclusionEntry): ExcludedItem {
  return {
    id: entry.item_id,
    itemType: entry.item_type,
    reason: entry.excluded_reason,
    sourceRef: entry.source_ref,
    score: entry.score,
    threshold: entry.threshold,
    tokens: entry.tokens,
    roomTokens: entry.room_tokens,
    duplicateOf: entry.duplicate_of,
    detail: entry.detail,
  }
}
