import { asPointer, bodyHash, canonicalHash, canonicalJson, summarizeText, textHash } from "@orangebox/contract"
import type { Allocation, Included } from "./allocate.js"
import type { StageId } from "./bundle.js"
import type { Considered } from "./candidate.js"
import type { ContextFault } from "./faults/fault.js"
import type { ContextManifest, InclusionEntry } from "./generated.js"
import type { Reranker } from "./retrieval/reranker.js"
import type { Retriever } from "./retrieval/retriever.js"
import { isOfPrefix, type Placed, piecesOf, SECTIONS, type Share } from "./sections.js"
import type { Stage } from "./stage.js"
import type { TokenBudget } from "./token-budget.js"
import type { TokenCounter } from "./token-counter.js"
import { COMPILER_VERSION, MANIFEST_VERSION } from "./version.js"
import type { ProvenanceRecord } from "./workspace-files.js"

/** All that is known once the context stands. */
export interface ManifestParts {
  readonly stage: Stage
  readonly runId: string
  readonly stepId: string
  readonly stageId: StageId
  readonly snapshotId: string | undefined
  readonly intent: { readonly objective: string; readonly invariants: readonly string[] }
  readonly query: string | null
  readonly retrievers: readonly Retriever[]
  readonly reranker: Reranker
  readonly scores: ContextManifest["candidate_chunk_ids"]
  readonly budget: TokenBudget
  readonly counter: TokenCounter
  readonly allocation: Allocation
  readonly considered: Considered
  readonly provenance: readonly ProvenanceRecord[]
  readonly faults: readonly ContextFault[]
}

export function buildManifest(parts: ManifestParts): {
  manifest: ContextManifest
  bodies: ReadonlyMap<string, Uint8Array>
} {
  const { stage, allocation, budget, counter } = parts
  const bodies = new Map<string, Uint8Array>()
  const encoder = new TextEncoder()
  const keep = (text: string): string => {
    const ref = textHash(text)
    if (!bodies.has(ref)) bodies.set(ref, encoder.encode(text))
    return ref
  }

  const pieces = piecesOf(allocation.included.map(({ placed }) => placed))
  const inclusion_log = allocation.included.map((included, index) => inclusionEntry(included, keep(pieces[index]!)))
  const prefix = pieces.filter((_, index) => isOfPrefix(allocation.included[index]!.placed)).join("")
  const { ctx_max_tokens, generation_reserve_tokens } = budget

  const manifest: ContextManifest = {
    manifest_version: MANIFEST_VERSION,
    revision: 0,
    run_id: parts.runId,
    step_id: parts.stepId,
    snapshot_id: parts.snapshotId ?? snapshotOf(parts, inclusion_log),
    stage: { catalog: stage.catalog, step_id: parts.stageId, step_name: stage.name },
    intent: {
      objective: summarizeText(parts.intent.objective),
      invariants: parts.intent.invariants.map(summarizeText),
    },
    intent_ref: keep(canonicalJson(parts.intent)),
    retrieval_query: parts.query === null ? null : summarizeText(parts.query),
    retrieval_query_ref: parts.query === null ? null : keep(parts.query),
    retrievers: parts.retrievers.map(({ id, version }) => ({ id, version })),
    candidate_chunk_ids: parts.scores,
    selected_chunk_ids: allocation.included.flatMap(({ candidate, placed }) =>
      placed.section === "evidence" ? [candidate.id] : [],
    ),
    reranker_model: parts.reranker.model,
    reranker_version: parts.reranker.version,
    token_budget: {
      ...budget,
      counter: { id: counter.id, version: counter.version },
      tiers: {
        ...allocation.shares,
        generation: { reserved: generation_reserve_tokens, used: 0, left: generation_reserve_tokens },
      },
      prompt_tokens: allocation.promptTokens,
      headroom_tokens: ctx_max_tokens - generation_reserve_tokens - allocation.promptTokens,
    },
    compiler_version: COMPILER_VERSION,
    grammar_name: stage.grammar?.name ?? null,
    prefix_hash: textHash(prefix),
    prefix_length: encoder.encode(prefix).byteLength,
    prompt_hash: textHash(allocation.prompt),
    prompt_length: encoder.encode(allocation.prompt).byteLength,
    considered_count: parts.considered.count,
    inclusion_log,
    exclusion_log: parts.considered.exclusions,
    provenance: parts.provenance.map((record) => ({ ...record })),
    faults: parts.faults.map(({ trigger, detail, missing }) => ({
      trigger,
      detail,
      missing: [...missing],
      artifacts: [],
    })),
  }
  return { manifest, bodies }
}

const TIER: { readonly [S in Share]: 0 | 1 | 2 } = { tier0: 0, tier1: 1, history: 2, telemetry: 2 }

function inclusionEntry(
  { candidate, placed, tokens, fromTokens, cutAt }: Included,
  renderedRef: string,
): InclusionEntry {
  return {
    item_id: candidate.id,
    item_type: candidate.type,
    source_ref: asPointer(candidate.sourceRef),
    included_reason: candidate.reason,
    section: placed.section,
    tier: TIER[SECTIONS[placed.section].share],
    tokens,
    rendered_ref: renderedRef,
    source_hash: sourceHash(candidate.placed),
    ...(fromTokens !== undefined && { from_tokens: fromTokens, to_tokens: tokens, cut_at: cutAt }),
    ...titleOf(placed),
  }
}

/** Without it an item could not be rendered again from its source. One that is longer than a title is not kept. */
function titleOf({ section, value }: Placed): { title?: string } {
  if ((section !== "inputs" && section !== "evidence") || value.title.length > LONGEST_TITLE) return {}
  return { title: value.title.toWellFormed() }
}

const LONGEST_TITLE = 512

/** Texts by their own bytes, so that a holder of the source can compare; structured items by their canonical form. */
function sourceHash(placed: Placed): string {
  switch (placed.section) {
    case "inputs":
    case "evidence":
      return textHash(placed.value.text)
    default:
      return typeof placed.value === "string" ? textHash(placed.value) : canonicalHash(placed.value)
  }
}

function snapshotOf(parts: ManifestParts, included: readonly InclusionEntry[]): string {
  const seen = [
    parts.stage.catalog,
    ...parts.provenance.map(({ path, sha256 }) => `${path}\0${sha256}`),
    ...included.map(({ item_id, source_hash }) => `${item_id}\0${source_hash}`),
    ...parts.scores.map(({ chunk_id }) => chunk_id),
    // Ten thousand scores as bytes, because spelling them out as decimals takes longer than all the rest.
    bodyHash(new Uint8Array(Float64Array.from(parts.scores, ({ score }) => score).buffer)),
  ]
  return `snapshot_${textHash(seen.join("\n")).slice("sha256:".length, "sha256:".length + 32)}`
}
