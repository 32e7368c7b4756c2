import { z } from "zod"
import { BodyId } from "../../contract/definitions/ids.js"
import { EXCLUDED_REASONS, INCLUDED_REASONS, ITEM_TYPES } from "../../contract/src/context-items.js"
import { MANIFEST_VERSIONS } from "../src/version.js"

const Name = z.string().min(1).max(512)
const Pointer = z.string().min(1).max(4096)
const Count = z.number().int().nonnegative()
const Inline = z.string().max(512)
const StageRef = z.union([z.number(), Name])

export const ItemType = z.enum(ITEM_TYPES)
export const IncludedReason = z.enum(INCLUDED_REASONS)
export const ExcludedReason = z.enum(EXCLUDED_REASONS)

export const InclusionEntry = z.strictObject({
  item_id: Pointer,
  item_type: ItemType,
  source_ref: Pointer.describe("Pointer to the origin"),
  included_reason: IncludedReason,
  section: Name.describe("The part of the bundle's context that holds it"),
  tier: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  tokens: Count.describe("As it stands in the prompt, heading included where it opens a section"),
  rendered_ref: BodyId.describe("The bytes it contributes to the prompt; all of them in order are the prompt"),
  source_hash: BodyId.describe("Of the item before truncation"),
  from_tokens: Count.optional().describe("Set where the item was truncated: its size before"),
  to_tokens: Count.optional().describe("Set where the item was truncated: its size after"),
  cut_at: Count.optional().describe("Set where the item was truncated: how many UTF-16 units of its text are left"),
  title: Inline.optional().describe("What heads it in the prompt, where it has a heading of its own"),
  is_masked: z.boolean().optional().describe("Secrets in it were masked: the bytes stored are not the bytes sent"),
})

export const ExclusionEntry = z.strictObject({
  item_id: Pointer,
  item_type: ItemType,
  source_ref: Pointer,
  excluded_reason: ExcludedReason,
  score: z.number().optional(),
  duplicate_of: Pointer.optional(),
  detail: Inline.optional().describe("Which filter, or which class of error"),
  threshold: z.number().optional().describe("The score it would have needed"),
  tokens: Count.optional().describe("What it would have cost, where that was counted"),
  room_tokens: Count.optional().describe("What was left of its share of the budget when it came to its turn"),
})

const ShareUse = z.strictObject({ reserved: Count, used: Count, left: Count })

const TokenBudgetUse = z.strictObject({
  ctx_max_tokens: Count,
  tier0_reserved: Count,
  tier1_cap: Count,
  history_cap: Count,
  telemetry_cap: Count,
  generation_reserve_tokens: Count,
  counter: z.strictObject({ id: Name, version: Name }),
  tiers: z
    .strictObject({ tier0: ShareUse, tier1: ShareUse, history: ShareUse, telemetry: ShareUse, generation: ShareUse })
    .describe("reserved is what the tier could have had in this context: its cap, or less where others left less"),
  prompt_tokens: Count,
  headroom_tokens: Count.describe("Left of the window beside the prompt and the generation reserve"),
})

const Provenance = z.strictObject({
  path: z
    .string()
    .max(4096)
    .regex(/^(?!\/|[A-Za-z]:[\\/])/, "must be relative to the workspace"),
  sha256: z.string().regex(/^(?:[0-9a-f]{64}|FILE_NOT_FOUND|FILE_UNREADABLE)$/),
  size_bytes: Count,
})

export const FaultArtifact = z.strictObject({
  artifact_id: Name,
  path: Provenance.shape.path.nullable(),
  hash: BodyId,
  size_bytes: Count,
  created_at: z.string().max(64),
})

const ManifestFault = z.strictObject({
  trigger: z.enum([
    "system_error",
    "schema_repair_failure",
    "loop_guard_override",
    "tool_failure",
    "missing_pointer",
    "debug_request",
  ]),
  detail: Inline,
  missing: z.array(Pointer),
  artifacts: z.array(FaultArtifact),
})

