import type { BodyHash, FaultTrigger } from "@orangebox/contract"
import type { ExpectedPrompt } from "@orangebox/dialects"
import { BodiesOfEvent } from "../bodies-of-event.js"
import type { StepHandle, StepState } from "../step-handle.js"
import { isWithin, nearest } from "../step-tree.js"
import type { EvidenceItem } from "./evidence.js"
import type { ManifestOfContext } from "./given-context.js"
import type { SnapshotArtifact } from "./raise-fault.js"

/** The manifest of a step as it was committed, for the revisions a fault adds. */
export interface CommittedManifest {
  readonly manifest: Pick<ManifestOfContext, "snapshot_id" | "faults"> & { readonly [field: string]: unknown }
  readonly revision: number
  readonly counts: { readonly included_count: number | null; readonly excluded_count: number | null }
  readonly prefix: { readonly prefix_hash: string | null; readonly prefix_length: number | null }
  /** The prompt that was compiled or told; null where the manifest was read off the request itself. */
  readonly expected: ExpectedPrompt | null
  /** Whether a model was asked with it: then it says nothing about the next call. */
  isTaken: boolean
  /** The request on the wire that it was taken for: a client that sends the same bytes again makes the same call again. */
  takenFor?: BodyHash
  /** What that request was made of: one that goes on from it is another call of the same loop. */
  takenParts?: readonly string[]
}

export function recordManifest(step: StepHandle, committed: CommittedManifest, inferredBy?: string): void {
  const bodies = new BodiesOfEvent(step.run.builder, "context_manifest")
  const manifest_ref = bodies.refAs("manifest", JSON.stringify(committed.manifest), "application/json")
  const { counts, prefix, revision } = committed
  step.record(
    "context_manifest",
    { manifest_ref, snapshot_id: committed.manifest.snapshot_id, revision, ...counts, ...prefix },
    { ...bodies.extras(), inferredBy },
  )
}

/** A fault appends a revision: what the manifest said, and the fault with what was stored because of it. */
export function reviseManifests(
  step: StepHandle,
  scope: StepState,
  evidence: readonly EvidenceItem[],
  fault: ManifestFault,
): void {
  const { manifests } = step.run
  for (const state of manifestsConcerned([...manifests.keys()], scope, evidence)) {
    const before = manifests.get(state)!
    const revision = before.revision + 1
    const manifest = { ...before.manifest, revision, faults: [...before.manifest.faults, fault] }
    const revised = { ...before, manifest, revision }
    manifests.set(state, revised)
    recordManifest(step, revised)
  }
}

/** The manifests below the step where it happened; where there are none, the one the step works under; else those of what was stored. */
function manifestsConcerned(
  withManifest: readonly StepState[],
  scope: StepState,
  evidence: readonly EvidenceItem[],
): readonly StepState[] {
  const below = withManifest.filter((state) => isWithin(state, scope))
  if (below.length > 0) return below
  const above = nearest(scope, (state) => withManifest.includes(state))
  if (above !== undefined) return [above]
  return withManifest.filter((state) => evidence.some((item) => isWithin(item.step, state)))
}

interface ManifestFault {
  readonly trigger: FaultTrigger
  readonly detail: string
  readonly missing: readonly string[]
  readonly artifacts: readonly SnapshotArtifact[]
}
