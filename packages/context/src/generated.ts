// Written by `npm run schemas` from the zod definitions in definitions/. Change those.
import { ObjectSchema, WordSchema } from "@orangebox/contract"
import type { SchemaNode } from "@orangebox/contract"

export type ExcludedReason = "budget_limit" | "score_below_threshold" | "policy_filter" | "duplicate" | "other_stage" | "resolved" | "not_a_key_metric" | "unreadable" | "retriever_failed" | "source_failed" | "other"
export type ExclusionEntry = {
  item_id: string
  item_type: ItemType
  source_ref: string
  excluded_reason: ExcludedReason
  score?: number | undefined
  duplicate_of?: string | undefined
  detail?: string | undefined
  threshold?: number | undefined
  tokens?: number | undefined
  room_tokens?: number | undefined
}
export type FaultArtifact = {
  artifact_id: string
  path: string | null
  hash: string
  size_bytes: number
  created_at: string
}
export type IncludedReason = "policy_requirement" | "plan_dependency" | "retrieval_trigger"
export type InclusionEntry = {
  item_id: string
  item_type: ItemType
  source_ref: string
  included_reason: IncludedReason
  section: string
  tier: 0 | 1 | 2
  tokens: number
  rendered_ref: string
  source_hash: string
  from_tokens?: number | undefined
  to_tokens?: number | undefined
  cut_at?: number | undefined
  title?: string | undefined
  is_masked?: boolean | undefined
}
/**
 * What was in a step's context, why, what was not, and what it cost. Pointers only: ids, refs, hashes and counts. The short texts it does
 * hold (intent and query, cut like every inline summary) are what the step was asked, not what was retrieved for it.
 */
export type ContextManifest = {
  manifest_version: "1.0.0" | "1.1.0"
  revision: number
  run_id: string
  step_id: string
  snapshot_id: string
  stage: {
    catalog: string
    step_id: number | string
    step_name: string
  }
  intent: {
    objective: string
    invariants: string[]
  }
  intent_ref: string
  retrieval_query: string | null
  retrieval_query_ref: string | null
  retrievers: {
    id: string
    version: string
  }[]
  candidate_chunk_ids: {
    chunk_id: string
    score: number
  }[]
  selected_chunk_ids: string[]
  reranker_model: string
  reranker_version: string
  token_budget: {
    ctx_max_tokens: number
    tier0_reserved: number
    tier1_cap: number
    history_cap: number
    telemetry_cap: number
    generation_reserve_tokens: number
    counter: {
      id: string
      version: string
    }
    tiers: {
      tier0: {
        reserved: number
        used: number
        left: number
      }
      tier1: {
        reserved: number
        used: number
        left: number
      }
      history: {
        reserved: number
        used: number
        left: number
      }
      telemetry: {
        reserved: number
        used: number
        left: number
      }
      generation: {
        reserved: number
        used: number
        left: number
      }
    }
    prompt_tokens: number
    headroom_tokens: number
  }
  compiler_version: string
  grammar_name: string | null
  prefix_hash: string
  prefix_length: number
  prompt_hash: string
  prompt_length: number
  considered_count: number
  inclusion_log: InclusionEntry[]
  exclusion_log: ExclusionEntry[]
  provenance: {
    path: string
    sha256: string
    size_bytes: number
  }[]
  faults: {
    trigger: "system_error" | "schema_repair_failure" | "loop_guard_override" | "tool_failure" | "missing_pointer" | "debug_request"
    detail: string
    missing: string[]
    artifacts: FaultArtifact[]
  }[]
}
/**
 * A manifest of any maker: the compiler's, or one that an application told about a prompt it assembled by itself (`made_by`). What its maker
 * did not say is null, which is unknown and neither zero nor nothing.
 */
