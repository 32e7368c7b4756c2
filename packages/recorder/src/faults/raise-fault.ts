import {
  type ArtifactRef,
  type BodyHash,
  type FaultTrigger,
  faultEvidence,
  PARTIAL_ANSWER,
  type PayloadOf,
  SNAPSHOT_FOLDER,
  SNAPSHOT_SUMMARIES,
} from "@orangebox/contract"
import { markCaptured } from "../captured-body.js"
import { utcText } from "../clock.js"
import type { RunState } from "../run-state.js"
import { safeStringify } from "../safe-stringify.js"
import type { StepHandle, StepState } from "../step-handle.js"
import { reviseManifests } from "./committed-manifest.js"
import type { EvidenceItem } from "./evidence.js"

/** Something went wrong, or a user asked for a snapshot: everything the step's models saw and its tools said is stored. */
export interface RaisedFault {
  readonly trigger: FaultTrigger
  readonly detail: string
  /** What could not be resolved. */
  readonly missing?: readonly string[]
  /** For `debug_request`: who asked. */
  readonly requestedBy?: "runtime_user" | "builder_user"
}

/** What a snapshot left behind, as the seed wants it. */
export interface SnapshotArtifact {
  readonly artifact_id: string
  /** Relative to the workspace; `orangebox snapshot --write` puts the bytes there. */
  readonly path: string
  readonly hash: string
  readonly size_bytes: number
  readonly created_at: string
}

/**
 * Stores the snapshot of a step with all its descendants, says what happened, and adds both to the step's manifest. Under `audit: "required"`
 * each of these is durable or the run stops; the stop itself raises no further fault.
 */
export function raiseFault(
  step: StepHandle,
  scope: StepState,
  raised: RaisedFault,
  { stopsRun = false }: { readonly stopsRun?: boolean } = {},
): readonly SnapshotArtifact[] {
  const { run } = step
  if (run.isStopped) return []
  const fault = readable(raised)
  const detail = step.summarize(fault.detail) || fault.trigger
  return run.whileRaising({ trigger: fault.trigger, detail }, () => {
    const { items, artifacts, lost } = storeEvidence(step, scope)
    // Told twice, in the event and in the manifest, and in both as captured.
    const missing = [...fault.missing.map((one) => step.summarize(one) || "?"), ...lost]
    step.record("fault", {
      trigger: fault.trigger,
      detail,
      ...faultEvidence(
        artifacts.map(({ artifact_id }) => artifact_id),
        "nothing_sent",
      ),
      missing: missing.length > 0 ? missing : undefined,
      stops_run: stopsRun || undefined,
      requested_by: fault.requestedBy,
    })
    reviseManifests(step, scope, items, { trigger: fault.trigger, detail, missing, artifacts })
    return artifacts
  })
}

function storeEvidence(
  step: StepHandle,
  scope: StepState,
): { items: readonly EvidenceItem[]; artifacts: SnapshotArtifact[]; lost: string[] } {
  const { run } = step
  const seen = run.evidence.of(scope)
  const items = withoutRepeats([...seen, ...run.answersStillComing(scope)])
  const lost: string[] = []
  const artifacts = items.map((item) => {
    const artifact = artifactOf(item, run, run.builder.now().wallMs)
    if (item.lost !== undefined) lost.push(`${artifact.artifact_id}: ${item.lost}`)
    recordArtifact(step, item, artifact)
    return artifact
  })
  run.evidence.release(seen)
  return { items, artifacts, lost }
}

/** Whatever was passed, as texts: a fault is the worst moment to be particular. */
function readable(raised: RaisedFault): RaisedFault & { readonly missing: readonly string[] } {
  const { trigger, detail, missing, ...rest } = raised ?? {}
  const text = (value: unknown): string => (typeof value === "string" ? value : safeStringify(value))
  return { ...rest, trigger, detail: text(detail), missing: Array.isArray(missing) ? missing.map(text) : [] }
}

function artifactOf(
  { kind, ref }: EvidenceItem,
  run: Pick<RunState, "base" | "app" | "nextSnapshotNo">,
  wallMs: number,
): SnapshotArtifact {
  const artifact_id = `${kind}-${run.nextSnapshotNo()}`
  const folder = run.app.snapshotFolder ?? SNAPSHOT_FOLDER
  return {
    artifact_id,
    path: `${folder}/${run.base.run_id}/${artifact_id}.${ref.mime_type.startsWith("application/json") ? "json" : "txt"}`,
    hash: ref.artifact_hash,
    size_bytes: ref.byte_size,
    created_at: utcText(wallMs),
  }
}

/** The same as it waits in the spool, for a reader who finds it there after a death. */
export function spooledArtifact(
  item: EvidenceItem,
  run: Pick<RunState, "base" | "app" | "nextSnapshotNo">,
  wallMs: number,
): { readonly payload: PayloadOf<"artifact_recorded">; readonly ref: ArtifactRef } {
  const artifact = artifactOf(item, run, wallMs)
  return { payload: artifactPayload(item, artifact), ref: { ...item.ref, artifact_type: item.kind } }
}

function artifactPayload(item: EvidenceItem, artifact: SnapshotArtifact): PayloadOf<"artifact_recorded"> {
  return {
    artifact_id: artifact.artifact_id,
    artifact_type: item.kind,
    summary: item.isPartial ? PARTIAL_ANSWER : SNAPSHOT_SUMMARIES[item.kind],
    content_ref: artifact.hash,
    hash: artifact.hash,
    size_bytes: artifact.size_bytes,
    ...(item.withheldBytes ? { withheld_bytes: item.withheldBytes } : {}),
    path: artifact.path,
  }
}

function recordArtifact(step: StepHandle, item: EvidenceItem, artifact: SnapshotArtifact): void {
  const { absent, ...kept } = item.ref
  const isHere = item.bytes !== undefined || (absent === undefined && item.lost === undefined)
  const ref: ArtifactRef = {
    ...(isHere ? kept : { ...kept, absent: absent ?? "not_kept" }),
    artifact_type: item.kind,
  }
  const hash = item.ref.artifact_hash as BodyHash
  const bodies = item.bytes === undefined ? [] : [markCaptured({ hash, bytes: item.bytes })]
  step.record("artifact_recorded", artifactPayload(item, artifact), { refs: [ref], bodies })
}

/** A prompt that was rendered and then sent as it was is one snapshot. */
function withoutRepeats(items: readonly EvidenceItem[]): EvidenceItem[] {
  const seen = new Set<string>()
  return items.filter(({ kind, ref }) => {
    const key = `${kind} ${ref.artifact_hash}`
    return seen.has(key) ? false : Boolean(seen.add(key))
  })
}