/**
 * What was in a step's context, why, what was not, and what it cost. Pointers only: ids, refs, hashes and counts. The short texts it does
 * hold (intent and query, cut like every inline summary) are what the step was asked, not what was retrieved for it.
 */
export const ContextManifest = z.strictObject({
  manifest_version: z.enum(MANIFEST_VERSIONS),
  revision: Count.describe("0 is the manifest of the step; a fault appends a higher one that names its artifacts"),
  run_id: Name,
  step_id: Name,
  snapshot_id: Name.describe("The state of everything the context was compiled from"),
  stage: z.strictObject({ catalog: Name, step_id: StageRef, step_name: Name }),
  intent: z.strictObject({ objective: Inline, invariants: z.array(Inline) }),
  intent_ref: BodyId.describe("Canonical JSON of the whole intent"),
  retrieval_query: Inline.nullable(),
  retrieval_query_ref: BodyId.nullable(),
  retrievers: z.array(z.strictObject({ id: Name, version: Name })),
  candidate_chunk_ids: z
    .array(z.strictObject({ chunk_id: Pointer, score: z.number() }))
    .describe("Every chunk a retriever offered, best first"),
  selected_chunk_ids: z.array(Pointer),
  reranker_model: Name,
  reranker_version: Name,
  token_budget: TokenBudgetUse,
  compiler_version: Name,
  grammar_name: Name.nullable(),
  prefix_hash: BodyId.describe("Of the tier-0 prefix, which is the same for every context of the stage"),
  prefix_length: Count.describe("In bytes"),
  prompt_hash: BodyId,
  prompt_length: Count.describe("In bytes"),
  considered_count: Count,
  inclusion_log: z.array(InclusionEntry).describe("In prompt order"),
  exclusion_log: z.array(ExclusionEntry),
  provenance: z.array(Provenance),
  faults: z.array(ManifestFault),
})

/**
 * A manifest of any maker: the compiler's, or one that an application told about a prompt it assembled by itself (`made_by`). What its maker
 * did not say is null, which is unknown and neither zero nor nothing.
 */
export const ToldManifest = ContextManifest.extend({
  made_by: z.literal("application").optional(),
  request_ref: BodyId.nullable()
    .optional()
    .describe("The request the items were assembled into, where it was handed over"),
  stage: ContextManifest.shape.stage.nullable(),
  intent: ContextManifest.shape.intent.nullable(),
  intent_ref: BodyId.nullable(),
  retrievers: ContextManifest.shape.retrievers.nullable(),
  candidate_chunk_ids: ContextManifest.shape.candidate_chunk_ids.nullable(),
  selected_chunk_ids: ContextManifest.shape.selected_chunk_ids.nullable(),
  reranker_model: Name.nullable(),
  reranker_version: Name.nullable(),
  token_budget: z
    .union([TokenBudgetUse, z.strictObject({ ctx_max_tokens: Count, prompt_tokens: Count.nullable() })])
    .nullable(),
  compiler_version: Name.nullable(),
  prefix_hash: BodyId.nullable(),
  prefix_length: Count.nullable(),
  prompt_hash: BodyId.nullable(),
  prompt_length: Count.nullable(),
  considered_count: Count.nullable(),
  inclusion_log: z.array(
    InclusionEntry.extend({
      source_ref: Pointer.nullable(),
      included_reason: IncludedReason.nullable(),
      section: Name.nullable(),
      tier: InclusionEntry.shape.tier.nullable(),
      tokens: Count.nullable(),
    }),
  ),
  exclusion_log: z.array(ExclusionEntry.extend({ source_ref: Pointer.nullable() })).nullable(),
})

/**
 * What the recorder read off a request that was neither compiled nor told of: its segments are on `prompt_assembled`, and why they are there,
 * what was left out and what it might cost is null. Here it only says that there is a manifest, and which faults came to it.
 */
export const DerivedManifest = z.looseObject({
  derived_by: Name,
  revision: Count,
  snapshot_id: Name,
  faults: z.array(ManifestFault),
})
