import type { NoEvidence, Payloads } from "./generated.js"

/** What a fault stored, or why it stored nothing: there is no third. */
export type FaultEvidence =
  | { artifact_ids: [string, ...string[]]; no_evidence?: undefined }
  | { artifact_ids: []; no_evidence: NoEvidence }

/** The payload of a fault as it may be said. */
export type EvidencedFault = Omit<Payloads["fault"], keyof FaultEvidence> & FaultEvidence

/** @param otherwise why there is none, where there is none */
export function faultEvidence(artifactIds: readonly string[], otherwise: NoEvidence): FaultEvidence {
  const [first, ...rest] = artifactIds
  return first === undefined ? { artifact_ids: [], no_evidence: otherwise } : { artifact_ids: [first, ...rest] }
}
