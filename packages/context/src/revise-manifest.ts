import type { ContextFault } from "./faults/fault.js"
import type { ContextManifest, FaultArtifact } from "./manifest.js"

/** The next revision of a manifest: what it said, and a fault with the artifacts that were stored because of it. */
export function reviseManifest(
  manifest: ContextManifest,
  fault: ContextFault,
  artifacts: readonly FaultArtifact[],
): ContextManifest {
  const { trigger, detail, missing } = fault
  return {
    ...manifest,
    revision: manifest.revision + 1,
    faults: [...manifest.faults, { trigger, detail, missing: [...missing], artifacts: [...artifacts] }],
  }
}
