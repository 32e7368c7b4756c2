import { canonicalHash, type PayloadOf } from "@orangebox/contract"
import type { StepHandle, StepState } from "../step-handle.js"
import { type CommittedManifest, recordManifest } from "./committed-manifest.js"

/** Names manifests that the recorder derived. */
const DERIVED_BY = "dialects"

/**
 * The manifest of a request whose prompt the application did not compile: what it was made of, read off the request itself. What only a compiler knows (why
 * something is in it, what was left out, the budget) is null, never made up.
 */
export function commitDerivedManifest(
  step: StepHandle,
  state: StepState,
  called: PayloadOf<"model_called">,
  assembled: PayloadOf<"prompt_assembled"> | undefined,
): void {
  const segments = assembled?.segments
  const { prefix_fingerprint: prefix_hash = null, prefix_length = null } = called
  const manifest = {
    manifest_version: null,
    derived_by: DERIVED_BY,
    revision: 0,
    run_id: step.runId,
    step_id: step.id,
    snapshot_id: canonicalHash(segments ?? called.request_ref).slice("sha256:".length, "sha256:".length + 32),
    request_ref: called.request_ref,
    intent: null,
    retrieval_query: null,
    candidate_chunk_ids: null,
    selected_chunk_ids: null,
    token_budget: null,
    prefix_hash,
    prefix_length,
    inclusion_log:
      segments?.map((segment, i) => ({ item_id: `segment-${i}`, ...segment, included_reason: null })) ?? null,
    exclusion_log: null,
    faults: [],
  }
  const committed: CommittedManifest = {
    manifest,
    revision: 0,
    counts: { included_count: segments?.length ?? null, excluded_count: null },
    prefix: { prefix_hash, prefix_length },
    expected: null,
    isTaken: true,
  }
  step.run.manifests.set(state, committed)
  recordManifest(step, committed, DERIVED_BY)
}