export type ToldManifest = {
  manifest_version: "1.0.0" | "1.1.0"
  revision: number
  run_id: string
  step_id: string
  snapshot_id: string
  stage: {
    catalog: string
    step_id: number | string
    step_name: string
  } | null
  intent: {
    objective: string
    invariants: string[]
  } | null
  intent_ref: string | null
  retrieval_query: string | null
  retrieval_query_ref: string | null
  retrievers: {
    id: string
    version: string
  }[] | null
  candidate_chunk_ids: {
    chunk_id: string
    score: number
  }[] | null
  selected_chunk_ids: string[] | null
  reranker_model: string | null
  reranker_version: string | null
  token_budget: {
    ctx_max_tokens: number
    tier0_reserved: number
    tier1_cap: number
    history_cap: number
    telemetry_cap: number
    generation_reserve_tokens: number
    counter: {
      id: string
      version: string
    }
    tiers: {
      tier0: {
        reserved: number
        used: number
        left: number
      }
      tier1: {
        reserved: number
        used: number
        left: number
      }
      history: {
        reserved: number
        used: number
        left: number
      }
      telemetry: {
        reserved: number
        used: number
        left: number
      }
      generation: {
        reserved: number
        used: number
        left: number
      }
    }
    prompt_tokens: number
    headroom_tokens: number
  } | {
    ctx_max_tokens: number
    prompt_tokens: number | null
  } | null
  compiler_version: string | null
  grammar_name: string | null
  prefix_hash: string | null
  prefix_length: number | null
  prompt_hash: string | null
  prompt_length: number | null
  considered_count: number | null
  inclusion_log: {
    item_id: string
    item_type: ItemType
    source_ref: string | null
    included_reason: IncludedReason | null
    section: string | null
    tier: 0 | 1 | 2 | null
    tokens: number | null
    rendered_ref: string
    source_hash: string
    from_tokens?: number | undefined
    to_tokens?: number | undefined
    cut_at?: number | undefined
    title?: string | undefined
    is_masked?: boolean | undefined
  }[]
  exclusion_log: {
    item_id: string
    item_type: ItemType
    source_ref: string | null
    excluded_reason: ExcludedReason
    score?: number | undefined
    duplicate_of?: string | undefined
    detail?: string | undefined
    threshold?: number | undefined
    tokens?: number | undefined
    room_tokens?: number | undefined
  }[] | null
  provenance: {
    path: string
    sha256: string
    size_bytes: number
  }[]
  faults: {
    trigger: "system_error" | "schema_repair_failure" | "loop_guard_override" | "tool_failure" | "missing_pointer" | "debug_request"
    detail: string
    missing: string[]
    artifacts: FaultArtifact[]
  }[]
  made_by?: "application" | undefined
  request_ref?: string | null | undefined
}
/**
 * What the recorder read off a request that was neither compiled nor told of: its segments are on `prompt_assembled`, and why they are there,
 * what was left out and what it might cost is null. Here it only says that there is a manifest, and which faults came to it.
 */
export type DerivedManifest = {
  derived_by: string
  revision: number
  snapshot_id: string
  faults: {
    trigger: "system_error" | "schema_repair_failure" | "loop_guard_override" | "tool_failure" | "missing_pointer" | "debug_request"
    detail: string
    missing: string[]
    artifacts: FaultArtifact[]
  }[]
}
export type ItemType = "user_input" | "tool_output" | "memory" | "evidence" | "policy" | "summary"

