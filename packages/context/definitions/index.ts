import { z } from "zod"
import * as manifest from "./manifest.js"

export const shared = manifest

export const types = {
  ExcludedReason: manifest.ExcludedReason,
  ExclusionEntry: manifest.ExclusionEntry,
  FaultArtifact: manifest.FaultArtifact,
  IncludedReason: manifest.IncludedReason,
  InclusionEntry: manifest.InclusionEntry,
}

export const schemas = {
  ContextManifest: manifest.ContextManifest,
  ToldManifest: manifest.ToldManifest,
  DerivedManifest: manifest.DerivedManifest,
  ItemType: manifest.ItemType,
}

export function jsonSchemas(): Map<string, string> {
  const schema = z.toJSONSchema(manifest.ContextManifest, { target: "draft-2020-12" })
  return new Map([
    ["context-manifest.schema.json", `${JSON.stringify({ title: "context manifest", ...schema }, null, 2)}\n`],
  ])
}
