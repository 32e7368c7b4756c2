import { DerivedManifest, ToldManifest } from "@orangebox/context"
import { countIn, type LoosePayload, payloadOf, recordsIn, segmentKindOf, textIn } from "@orangebox/contract"
import type { Bodies, ContextItem, ContextReading, ExcludedItem, PromptSize } from "./context-reading.js"
import type { RecordedContext } from "./recorded-contexts.js"
import { missingFrom, shareOf, shareOut, sizeOf, splitMissing } from "./segment-items.js"

/** The newest manifest of a context whose body is there, or why there is none. */
export function readManifest(
  context: RecordedContext,
  bodies: Bodies,
): { readonly manifest: ToldManifest } | { readonly derived: DerivedManifest } | { readonly gap: string } {
  let gap = "no manifest is recorded"
  for (const event of context.manifests.toReversed()) {
    const ref = textIn(payloadOf(event), "manifest_ref")
    const bytes = ref === undefined ? undefined : bodies.get(ref)
    if (bytes === undefined) {
      const absent = event.artifact_refs.find(({ artifact_hash }) => artifact_hash === ref)?.absent
      gap = `the manifest's body is not there${absent === undefined ? "" : `: ${absent.replace("_", " ")}`}`
      continue
    }
    const derived = DerivedManifest.safeParse(jsonOf(bytes))
    if (derived.success) return { derived: derived.data }
    const parsed = ToldManifest.safeParse(jsonOf(bytes))
    if (parsed.success) return { manifest: parsed.data }
    const [issue] = parsed.error.issues
    gap = `the manifest cannot be read: ${issue ? `${issue.path.join(".") || "it"}: ${issue.message}` : "no JSON"}`
  }
  return { gap }
}

/** A manifest that says where its items come from: the compiler's, or an application's. */
export function manifestIn(bytes: Uint8Array): ToldManifest | undefined {
  const parsed = ToldManifest.safeParse(jsonOf(bytes))
  return parsed.success ? parsed.data : undefined
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** A context as its compiler tells it, or the application that put it together. */
export function readingOfManifest(context: RecordedContext, manifest: ToldManifest): ContextReading {
  const { inclusion_log, exclusion_log, prefix_hash, prefix_length, faults, revision } = manifest
  const segments = segmentsByHash(context)
  const scores = new Map(manifest.candidate_chunk_ids?.map(({ chunk_id, score }) => [chunk_id, score]))
  const prompt = promptSizeOf(context, manifest)
  return {
    context,
    basis: "manifest",
    inferredBy: undefined,
    ...splitMissing(
      inclusion_log.map((entry, index) => ({
        ...itemOf(entry, index + 1, segments.get(entry.rendered_ref), prompt),
        score: scores.get(entry.item_id),
      })),
      missingFrom(context),
    ),
    excluded: exclusion_log?.map(excludedOf) ?? null,
    excludedCount: exclusion_log?.length,
    prompt,
    prefix: prefix_hash === null ? calledPrefix(context) : { hash: prefix_hash, byteSize: prefix_length ?? undefined },
    manifest,
    faults,
    revision,
    gaps: [],
  }
}

/** The tokens as they were counted by who made the manifest; else as they are shown of a prompt that has none. */
function promptSizeOf(context: RecordedContext, manifest: ToldManifest): PromptSize {
  const { token_budget, prompt_length, inclusion_log } = manifest
  if (typeof token_budget?.prompt_tokens !== "number") {
    return sizeOf(context, recordsIn(payloadOf(context.told), "segments"))
  }
  const isMissing = missingFrom(context)
  const unsent = inclusion_log.reduce((sum, { tokens }, index) => sum + (isMissing(index) ? (tokens ?? 0) : 0), 0)
  return {
    tokens: token_budget.prompt_tokens - unsent,
    countedBy: "tiers" in token_budget ? "compiler" : "application",
    areItemsEstimated: false,
    budget: token_budget.ctx_max_tokens,
    byteSize: prompt_length ?? undefined,
  }
}

function calledPrefix({ step }: RecordedContext): ContextReading["prefix"] {
  const called = payloadOf(step.opened)
  const hash = textIn(called, "prefix_fingerprint")
  return hash === undefined ? undefined : { hash, byteSize: countIn(called, "prefix_length") }
}

/** Who contributed an item, and as what, stands in the assembled prompt; manifest and prompt meet in the hash of the rendered bytes. */
function segmentsByHash({ told }: RecordedContext): ReadonlyMap<string, LoosePayload> {
  const segments = new Map<string, LoosePayload>()
  for (const segment of recordsIn(payloadOf(told), "segments")) {
    // Under `hashed` the one is keyed once more than the other; the manifest names the stored bytes.
    for (const hash of [textIn(segment, "segment_hash"), textIn(segment, "content_ref")])
      if (hash !== undefined) segments.set(hash, segment)
  }
  return segments
}

type InclusionEntry = ToldManifest["inclusion_log"][number]
type ExclusionEntry = NonNullable<ToldManifest["exclusion_log"]>[number]

function itemOf(
  entry: InclusionEntry,
  position: number,
  segment: LoosePayload | undefined,
  prompt: PromptSize,
): ContextItem {
  const byteSize = segment && countIn(segment, "length")
  const tokens = entry.tokens ?? shareOut(prompt, byteSize)
  return {
    position,
    id: entry.item_id,
    contributor: (segment && textIn(segment, "contributor")) ?? contributorOf(entry),
    kind: (segment && textIn(segment, "kind")) ?? segmentKindOf(entry.item_type),
    itemType: entry.item_type,
    role: segment && textIn(segment, "role"),
    reason: entry.included_reason ?? undefined,
    sourceRef: entry.source_ref ?? undefined,
    section: entry.section ?? undefined,
    tier: entry.tier ?? undefined,
    tokens,
    fromTokens: entry.from_tokens,
    byteSize,
    share: shareOf(tokens, byteSize, prompt),
    score: undefined,
    hash: entry.source_hash,
    text: undefined,
  }
}

/** `catalog:step-awareness@1.0.0` of `catalog:step-awareness@1.0.0#3.mission`: the origin without the place in it. */
const contributorOf = ({ source_ref, item_id }: InclusionEntry): string => source_ref?.split("#", 1)[0] || item_id

function excludedOf(entry: ExclusionEntry): ExcludedItem {
  return {
    id: entry.item_id,
    itemType: entry.item_type,
    reason: entry.excluded_reason,
    sourceRef: entry.source_ref ?? undefined,
    score: entry.score,
    threshold: entry.threshold,
    tokens: entry.tokens,
    roomTokens: entry.room_tokens,
    duplicateOf: entry.duplicate_of,
    detail: entry.detail,
  }
}