const ItemTypeNode: SchemaNode = { is: "one_of", values: ["user_input","tool_output","memory","evidence","policy","summary"] }
const IncludedReasonNode: SchemaNode = { is: "one_of", values: ["policy_requirement","plan_dependency","retrieval_trigger"] }
const InclusionEntryNode: SchemaNode = { is: "object", fields: { item_id: { is: "string", min: 1, max: 4096 }, item_type: ItemTypeNode, source_ref: { is: "string", min: 1, max: 4096 }, included_reason: IncludedReasonNode, section: { is: "string", min: 1, max: 512 }, tier: { is: "union", of: [{ is: "one_of", values: [0] }, { is: "one_of", values: [1] }, { is: "one_of", values: [2] }] }, tokens: { is: "number", int: true, min: 0 }, rendered_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, source_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, from_tokens: { is: "number", int: true, min: 0, optional: true }, to_tokens: { is: "number", int: true, min: 0, optional: true }, cut_at: { is: "number", int: true, min: 0, optional: true }, title: { is: "string", max: 512, optional: true }, is_masked: { is: "boolean", optional: true } } }
const ExcludedReasonNode: SchemaNode = { is: "one_of", values: ["budget_limit","score_below_threshold","policy_filter","duplicate","other_stage","resolved","not_a_key_metric","unreadable","retriever_failed","source_failed","other"] }
const ExclusionEntryNode: SchemaNode = { is: "object", fields: { item_id: { is: "string", min: 1, max: 4096 }, item_type: ItemTypeNode, source_ref: { is: "string", min: 1, max: 4096 }, excluded_reason: ExcludedReasonNode, score: { is: "number", optional: true }, duplicate_of: { is: "string", min: 1, max: 4096, optional: true }, detail: { is: "string", max: 512, optional: true }, threshold: { is: "number", optional: true }, tokens: { is: "number", int: true, min: 0, optional: true }, room_tokens: { is: "number", int: true, min: 0, optional: true } } }
const FaultArtifactNode: SchemaNode = { is: "object", fields: { artifact_id: { is: "string", min: 1, max: 512 }, path: { is: "string", max: 4096, pattern: /^(?!\/|[A-Za-z]:[\\/])/, says: "must be relative to the workspace", nullable: true }, hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, size_bytes: { is: "number", int: true, min: 0 }, created_at: { is: "string", max: 64 } } }
const ContextManifestNode: SchemaNode = { is: "object", fields: { manifest_version: { is: "one_of", values: ["1.0.0","1.1.0"] }, revision: { is: "number", int: true, min: 0 }, run_id: { is: "string", min: 1, max: 512 }, step_id: { is: "string", min: 1, max: 512 }, snapshot_id: { is: "string", min: 1, max: 512 }, stage: { is: "object", fields: { catalog: { is: "string", min: 1, max: 512 }, step_id: { is: "union", of: [{ is: "number" }, { is: "string", min: 1, max: 512 }] }, step_name: { is: "string", min: 1, max: 512 } } }, intent: { is: "object", fields: { objective: { is: "string", max: 512 }, invariants: { is: "list", of: { is: "string", max: 512 } } } }, intent_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, retrieval_query: { is: "string", max: 512, nullable: true }, retrieval_query_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true }, retrievers: { is: "list", of: { is: "object", fields: { id: { is: "string", min: 1, max: 512 }, version: { is: "string", min: 1, max: 512 } } } }, candidate_chunk_ids: { is: "list", of: { is: "object", fields: { chunk_id: { is: "string", min: 1, max: 4096 }, score: { is: "number" } } } }, selected_chunk_ids: { is: "list", of: { is: "string", min: 1, max: 4096 } }, reranker_model: { is: "string", min: 1, max: 512 }, reranker_version: { is: "string", min: 1, max: 512 }, token_budget: { is: "object", fields: { ctx_max_tokens: { is: "number", int: true, min: 0 }, tier0_reserved: { is: "number", int: true, min: 0 }, tier1_cap: { is: "number", int: true, min: 0 }, history_cap: { is: "number", int: true, min: 0 }, telemetry_cap: { is: "number", int: true, min: 0 }, generation_reserve_tokens: { is: "number", int: true, min: 0 }, counter: { is: "object", fields: { id: { is: "string", min: 1, max: 512 }, version: { is: "string", min: 1, max: 512 } } }, tiers: { is: "object", fields: { tier0: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, tier1: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, history: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, telemetry: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, generation: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } } } }, prompt_tokens: { is: "number", int: true, min: 0 }, headroom_tokens: { is: "number", int: true, min: 0 } } }, compiler_version: { is: "string", min: 1, max: 512 }, grammar_name: { is: "string", min: 1, max: 512, nullable: true }, prefix_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, prefix_length: { is: "number", int: true, min: 0 }, prompt_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, prompt_length: { is: "number", int: true, min: 0 }, considered_count: { is: "number", int: true, min: 0 }, inclusion_log: { is: "list", of: InclusionEntryNode }, exclusion_log: { is: "list", of: ExclusionEntryNode }, provenance: { is: "list", of: { is: "object", fields: { path: { is: "string", max: 4096, pattern: /^(?!\/|[A-Za-z]:[\\/])/, says: "must be relative to the workspace" }, sha256: { is: "string", pattern: /^(?:[0-9a-f]{64}|FILE_NOT_FOUND|FILE_UNREADABLE)$/ }, size_bytes: { is: "number", int: true, min: 0 } } } }, faults: { is: "list", of: { is: "object", fields: { trigger: { is: "one_of", values: ["system_error","schema_repair_failure","loop_guard_override","tool_failure","missing_pointer","debug_request"] }, detail: { is: "string", max: 512 }, missing: { is: "list", of: { is: "string", min: 1, max: 4096 } }, artifacts: { is: "list", of: FaultArtifactNode } } } } } }
const ToldManifestNode: SchemaNode = { is: "object", fields: { manifest_version: { is: "one_of", values: ["1.0.0","1.1.0"] }, revision: { is: "number", int: true, min: 0 }, run_id: { is: "string", min: 1, max: 512 }, step_id: { is: "string", min: 1, max: 512 }, snapshot_id: { is: "string", min: 1, max: 512 }, stage: { is: "object", fields: { catalog: { is: "string", min: 1, max: 512 }, step_id: { is: "union", of: [{ is: "number" }, { is: "string", min: 1, max: 512 }] }, step_name: { is: "string", min: 1, max: 512 } }, nullable: true }, intent: { is: "object", fields: { objective: { is: "string", max: 512 }, invariants: { is: "list", of: { is: "string", max: 512 } } }, nullable: true }, intent_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true }, retrieval_query: { is: "string", max: 512, nullable: true }, retrieval_query_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true }, retrievers: { is: "list", of: { is: "object", fields: { id: { is: "string", min: 1, max: 512 }, version: { is: "string", min: 1, max: 512 } } }, nullable: true }, candidate_chunk_ids: { is: "list", of: { is: "object", fields: { chunk_id: { is: "string", min: 1, max: 4096 }, score: { is: "number" } } }, nullable: true }, selected_chunk_ids: { is: "list", of: { is: "string", min: 1, max: 4096 }, nullable: true }, reranker_model: { is: "string", min: 1, max: 512, nullable: true }, reranker_version: { is: "string", min: 1, max: 512, nullable: true }, token_budget: { is: "union", of: [{ is: "object", fields: { ctx_max_tokens: { is: "number", int: true, min: 0 }, tier0_reserved: { is: "number", int: true, min: 0 }, tier1_cap: { is: "number", int: true, min: 0 }, history_cap: { is: "number", int: true, min: 0 }, telemetry_cap: { is: "number", int: true, min: 0 }, generation_reserve_tokens: { is: "number", int: true, min: 0 }, counter: { is: "object", fields: { id: { is: "string", min: 1, max: 512 }, version: { is: "string", min: 1, max: 512 } } }, tiers: { is: "object", fields: { tier0: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, tier1: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, history: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, telemetry: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } }, generation: { is: "object", fields: { reserved: { is: "number", int: true, min: 0 }, used: { is: "number", int: true, min: 0 }, left: { is: "number", int: true, min: 0 } } } } }, prompt_tokens: { is: "number", int: true, min: 0 }, headroom_tokens: { is: "number", int: true, min: 0 } } }, { is: "object", fields: { ctx_max_tokens: { is: "number", int: true, min: 0 }, prompt_tokens: { is: "number", int: true, min: 0, nullable: true } } }], nullable: true }, compiler_version: { is: "string", min: 1, max: 512, nullable: true }, grammar_name: { is: "string", min: 1, max: 512, nullable: true }, prefix_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true }, prefix_length: { is: "number", int: true, min: 0, nullable: true }, prompt_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true }, prompt_length: { is: "number", int: true, min: 0, nullable: true }, considered_count: { is: "number", int: true, min: 0, nullable: true }, inclusion_log: { is: "list", of: { is: "object", fields: { item_id: { is: "string", min: 1, max: 4096 }, item_type: ItemTypeNode, source_ref: { is: "string", min: 1, max: 4096, nullable: true }, included_reason: { ...IncludedReasonNode, nullable: true }, section: { is: "string", min: 1, max: 512, nullable: true }, tier: { is: "union", of: [{ is: "one_of", values: [0] }, { is: "one_of", values: [1] }, { is: "one_of", values: [2] }], nullable: true }, tokens: { is: "number", int: true, min: 0, nullable: true }, rendered_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, source_hash: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)" }, from_tokens: { is: "number", int: true, min: 0, optional: true }, to_tokens: { is: "number", int: true, min: 0, optional: true }, cut_at: { is: "number", int: true, min: 0, optional: true }, title: { is: "string", max: 512, optional: true }, is_masked: { is: "boolean", optional: true } } } }, exclusion_log: { is: "list", of: { is: "object", fields: { item_id: { is: "string", min: 1, max: 4096 }, item_type: ItemTypeNode, source_ref: { is: "string", min: 1, max: 4096, nullable: true }, excluded_reason: ExcludedReasonNode, score: { is: "number", optional: true }, duplicate_of: { is: "string", min: 1, max: 4096, optional: true }, detail: { is: "string", max: 512, optional: true }, threshold: { is: "number", optional: true }, tokens: { is: "number", int: true, min: 0, optional: true }, room_tokens: { is: "number", int: true, min: 0, optional: true } } }, nullable: true }, provenance: { is: "list", of: { is: "object", fields: { path: { is: "string", max: 4096, pattern: /^(?!\/|[A-Za-z]:[\\/])/, says: "must be relative to the workspace" }, sha256: { is: "string", pattern: /^(?:[0-9a-f]{64}|FILE_NOT_FOUND|FILE_UNREADABLE)$/ }, size_bytes: { is: "number", int: true, min: 0 } } } }, faults: { is: "list", of: { is: "object", fields: { trigger: { is: "one_of", values: ["system_error","schema_repair_failure","loop_guard_override","tool_failure","missing_pointer","debug_request"] }, detail: { is: "string", max: 512 }, missing: { is: "list", of: { is: "string", min: 1, max: 4096 } }, artifacts: { is: "list", of: FaultArtifactNode } } } }, made_by: { is: "one_of", values: ["application"], optional: true }, request_ref: { is: "string", min: 71, max: 71, pattern: /^sha256:[0-9a-f]+$/, says: "is not a body id (sha256: and 64 hex digits)", nullable: true, optional: true } } }
const DerivedManifestNode: SchemaNode = { is: "object", others: "kept", fields: { derived_by: { is: "string", min: 1, max: 512 }, revision: { is: "number", int: true, min: 0 }, snapshot_id: { is: "string", min: 1, max: 512 }, faults: { is: "list", of: { is: "object", fields: { trigger: { is: "one_of", values: ["system_error","schema_repair_failure","loop_guard_override","tool_failure","missing_pointer","debug_request"] }, detail: { is: "string", max: 512 }, missing: { is: "list", of: { is: "string", min: 1, max: 4096 } }, artifacts: { is: "list", of: FaultArtifactNode } } } } } }
export const ContextManifest = new ObjectSchema<ContextManifest>(ContextManifestNode)
export const ToldManifest = new ObjectSchema<ToldManifest>(ToldManifestNode)
export const DerivedManifest = new ObjectSchema<DerivedManifest>(DerivedManifestNode)
export const ItemType = new WordSchema<ItemType>(ItemTypeNode)
